"""Ways in which cells of text may be written down, and the one that fits a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.read.cells import all_match, bare_cells, matches

_FIRST = 100  # by which most text is told from numbers
# What numbers and dates of every way begin with: a digit or infinity, after signs, points, spaces
# and an opening parenthesis, a currency or percent sign or three capitals at most, or else the name
# of a month. It only saves work: what has another beginning fits no way, wherever in the column it
# stands.
_BEFORE = r"[-+.( \x{a0}\x{202f}]*"
_BEGINNING = (
    rf"^{_BEFORE}(?:(?:\p{{Sc}}|%|[A-Z]{{3}}){_BEFORE})?(?:\d|(?i:inf))"
    "|^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)


@dataclass(frozen=True)
class Way:
    """One way to write numbers or dates.

    Attributes:
        fits: which cells of text are written so.
        read: the numbers in cells that all fit; None if they cannot all be had after all.
        how: what is to be said of a column that is read so.
    """

    fits: Callable[[pa.Array], NDArray[np.bool_]]
    read: Callable[[pa.Array], NDArray[np.float64] | None]
    how: str | None


Ways = Callable[[pa.Array], Iterable[Way]]
Parsed = tuple[NDArray[np.float64], str | None]


def parse(cells: pa.Array, ways: Ways) -> Parsed | None:
    """The numbers in cells that are all written in one way, NaN where nothing is there.

    None if they are not, or if all of them are empty.
    """
    present, is_missing = bare_cells(cells)
    start = present.slice(0, _FIRST)
    if not all_match(start, _BEGINNING):
        return None
    for way in ways(present):
        if way.fits(start).all() and way.fits(present).all():
            found = _placed(way, present, ~is_missing)
            if found is not None:
                return found
    return None


def parse_most(
    cells: pa.Array, counts: NDArray[np.int64], least: int, share: float, ways: Ways
) -> Parsed | None:
    """The numbers in cells of which most are written in one way, NaN in the others.

    `counts` (cells,) says how often each occurs. None unless more than `least` different cells
    fit, and a `share` of all occurrences of cells that are not empty.
    """
    present, is_missing = bare_cells(cells)
    weights = counts[~is_missing]
    needed = share * weights.sum()
    if weights[matches(present, _BEGINNING)].sum() < needed:
        return None
    best, most = None, needed
    for way in ways(present):
        fits = way.fits(present)
        occurrences = int(weights[fits].sum())
        if occurrences >= most and np.count_nonzero(fits) > least:
            best, most = (way, fits), occurrences + 1  # of equals the first
    if best is None:
        return None
    way, fits = best
    places = ~is_missing
    places[places] = fits
    return _placed(way, present.filter(pa.array(fits)), places)


def _placed(way: Way, text: pa.Array, places: NDArray[np.bool_]) -> Parsed | None:
    """The numbers in `text` where it stands among all cells, and how they were read."""
    found = way.read(text)
    if found is None:
        return None
    numbers = np.full(len(places), np.nan)
    numbers[places] = found
    return numbers, way.how
