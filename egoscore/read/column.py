"""A column as numbers, or why it cannot be one, and the words for both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.precision import narrowed
from egoscore.numerals import counted

_LONGEST_CELL = 40
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Damage:
    """How many cells of a column are unlike the others, the first of them and its row."""

    count: int
    cell: str
    row: int


@dataclass(frozen=True)
class Column:
    """A column as numbers.

    Attributes:
        kind: as in `FeatureColumn`.
        parts: one array (rows,) float32 for each feature, zero where the cell is empty.
        details: for each part the category it stands for; ("",) for other kinds.
        is_missing: (rows,) which cells are empty.
        how: how cells were read where there was a choice.
        offset: what was taken off the numbers so that float32 can hold them.
        damage: cells that could not be read as the others are and count as empty.
        before, after: what stood around every number and was left off.
    """

    name: str
    kind: str
    parts: tuple[NDArray[np.float32], ...]
    is_missing: NDArray[np.bool_]
    details: tuple[str, ...] = ("",)
    how: str | None = None
    offset: float = 0.0
    damage: Damage | None = None
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Unusable:
    """A column that is no feature, and why."""

    name: str
    reason: str


def how_words(column: Column) -> str:
    """How a column of numbers or dates was read, where there was a choice."""
    if column.kind == "date":
        return f"is a date, read as {column.how}, and counts days since 1970"
    how = str(column.how)
    return f"is a number, read {how if how.startswith('as ') else f'with {how}'}"


def damage_words(column: Column) -> str:
    """Which cells are unlike the others of their column."""
    assert column.damage is not None
    cell = column.damage.cell
    shown = cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]}…"
    return (
        f"holds {column.kind}s but for {counted(column.damage.count, 'cell')}, the first {shown!r} "
        f"in row {column.damage.row + 1} below the names"
    )


def numeric(
    name: str,
    kind: str,
    values: NDArray[np.float64],
    where: str,
    how: str | None = None,
    around: tuple[str, str] = ("", ""),
) -> Column | Unusable:
    """A column of one number a row, NaN where nothing is there."""
    is_missing = np.isnan(values)
    if is_missing.all():
        return Unusable(name, "is empty")
    _refuse_beyond_float32(name, values, where)
    numbers, offset = narrowed(values)
    numbers[is_missing] = 0.0
    before, after = around
    return Column(
        name, kind, (numbers,), is_missing, how=how, offset=offset, before=before, after=after
    )


def _refuse_beyond_float32(name: str, values: NDArray[np.float64], where: str) -> None:
    infinite = int(np.count_nonzero(np.isinf(values)))
    if infinite:
        raise InputError(
            f"Column '{name}' of {where} has {counted(infinite, 'infinite value')}; write a number "
            "instead or leave the column out with --ignore."
        )
    beyond = np.abs(values) > _LARGEST
    if beyond.any():
        raise InputError(
            f"Column '{name}' of {where} has values beyond single precision (found "
            f"{values[beyond][0]}); rescale it or leave it out with --ignore."
        )
