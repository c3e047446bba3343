"""Weights of edges as features of the nodes at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.feature_column import FeatureColumn, narrowed
from egoscore.load.infer import Column, infer_column, mostly_numbers
from egoscore.load.node_features import Features
from egoscore.load.numbers import Notation
from egoscore.load.table import Table, decoded, is_text
from egoscore.notes import Note, damage_phrase
from egoscore.text import counted, option

_DETAILS = ("total", "mean", "largest")


@dataclass(frozen=True)
class Weights:
    """The weights of edges.

    Attributes: `name` of their column; `values` (rows,) finite; the text `before` and `after`
    every number in its cells.
    """

    name: str
    values: NDArray[np.float64]
    before: str = ""
    after: str = ""


def read_weights(
    column: pa.ChunkedArray, name: str, table: Table, imputes: bool, notes: list[Note]
) -> Weights:
    """The weights in a column; with `imputes` a missing one is the median."""
    found = _numbers(column, name, table)
    if not imputes:
        _refuse_gaps(found, table)
    if found.traits:
        notes.append(found.info("column-format", kind=found.kind, traits=list(found.traits)))
    if found.damage is not None:
        notes.append(found.warning("column-damaged", kind=found.kind, **vars(found.damage)))
    values = found.parts[0].astype(np.float64) + found.offset
    missing = found.num_missing
    if missing:
        values[found.is_missing] = np.median(values[~found.is_missing])
        notes.append(found.info("weights-missing", count=missing))
    return Weights(name, values, found.before, found.after)


def _numbers(column: pa.ChunkedArray, name: str, table: Table) -> Column:
    """The column as numbers if most of its cells are; the others are damage."""
    _refuse_infinite(column, name, table)
    notation = Notation(table.separator)
    found = infer_column(name, column, table.name, notation)
    kind = found.kind if isinstance(found, Column) else ""
    if isinstance(found, Column) and kind in ("number", "yes/no"):
        return found
    holds = "dates" if kind == "date" else "something else"
    mostly = None
    if holds != "dates" and is_text(column.type):
        mostly = mostly_numbers(name, column, table.name, notation)
    if mostly is None:
        raise InputError(
            f"{option('weight')} needs a column of numbers, and '{name}' of {table.name} holds "
            f"{holds}; name another, or correct its cells."
        )
    return mostly


def _refuse_infinite(column: pa.ChunkedArray, name: str, table: Table) -> None:
    """Refuse infinite weights, also those that would pass for damaged cells."""
    plain = decoded(column)
    if pa.types.is_floating(plain.type):
        found = pc.is_inf(plain)
    elif is_text(plain.type):
        text = plain.cast(pa.large_string())
        found = pc.match_substring_regex(text, r"(?i)^\s*[+-]?inf(inity)?\s*$")
    else:
        return
    row = pc.index(found, True).as_py()
    if row >= 0:
        raise InputError(
            f"Column '{name}' of {table.name} is infinite in row {row + 1} below the header; every "
            "edge needs a finite weight: write a number there, or drop the edge."
        )


def _refuse_gaps(column: Column, table: Table) -> None:
    advice = (
        f"or omit {option('impute', 'none')} to give such edges the median weight, as every edge "
        "needs a weight"
    )
    if column.damage is not None:
        phrase = damage_phrase(column.kind, **vars(column.damage))
        raise InputError(f"{table.name}: column '{column.name}' {phrase}; correct that, {advice}.")
    if column.num_missing:
        raise InputError(
            f"Column '{column.name}' of {table.name} lacks {counted(column.num_missing, 'value')}, "
            f"the first in row {int(column.is_missing.argmax()) + 1} below the header; fill them "
            f"in, drop the edges, {advice}."
        )


def weight_features(ends: Sequence[NDArray[np.int32]], weights: Weights, size: int) -> Features:
    """Total, mean and largest weight of every node's edges, (N, 3), zero where it has none.

    Both directions count together, an edge that is listed twice counts twice, and a self-loop
    once.
    """
    loops = ends[0] == ends[1]
    nodes = np.concatenate([ends[0], ends[1][~loops]])
    values = np.concatenate([weights.values, weights.values[~loops]])
    counts = np.bincount(nodes, minlength=size)
    total = np.bincount(nodes, weights=values, minlength=size)
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, nodes, values)
    largest[counts == 0] = 0.0
    table = np.stack([total, total / np.maximum(counts, 1), largest], axis=1)
    if (np.abs(table) > np.finfo(np.float32).max).any():
        raise InputError(
            f"The total of column '{weights.name}' over a node's edges is beyond single precision; "
            "rescale the column."
        )
    parts = [narrowed(column) for column in table.T]
    columns = tuple(
        FeatureColumn(weights.name, "weight", detail, offset, weights.before, weights.after)
        for detail, (_, offset) in zip(_DETAILS, parts, strict=True)
    )
    return Features(np.stack([values for values, _ in parts], axis=1), columns)
