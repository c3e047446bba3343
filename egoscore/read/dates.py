"""Days since 1970 from dates of any type, and from dates written as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import all_match, bare_cells

_DAY = 86_400.0
_TIME = r"(?P<time>(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?)$"
_YEAR_LAST = r"^(?P<first>\d{1,2})[./-](?P<second>\d{1,2})[./-](?P<year>\d{4})" + _TIME
_YEAR_FIRST = r"^(?P<year>\d{4})[./](?P<first>\d{1,2})[./](?P<second>\d{1,2})" + _TIME


def days(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Dates and timestamps as days since 1970 (UTC), NaN where nothing is there."""
    kind = column.type
    unit = kind.unit if pa.types.is_timestamp(kind) else "s"
    if not pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("s"), safe=False)
    per_day = _DAY * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    counts = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    found: NDArray[np.float64] = counts.to_numpy() / per_day
    return found


def zone_words(kind: pa.DataType) -> str | None:
    """What is to be said of moments with a time zone, which are counted in UTC."""
    return "times in UTC" if pa.types.is_timestamp(kind) and kind.tz is not None else None


def parse_dates(cells: pa.Array) -> tuple[NDArray[np.float64], str | None] | None:
    """Text as days since 1970, NaN where nothing is there; None if any cell is no date.

    Where the order of day and month does not show, the day is taken to come first; how it was
    read is said, and if there were time zones.
    """
    trimmed, is_missing = bare_cells(cells)
    present = trimmed.filter(pa.array(~is_missing))
    if not all_match(present, r"^\d+[-./]\d"):
        return None
    found, how = _moments(present)
    if found is None:
        return None
    result = np.full(len(cells), np.nan)
    result[~is_missing] = days(pa.chunked_array([found]))
    return result, how


def _moments(text: pa.Array) -> tuple[pa.Array | None, str | None]:
    iso = _cast(text)
    if iso is not None:
        return iso, zone_words(iso.type)
    if all_match(text, _YEAR_FIRST):
        return _cast(_iso(text, _YEAR_FIRST, "first", "second")), "year, month, day"
    if not all_match(text, _YEAR_LAST):
        return None, None
    day_first = _cast(_iso(text, _YEAR_LAST, "second", "first"))
    month_first = _cast(_iso(text, _YEAR_LAST, "first", "second"))
    if day_first is None:
        return month_first, "month, day, year"
    doubt = "" if month_first is None else " (month, day, year would fit as well)"
    return day_first, f"day, month, year{doubt}"


def _cast(iso: pa.Array) -> pa.Array | None:
    """Text in ISO form as moments, with or without zones and fractions."""
    for unit in ("us", "ns"):
        for zone in (None, "UTC"):
            try:
                return pc.cast(iso, pa.timestamp(unit, zone))
            except pa.ArrowInvalid:
                continue
    return None


def _iso(text: pa.Array, pattern: str, month: str, day: str) -> pa.Array:
    """Dates of another form in ISO form, which then says whether there is such a day."""
    parts: Any = pc.extract_regex(text, pattern)

    def part(name: str, width: int) -> pa.Array:
        return pc.utf8_lpad(pc.struct_field(parts, name), width, "0")

    dates = pc.binary_join_element_wise(part("year", 4), part(month, 2), part(day, 2), "-")
    times = pc.replace_substring_regex(pc.struct_field(parts, "time"), r"^[ T](\d):", r" 0\1:")
    return pc.binary_join_element_wise(dates, times, "")
