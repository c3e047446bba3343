"""Numbers written as text: 12, 1e-3, 1,234.5 and 12,5."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import all_match, any_match, bare_cells

_COMMA_GROUPS = r"^[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?$"
_DOT_GROUPS = r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$"
# Nobody who means twelve and a half writes these two: two groups, or a group and a dot.
_SURE_GROUPS = r",\d{3}(,\d{3}|\.)"
# Nor does anybody who means thousands write these: other than three digits after the comma.
_SURE_DECIMALS = r"(^[+-]?\d*,(\d{1,2}|\d{4,})$)|(\.\d{3},)"


def parse_numbers(
    cells: pa.Array, is_comma_free: bool
) -> tuple[NDArray[np.float64], str | None] | None:
    """Text as numbers, NaN where nothing is there, and how it was taken if there was a choice.

    None if any cell is something else, or if all are empty. In a table whose cells are separated
    by commas, a comma in a cell stands between thousands; elsewhere 1,234 may be either.
    """
    trimmed, is_missing = bare_cells(cells)
    if is_missing.all():
        return None
    present = trimmed.filter(pa.array(~is_missing))
    found = _cast(present)
    how = None
    groups = found is None and (not is_comma_free or any_match(present, _SURE_GROUPS))
    if groups and all_match(present, _COMMA_GROUPS):
        found, how = _cast(pc.replace_substring(present, ",", "")), "commas between thousands"
    decimals = found is None and is_comma_free and any_match(present, _SURE_DECIMALS)
    if decimals and all_match(present, _DOT_GROUPS):
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
