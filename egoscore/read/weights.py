"""Weights of edges as features of the nodes at their ends."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.columns import FeatureColumn
from egoscore.graph.precision import narrowed
from egoscore.read.kinds import Column, damage_words, decide, how_words
from egoscore.read.table import Table

_DETAILS = ("total", "mean", "largest")


def read_weights(
    column: pa.ChunkedArray, name: str, table: Table, notes: list[str]
) -> NDArray[np.float64]:
    """The weights of the edges, (rows,) finite."""
    found = decide(name, column, table.name, table.separator)
    if not isinstance(found, Column) or found.kind not in ("number", "yes/no"):
        raise InputError(
            f"--weight needs a column of numbers, and not every cell of '{name}' in {table.name} "
            "is one; mend the cells that are not."
        )
    if found.damage is not None:
        raise InputError(
            f"--weight needs a column of numbers, and '{name}' of {table.name} "
            f"{damage_words(found)}; correct that, as every edge needs a weight."
        )
    missing = int(np.count_nonzero(found.is_missing))
    if missing:
        raise InputError(
            f"Column '{name}' of {table.name} has missing values ({missing} of them), the first in "
            f"row {int(found.is_missing.argmax()) + 1} below the names; every edge needs a weight, "
            "so fill them in or drop the edges."
        )
    if found.how is not None:
        notes.append(f"{table.name}: column '{name}' {how_words(found)}.")
    return found.parts[0].astype(np.float64) + found.offset


def weigh(
    ends: NDArray[np.int32], weights: NDArray[np.float64], size: int, name: str
) -> tuple[NDArray[np.float32], tuple[FeatureColumn, ...]]:
    """Total, mean and largest weight of every node's edges, (N, 3), zero where it has none.

    Both directions count together, an edge that is listed twice counts twice, and one from a
    node to itself once.
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
        FeatureColumn(name, "weight", detail, offset) for detail, (_, offset) in described
    )
