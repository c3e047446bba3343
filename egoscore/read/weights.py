"""Weights of edges as features of the nodes at their ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.columns import FeatureColumn
from egoscore.graph.precision import narrowed
from egoscore.numerals import counted
from egoscore.read.column import Column, Unusable, damage_words, how_words
from egoscore.read.damage import mostly_numbers
from egoscore.read.kinds import decide
from egoscore.read.numbers import Writing
from egoscore.read.table import Table, decoded, is_text
from egoscore.read.text_column import text_column

_DETAILS = ("total", "mean", "largest")


def read_weights(
    column: pa.ChunkedArray, name: str, table: Table, imputes: bool, notes: list[str]
) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """The weights of the edges, (rows,) finite, and what stood before and after each of them.

    With `imputes` they are the median where there is none.
    """
    found = _numbers(column, name, table)
    if not imputes:
        _refuse_gaps(found, table)
    if found.how is not None:
        notes.append(f"{table.name}: column '{name}' {how_words(found)}.")
    if found.damage is not None:
        notes.append(f"{table.name}: column '{name}' {damage_words(found)}: counted as missing.")
    weights = found.parts[0].astype(np.float64) + found.offset
    missing = int(np.count_nonzero(found.is_missing))
    if missing:
        weights[found.is_missing] = np.median(weights[~found.is_missing])
        notes.append(
            f"{table.name}: column '{name}' is missing for {counted(missing, 'edge')}: filled with "
            "the median weight."
        )
    return weights, (found.before, found.after)


def _numbers(column: pa.ChunkedArray, name: str, table: Table) -> Column:
    """The column as numbers, which the user says it holds: if most cells are, the others damage."""
    _refuse_infinite(column, name, table)
    found: Column | Unusable | None = decide(name, column, table.name, Writing(table.separator))
    if isinstance(found, Column) and found.kind in ("number", "yes/no"):
        return found
    if isinstance(found, Column) and found.kind == "date":
        raise InputError(
            f"--weight needs a column of numbers, and '{name}' of {table.name} holds dates; give "
            "another."
        )
    if is_text(column.type):
        found = mostly_numbers(text_column(name, column, table.name), Writing(table.separator))
        if found is not None:
            return found
    raise InputError(
        f"--weight needs a column of numbers, and '{name}' of {table.name} holds something else; "
        "give another, or mend its cells."
    )


def _refuse_infinite(column: pa.ChunkedArray, name: str, table: Table) -> None:
    plain = decoded(column) if pa.types.is_dictionary(column.type) else column
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
            f"Column '{name}' of {table.name} is infinite in row {row + 1} below the names; every "
            "edge needs a finite weight: write a number there, or drop the edge."
        )


def _refuse_gaps(column: Column, table: Table) -> None:
    advice = (
        "or give --impute median to give such edges the median weight, as every edge needs a weight"
    )
    if column.damage is not None:
        raise InputError(
            f"{table.name}: column '{column.name}' {damage_words(column)}; correct that, {advice}."
        )
    missing = int(np.count_nonzero(column.is_missing))
    if missing:
        raise InputError(
            f"Column '{column.name}' of {table.name} lacks {counted(missing, 'value')}, the "
            f"first in row {int(column.is_missing.argmax()) + 1} below the names; fill them in, "
            f"drop the edges, {advice}."
        )


def weigh(
    ends: Sequence[NDArray[np.int32]],
    weights: NDArray[np.float64],
    size: int,
    name: str,
    around: tuple[str, str] = ("", ""),
) -> tuple[NDArray[np.float32], tuple[FeatureColumn, ...]]:
    """Total, mean and largest weight of every node's edges, (N, 3), zero where it has none.

    Both directions count together, an edge that is listed twice counts twice, and one from a
    node to itself once. What stood `around` a weight belongs to all three.
    """
    loops = ends[0] == ends[1]
    nodes = np.concatenate([ends[0], ends[1][~loops]])
    values = np.concatenate([weights, weights[~loops]])
    counts = np.bincount(nodes, minlength=size)
    total = np.bincount(nodes, weights=values, minlength=size)
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, nodes, values)
    largest[counts == 0] = 0.0
    table = np.stack([total, total / np.maximum(counts, 1), largest], axis=1)
    if (np.abs(table) > np.finfo(np.float32).max).any():
        raise InputError(
            f"The total of column '{name}' over a node's edges is beyond single precision; rescale "
            "the column."
        )
    parts = [narrowed(column) for column in table.T]
    described = zip(_DETAILS, parts, strict=True)
    return np.stack([values for values, _ in parts], axis=1), tuple(
        FeatureColumn(name, "weight", detail, offset, *around) for detail, (_, offset) in described
    )
