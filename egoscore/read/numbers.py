"""Numbers written as text: 12, 1e-3, 1,234.5 and 12,5."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# What stands in cells that hold nothing, where the others hold numbers, dates or yes and no.
MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "?", "nil")
_COMMA_GROUPS = r"^[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?$"
_DOT_GROUPS = r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$"
# Nobody who means twelve and a half writes these two: two groups, or a group and a dot.
_SURE_GROUPS = r",\d{3}(,\d{3}|\.)"
# Nor does anybody who means thousands write these: other than three digits after the comma.
_SURE_DECIMALS = r"(^[+-]?\d*,(\d{1,2}|\d{4,})$)|(\.\d{3},)"


def bare_cells(cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Text without surrounding space, and which of it means that nothing is there."""
    trimmed = pc.utf8_trim_whitespace(cells)
    tokens = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING))
    return trimmed, pc.or_(tokens, pc.is_null(trimmed)).to_numpy(zero_copy_only=False)


def parse_numbers(
    cells: pa.Array, is_comma_free: bool
) -> tuple[NDArray[np.float64], str | None] | None:
    """Text as numbers, NaN where nothing is there, and how it was taken if there was a choice.

    None if any cell is something else, or if all are empty. A comma is a decimal comma only in a
    table whose cells are not separated by commas.
    """
    trimmed, is_missing = bare_cells(cells)
    if is_missing.all():
        return None
    present = trimmed.filter(pa.array(~is_missing))
    found = _cast(present)
    how = None
    if found is None and _all_match(present, _COMMA_GROUPS) and _any_match(present, _SURE_GROUPS):
        found, how = _cast(pc.replace_substring(present, ",", "")), "commas between thousands"
    decimals = found is None and is_comma_free and _any_match(present, _SURE_DECIMALS)
    if decimals and _all_match(present, _DOT_GROUPS):
        without_dots = pc.replace_substring(present, ".", "")
        found, how = _cast(pc.replace_substring(without_dots, ",", ".")), "a decimal comma"
    if found is None:
        return None
    numbers = np.full(len(cells), np.nan)
    numbers[~is_missing] = found
    return numbers, how


def _cast(text: pa.Array) -> NDArray[np.float64] | None:
    try:
        numbers: NDArray[np.float64] = pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return numbers


def _all_match(text: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(text, pattern)).as_py())


def _any_match(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())
