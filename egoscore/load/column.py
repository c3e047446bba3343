"""A column as numbers, or the reason why it cannot be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.feature_column import narrowed
from egoscore.text import counted, option

_LONGEST_CELL = 40
_LARGEST = float(np.finfo(np.float32).max)
_REASONS = {
    "empty": "is empty",
    "type": "has type {kind}, which cannot be turned into numbers",
    "not-categories": "has type {kind}, whose values cannot be categories",
    "many-texts": "is text with {count} distinct values, more than the {limit} allowed for "
    "categories",
    "many-values": "has {count} distinct values, more than the {limit} allowed for categories",
    "padded-codes": "holds digits with leading zeros, which are codes; write them without if they "
    "are numbers",
    "row-numbers": "has no name and only counts the rows",
}


@dataclass(frozen=True)
class Damage:
    """How many cells of a column are unlike the others, the first of them and its row."""

    count: int
    cell: str
    row: int

    @property
    def fields(self) -> dict[str, Any]:
        """The same for notes; long cells are cut, rows count from 1."""
        cell = self.cell
        shown = cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]}\u2026"
        return {"count": self.count, "cell": shown, "row": self.row + 1}


@dataclass(frozen=True)
class Column:
    """A column as numbers.

    Attributes:
        kind: as in `FeatureColumn`.
        parts: one array (rows,) float32 for each feature, zero where the cell is empty.
        details: for each part the category it stands for; ("",) for other kinds.
        is_missing: (rows,) which cells are empty.
        traits: of the format of its cells, where there was a choice, as in `Format`.
        offset: subtracted from the numbers so that float32 can hold them.
        damage: cells that could not be read as the others are and count as empty.
        before, after: the text around every number, which was removed.
    """

    name: str
    kind: str
    parts: tuple[NDArray[np.float32], ...]
    is_missing: NDArray[np.bool_]
    details: tuple[str, ...] = ("",)
    traits: tuple[str, ...] = ()
    offset: float = 0.0
    damage: Damage | None = None
    before: str = ""
    after: str = ""

    @property
    def num_missing(self) -> int:
        """How many cells are empty."""
        return int(np.count_nonzero(self.is_missing))

    def known(self) -> NDArray[np.float32]:
        """The numbers of the first part that are not missing."""
        return self.parts[0][~self.is_missing]


@dataclass(frozen=True)
class Unusable:
    """A column that is not a feature; `reason` is a code, a key of the phrases."""

    name: str
    reason: str
    fields: dict[str, Any] = field(default_factory=dict)


def unusable_phrase(reason: str, **fields: Any) -> str:
    """Why a column cannot be used: `is empty`, `has no name and ...`."""
    return _REASONS[reason].format(**fields)


def damage_phrase(kind: str, count: int, cell: str, row: int) -> str:
    """Which cells are unlike the others of their column."""
    return (
        f"holds {kind}s except for {counted(count, 'cell')}, the first {cell!r} in row {row} below "
        "the header"
    )


def numeric_column(
    name: str,
    kind: str,
    values: NDArray[np.float64],
    where: str,
    traits: tuple[str, ...] = (),
    around: tuple[str, str] = ("", ""),
) -> Column | Unusable:
    """A column with one number per row, NaN where nothing is there."""
    is_missing = np.isnan(values)
    if is_missing.all():
        return Unusable(name, "empty")
    _refuse_beyond_float32(name, values, where)
    numbers, offset = narrowed(values)
    numbers[is_missing] = 0.0
    before, after = around
    return Column(
        name, kind, (numbers,), is_missing, ("",), traits, offset, before=before, after=after
    )


def _refuse_beyond_float32(name: str, values: NDArray[np.float64], where: str) -> None:
    infinite = int(np.count_nonzero(np.isinf(values)))
    if infinite:
        raise InputError(
            f"Column '{name}' of {where} has {counted(infinite, 'infinite value')}; write a number "
            f"instead or leave the column out with {option('ignore')}."
        )
    beyond = np.abs(values) > _LARGEST
    if beyond.any():
        raise InputError(
            f"Column '{name}' of {where} has values beyond single precision (found "
            f"{values[beyond][0]}); rescale it or leave it out with {option('ignore')}."
        )
