"""Cells of text: which are missing, and the format that all or most of the others share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_AT_ONCE = 1 << 16
_FIRST = 100  # cells that distinguish most text from numbers
SPACE = "[ \u00a0\u202f]"
EXPORTED = r"\N"  # what databases write for a missing value, and nobody else
# What missing cells contain where the others hold numbers, dates or yes and no.
MISSING = (
    *("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "-", "--", "?"),
    *("k.a.", "missing", "not available", "unknown", EXPORTED.lower()),
)
# How numbers and dates of every format begin: a digit or infinity, after signs, points, spaces and
# an opening parenthesis, a currency or percent sign or three capitals at most, or else the name of
# a month. It only saves work: a cell with another beginning fits no format.
_BEFORE = r"[-+.( \x{a0}\x{202f}]*"
_BEGINNING = (
    rf"^{_BEFORE}(?:(?:\p{{Sc}}|%|[A-Z]{{3}}){_BEFORE})?(?:\d|(?i:inf))"
    "|^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)

Values = NDArray[np.float64]
# The numbers of cells, NaN where nothing is there, and the traits of the format they were read in.
Parsed = tuple[Values, tuple[str, ...]]


@dataclass(frozen=True)
class Format:
    """One way to write numbers or dates.

    Attributes:
        fits: which cells of text are written so.
        read: the numbers in cells that all fit; None if they cannot be read after all.
        traits: what the user should know of it, as codes such as "decimal-comma".
    """

    fits: Callable[[pa.Array], NDArray[np.bool_]]
    read: Callable[[pa.Array], Values | None]
    traits: tuple[str, ...] = ()


Formats = Callable[[pa.Array], Iterable[Format]]


def present_cells(cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """The cells that are not missing, without space around them, and which (N,) are missing.

    Some at a time, and without a copy if nothing changes: there may be millions.
    """
    starts = range(0, max(len(cells), 1), _AT_ONCE)
    parts, are_missing = zip(*(_present(cells.slice(s, _AT_ONCE)) for s in starts), strict=True)
    is_unchanged = all(part is None for part in parts)
    pairs = zip(starts, parts, strict=True)
    held = (cells.slice(s, _AT_ONCE) if part is None else part for s, part in pairs)
    return cells if is_unchanged else pa.concat_arrays(held), np.concatenate(are_missing)


def _present(cells: pa.Array) -> tuple[pa.Array | None, NDArray[np.bool_]]:
    """The same of a few; None if nothing changes."""
    trimmed = pc.utf8_trim_whitespace(cells)
    tokens = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING))
    is_missing = pc.or_(tokens, pc.is_null(trimmed)).to_numpy(zero_copy_only=False)
    if not is_missing.any() and trimmed.equals(cells):
        return None, is_missing
    return trimmed.filter(pa.array(~is_missing)), is_missing


def matches(text: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which of the text matches; none of it may be missing."""
    found: Any = pc.match_substring_regex(text, pattern)
    which: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return which


def all_match(text: pa.Array, pattern: str) -> bool:
    """Whether there is text and all of it matches."""
    return len(text) > 0 and all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py()
        for part in (text.slice(0, _FIRST), text)
    )


def any_match(text: pa.Array, pattern: str) -> bool:
    """Whether any of the text matches."""
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def parse(cells: pa.Array, formats: Formats) -> Parsed | None:
    """The numbers in cells that are all written in one format.

    None if they are not, or if all of them are missing.
    """
    present, is_missing = present_cells(cells)
    start = present.slice(0, _FIRST)
    if not all_match(start, _BEGINNING):
        return None
    for form in formats(present):
        if form.fits(start).all() and form.fits(present).all():
            found = _placed(form, present, ~is_missing)
            if found is not None:
                return found
    return None


def parse_most(
    cells: pa.Array, counts: NDArray[np.int64], least: int, share: float, formats: Formats
) -> Parsed | None:
    """The numbers in cells most of which are written in one format, NaN in the others.

    `counts` (cells,) says how often each occurs. None unless more than `least` distinct cells
    fit, and a `share` of all occurrences of cells that are not missing.
    """
    present, is_missing = present_cells(cells)
    weights = counts[~is_missing]
    needed = share * weights.sum()
    if weights[matches(present, _BEGINNING)].sum() < needed:
        return None
    best, most = None, needed
    for form in formats(present):
        fits = form.fits(present)
        occurrences = int(weights[fits].sum())
        if occurrences >= most and np.count_nonzero(fits) > least:
            best, most = (form, fits), occurrences + 1  # of equals the first
    if best is None:
        return None
    form, fits = best
    places = ~is_missing
    places[places] = fits
    return _placed(form, present.filter(pa.array(fits)), places)


def _placed(form: Format, text: pa.Array, places: NDArray[np.bool_]) -> Parsed | None:
    """The numbers in `text` at their places among all cells."""
    found = form.read(text)
    if found is None:
        return None
    numbers = np.full(len(places), np.nan)
    numbers[places] = found
    return numbers, form.traits
