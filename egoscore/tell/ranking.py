"""The ranking: every node with its score and what the score is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph


def ranking(
    graph: AttributedGraph,
    score: NDArray[np.float64],
    p_value: NDArray[np.float64],
    flag: NDArray[np.int64],
    components: Mapping[str, NDArray[Any]],
) -> pa.Table:
    """One row per node, most abnormal first.

    Columns: node (the user's id), score, rank (1 is the most abnormal), percentile (percent of
    the nodes that score lower), p_value (how rare a score as high is), flag (1 if above the
    threshold), known_label and further columns of the network where there are any, then the
    components.
    """
    order = np.argsort(-score, kind="stable")
    lower = np.searchsorted(np.sort(score), score, side="left")
    columns: dict[str, NDArray[Any]] = {
        "score": score,
        "rank": _ranks(order),
        "percentile": 100.0 * lower / len(score),
        "p_value": p_value,
        "flag": flag.astype(np.int8),
    }
    if graph.labels is not None:
        columns["known_label"] = graph.labels
    taken = {"node", *columns}
    columns |= {name: column for name, column in graph.node_info.items() if name not in taken}
    columns |= {name: col for name, col in components.items() if name not in ("node", "p_value")}
    named = {name: _column(column[order]) for name, column in columns.items()}
    return pa.table({"node": id_column(graph.ids[order]), **named})


def _column(values: NDArray[Any]) -> pa.Array:
    """A column as it is, or as text if its values are of several kinds."""
    return id_column(values) if values.dtype.kind == "O" else pa.array(values)


def _ranks(order: NDArray[np.int64]) -> NDArray[np.int64]:
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def id_column(ids: NDArray[Any]) -> pa.Array:
    """Ids as numbers if all are of one kind, else as text."""
    names = ids.tolist()
    kinds = {type(name) for name in names}
    if kinds == {float} or (kinds == {int} and all(abs(name) < 2**63 for name in names)):
        return pa.array(names)
    # text that is not valid Unicode is spelled out
    text = [str(name).encode("utf-8", "backslashreplace").decode() for name in names]
    return pa.array(text, pa.string())
