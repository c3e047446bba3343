"""Columns with too many categories for a feature each, such as countries, as two numbers.

How frequent the category of a node is, and how many of its neighbours have the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.category_codes import CategoryCodes
from egoscore.graph.csr import Csr
from egoscore.graph.feature_column import AGREEMENT, FREQUENCY, FeatureColumn, with_unique_titles
from egoscore.load.infer import MAX_CATEGORIES, Column, Unusable, category_text

_MOST = 5000  # categories
_ROWS_EACH = 2  # on average: text with hardly a repeat, such as names, says nothing
_MANY = ("many-texts", "many-values", "padded-codes")  # why a column is no set of categories


def as_frequencies(found: Unusable, column: pa.ChunkedArray, table_name: str) -> Column | Unusable:
    """A column with many categories as the logarithm of the share of rows with the same one."""
    if found.reason not in _MANY:
        return found
    text, is_missing = category_text(column)
    encoded = text.filter(pa.array(~is_missing)).combine_chunks().dictionary_encode()
    count, known = len(encoded.dictionary), len(encoded)
    most = max(MAX_CATEGORIES, min(_MOST, known // _ROWS_EACH))
    if not MAX_CATEGORIES < count <= most:
        fields = {**found.fields, "limit": most} if "limit" in found.fields else found.fields
        return replace(found, fields=fields)
    order = np.argsort(pc.array_sort_indices(encoded.dictionary).to_numpy())
    codes = np.full(len(column), -1, dtype=np.int32)
    codes[~is_missing] = order[encoded.indices.to_numpy()]
    logs = np.log(np.bincount(codes[codes >= 0]) / known)
    values = np.where(is_missing, 0.0, logs[codes]).astype(np.float32)
    frequencies = Column(found.name, table_name, "frequency", (values,), is_missing, (FREQUENCY,))
    names = tuple(encoded.dictionary.sort().to_pylist())
    return replace(frequencies, codes=CategoryCodes(codes, names), after="%")


def with_agreement(
    graph: AttributedGraph, categories: Mapping[str, CategoryCodes]
) -> AttributedGraph:
    """The graph with a feature for each column of many categories, whose codes it keeps."""
    if not categories:
        return graph
    columns, parts = list(graph.columns), [graph.features]
    for name, column in categories.items():
        shares = agreement(graph.neighbours, column.codes)
        is_known = ~np.isnan(shares)
        if is_known.any() and np.ptp(shares[is_known]):
            shares[~is_known] = np.median(shares[is_known])
            columns.append(FeatureColumn(name, "agreement", AGREEMENT, after="%"))
            parts.append(shares.astype(np.float32)[:, None])
    unique = with_unique_titles(tuple(columns))
    return replace(
        graph,
        features=np.hstack(parts),
        columns=unique,
        feature_names=tuple(column.title for column in unique),
        categories=dict(categories),
    )


def agreement(near: Csr, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The share of a node's neighbours with its category, (N,); unknown ones do not count.

    It is NaN where no neighbour or not the node's own category is known.
    """
    size = len(codes)
    nodes = np.repeat(np.arange(size), near.degrees)
    theirs = codes[near.indices]
    same = np.bincount(nodes[codes[nodes] == theirs], minlength=size)
    known = np.bincount(nodes[theirs >= 0], minlength=size)
    has_one = (known > 0) & (codes >= 0)
    return np.where(has_one, same / np.maximum(known, 1), np.nan)
