"""Columns of numbers or dates in which some cells are neither."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from egoscore.read.cells import bare_cells
from egoscore.read.column import Column, Damage
from egoscore.read.dates import date_ways
from egoscore.read.numbers import Writing, are_codes, number_ways
from egoscore.read.text_column import TextColumn
from egoscore.read.ways import Ways, parse_most

_NEARLY_ALL, _HALF = 0.9, 0.5


def with_mistakes(text: TextColumn, least: int, writing: Writing) -> Column | None:
    """A column of numbers or dates, but for a few cells; None if it is text.

    It is text unless more than `least` different cells are numbers or dates.
    """
    if not are_codes(text.cells):
        found = _but_for_some(
            text, "number", partial(number_ways, writing=writing), least, _NEARLY_ALL
        )
        if found is not None:
            return found
    return _but_for_some(text, "date", date_ways, least, _NEARLY_ALL)


def mostly_numbers(text: TextColumn, writing: Writing) -> Column | None:
    """A column that is said to hold numbers, if at least half of its cells are."""
    return _but_for_some(text, "number", partial(number_ways, writing=writing), 0, _HALF)


def _but_for_some(
    text: TextColumn, kind: str, ways: Ways, least: int, share: float
) -> Column | None:
    counts = np.bincount(text.rows, minlength=len(text.cells))[: len(text.cells)]
    parsed = parse_most(text.cells, counts, least, share, ways)
    if parsed is None:
        return None
    column = text.read_as(kind, parsed)
    assert isinstance(column, Column)
    return replace(column, damage=_damage(text, parsed[0]))


def _damage(text: TextColumn, values: NDArray[np.float64]) -> Damage | None:
    """The cells that are there and have no number, if there are any."""
    _, is_missing = bare_cells(text.cells)
    is_damaged = np.append(np.isnan(values) & ~is_missing, False)[text.rows]
    if not is_damaged.any():
        return None
    first = int(is_damaged.argmax())
    cell = str(text.cells[int(text.rows[first])].as_py()).strip()
    return Damage(int(np.count_nonzero(is_damaged)), cell, first)
