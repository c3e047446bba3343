"""Days since 1970 from dates of any type, and from dates written as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import matches
from egoscore.read.date_forms import (
    DAY_MONTH_SHORT,
    DAY_MONTH_YEAR,
    DAY_NAME_SHORT,
    DAY_NAME_YEAR,
    EIGHT_DIGITS,
    MONTH,
    MONTH_DAY_SHORT,
    MONTH_DAY_YEAR,
    NAME_DAY_YEAR,
    YEAR_MONTH_DAY,
    days_in,
)
from egoscore.read.ways import Parsed, Way, parse

_DAY = 86_400.0
_ISO_DAY = r"^\d{4}-\d\d-\d\d"
_ISO_TIME = r"[ T]([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?)?"
_ISO_LOCAL = rf"{_ISO_DAY}({_ISO_TIME})?$"
_ISO_ZONED = rf"{_ISO_DAY}{_ISO_TIME}(Z|[+-]\d\d(:?\d\d)?)$"
_IN_UTC = "times in UTC"
_SHORT = " of two digits, from 1969 to 2068"


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
    return _IN_UTC if pa.types.is_timestamp(kind) and kind.tz is not None else None


def parse_dates(cells: pa.Array) -> Parsed | None:
    """Text as days since 1970, NaN where nothing is there; None if any cell is no date.

    Where the order of day and month does not show, the day is taken to come first; how it was
    read is said, and if there were time zones.
    """
    return parse(cells, date_ways)


def parse_eight_digits(cells: pa.Array) -> Parsed | None:
    """Text such as 20180103 as days since 1970; None if any cell is no day from 1900 to 2100."""
    way = _written(EIGHT_DIGITS, "year, month, day in eight digits")
    return parse(cells, lambda _: (way,))


def date_ways(text: pa.Array) -> Iterator[Way]:
    """The ways in which dates may be written here."""
    yield _iso(_ISO_LOCAL, None, None)
    yield _iso(_ISO_ZONED, "UTC", _IN_UTC)
    yield _written(YEAR_MONTH_DAY, "year, month, day")
    yield _written(MONTH, "the first day of a month")
    yield _written(DAY_NAME_YEAR, "day, name of the month, year")
    yield _written(NAME_DAY_YEAR, "name of the month, day, year")
    yield from _in_either_order(text, DAY_MONTH_YEAR, MONTH_DAY_YEAR, "")
    yield _written(DAY_NAME_SHORT, f"day, name of the month, year{_SHORT}")
    yield from _in_either_order(text, DAY_MONTH_SHORT, MONTH_DAY_SHORT, _SHORT)


def _in_either_order(text: pa.Array, day_form: str, month_form: str, more: str) -> Iterator[Way]:
    """Day and month as numbers, the day first where that does not show; `more` is said as well."""
    day_first = _written(day_form, f"day, month, year{more}")
    month_first = _written(month_form, f"month, day, year{more}")
    if np.array_equal(day_first.fits(text), month_first.fits(text)):
        doubt = f"{day_first.how} (month, day, year would fit as well)"
        day_first = replace(day_first, how=doubt)
    yield from (day_first, month_first)


def _iso(pattern: str, zone: str | None, how: str | None) -> Way:
    """Dates in ISO form of a pattern, which all have a time zone or none."""

    def fits(text: pa.Array) -> NDArray[np.bool_]:
        return matches(text, pattern) & _exist(text)

    return Way(fits, partial(_days, zone=zone), how)


def _exist(iso: pa.Array) -> NDArray[np.bool_]:
    """Which of the texts begin with a day that there is: others become another one."""
    written = pc.utf8_slice_codeunits(iso, 0, 10)
    moments = pc.strptime(written, format="%Y-%m-%d", unit="s", error_is_null=True)
    same: Any = pc.fill_null(pc.equal(pc.strftime(moments, format="%Y-%m-%d"), written), False)
    found: NDArray[np.bool_] = same.to_numpy(zero_copy_only=False)
    return found


def _days(iso: pa.Array, zone: str | None = None) -> NDArray[np.float64] | None:
    """Text in ISO form as days, with or without fractions; None if no unit of time holds it."""
    for unit in ("us", "ns"):
        with suppress(pa.ArrowInvalid):
            return days(pa.chunked_array([pc.cast(iso, pa.timestamp(unit, zone))]))
    return None


def _written(form: str, how: str) -> Way:
    """Dates in another form."""

    def fits(text: pa.Array) -> NDArray[np.bool_]:
        return ~np.isnan(days_in(text, form))

    return Way(fits, partial(days_in, form=form), how)
