"""Days since 1970 from dates of any Arrow type, and from dates written as text.

Besides ISO: 5/1/2015 3:15 PM, 05-Jan-15, Jan 5, 2015, 2015-01, 20150105. Each form is a regular
expression with the parts year, month and day and perhaps a time of day.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.load.cell_formats import (
    SPACE,
    Format,
    Parsed,
    Values,
    as_floats,
    matches,
    parse,
    read_where,
    scattered,
)

_DAY = 86_400.0
_ISO_DAY = r"^\d{4}-\d\d-\d\d"
_ISO_TIME = r"[ T]([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?)?"
_ISO_LOCAL = rf"{_ISO_DAY}({_ISO_TIME})?$"
_ISO_ZONED = rf"{_ISO_DAY}{_ISO_TIME}(Z|[+-]\d\d(:?\d\d)?)$"

_HALF = rf"(?:{SPACE}?(?P<half>[AP])M)?"
_CLOCK = rf"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?{_HALF}"
_TIME = rf"(?:(?:T|,?{SPACE}){_CLOCK})?$"
_YEAR, _MONTH, _DAY_OF = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_MONTH_NAME = (
    "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NTH = f"{_DAY_OF}(?:st|nd|rd|th)?"

_DAY_MONTH_YEAR = rf"(?i)^{_DAY_OF}[./-]{_MONTH}[./-]{_YEAR}{_TIME}"
_MONTH_DAY_YEAR = rf"(?i)^{_MONTH}[./-]{_DAY_OF}[./-]{_YEAR}{_TIME}"
_YEAR_MONTH_DAY = rf"(?i)^{_YEAR}[./-]{_MONTH}[./-]{_DAY_OF}{_TIME}"
_DAY_NAME_YEAR = rf"(?i)^{_NTH}[-/. ]*{_MONTH_NAME}[-/., ]*{_YEAR}{_TIME}"
_NAME_DAY_YEAR = rf"(?i)^{_MONTH_NAME}[-/. ]*{_NTH}[-/, ]+{_YEAR}{_TIME}"
# the last two digits of a year between 1969 and 2068, as in POSIX
_DAY_MONTH_SHORT, _MONTH_DAY_SHORT, _DAY_NAME_SHORT = (
    form.replace(_YEAR, r"(?P<year>\d{2})")
    for form in (_DAY_MONTH_YEAR, _MONTH_DAY_YEAR, _DAY_NAME_YEAR)
)
MONTH_ONLY = r"^(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)$"
_EIGHT_DIGITS = r"^(?P<year>19\d\d|20\d\d|2100)(?P<month>\d\d)(?P<day>\d\d)$"

_MONTHS = pa.array(
    [
        *(f"{number:02d}" for number in range(1, 13)),
        *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ]
)
# The hours of a day by a clock of 24 hours, and by one of 12.
_HOURS = pa.array(
    [
        *(f"{hour:02d}" for hour in range(24)),
        *(f"{hour % 12 or 12:02d}{'ap'[hour // 12]}" for hour in range(24)),
    ]
)


def days(column: pa.ChunkedArray) -> Values:
    """Dates and timestamps as days since 1970 (UTC), NaN where the cell is missing."""
    kind = column.type
    unit = kind.unit if pa.types.is_timestamp(kind) else "s"
    if not pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("s"), safe=False)
    per_day = _DAY * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    counts = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    found: Values = counts.to_numpy() / per_day
    return found


def zone_traits(kind: pa.DataType) -> tuple[str, ...]:
    """The trait of times with a time zone, which are converted to UTC."""
    return ("utc",) if pa.types.is_timestamp(kind) and kind.tz is not None else ()


def parse_dates(cells: pa.Array) -> Parsed | None:
    """Text as days since 1970, NaN where the cell is missing; None if any cell is not a date.

    If day and month may be in either order, the day is taken to come first.
    """
    return parse(cells, date_formats)


def parse_eight_digits(cells: pa.Array) -> Parsed | None:
    """Text such as 20180103 as days since 1970; None unless all are days from 1900 to 2100."""
    return parse(cells, lambda _: (_format_of(_EIGHT_DIGITS, "eight-digits"),))


def date_formats(text: pa.Array) -> Iterator[Format]:
    """The formats in which dates may be written here."""
    yield _iso(_ISO_LOCAL, None)
    yield _iso(_ISO_ZONED, "UTC", "utc")
    yield _format_of(_YEAR_MONTH_DAY, "year-month-day")
    yield _format_of(MONTH_ONLY, "month")
    yield _format_of(_DAY_NAME_YEAR, "day-monthname-year")
    yield _format_of(_NAME_DAY_YEAR, "monthname-day-year")
    yield from _in_either_order(text, _DAY_MONTH_YEAR, _MONTH_DAY_YEAR)
    yield _format_of(_DAY_NAME_SHORT, "day-monthname-year", "two-digit-year")
    yield from _in_either_order(text, _DAY_MONTH_SHORT, _MONTH_DAY_SHORT, "two-digit-year")


def _in_either_order(
    text: pa.Array, day_form: str, month_form: str, *more: str
) -> Iterator[Format]:
    """Day and month as numbers, the day first if either order fits."""
    day_first = _format_of(day_form, "day-month-year", *more)
    month_first = _format_of(month_form, "month-day-year", *more)
    if np.array_equal(np.isnan(day_first.read(text)), np.isnan(month_first.read(text))):
        day_first = _format_of(day_form, *day_first.traits, "or:month-day-year")
    yield from (day_first, month_first)


def _iso(pattern: str, zone: str | None, *traits: str) -> Format:
    """ISO dates of a pattern, either all with a time zone or all without."""

    def read(text: pa.Array) -> Values:
        fits = matches(text, pattern) & _exist(text)
        return read_where(fits, text, partial(_iso_days, zone=zone))

    return Format(read, traits)


def _exist(iso: pa.Array) -> NDArray[np.bool_]:
    """Which of the texts begin with a day that exists; February 30 would become March 1."""
    written = pc.utf8_slice_codeunits(iso, 0, 10)
    moments = pc.strptime(written, format="%Y-%m-%d", unit="s", error_is_null=True)
    same: Any = pc.fill_null(pc.equal(pc.strftime(moments, format="%Y-%m-%d"), written), False)
    found: NDArray[np.bool_] = same.to_numpy(zero_copy_only=False)
    return found


def _iso_days(iso: pa.Array, zone: str | None = None) -> Values:
    """ISO text as days, with or without fractions; NaN if no unit of time holds all of it."""
    for unit in ("us", "ns"):
        with suppress(pa.ArrowInvalid):
            return days(pa.chunked_array([pc.cast(iso, pa.timestamp(unit, zone))]))
    return np.full(len(iso), np.nan)


def _format_of(form: str, *traits: str) -> Format:
    """The format of dates that match a pattern."""
    return Format(partial(_days_in, form=form), traits)


def _days_in(text: pa.Array, form: str) -> Values:
    """Days since 1970, NaN where the text is not of that form or there is no such day or hour."""
    parts: Any = pc.extract_regex(text, form)
    return scattered(_days(parts.drop_null()), pc.is_valid(parts).to_numpy(zero_copy_only=False))


def _days(parts: Any) -> Values:
    names = {field.name for field in parts.type}
    month = (
        _position(_two_digits(pc.utf8_slice_codeunits(_part(parts, "month"), 0, 3)), _MONTHS) % 12
    )
    day = _number(parts, "day") if "day" in names else np.ones(len(parts))
    year = _number(parts, "year")
    year = year + np.where(year < 100, np.where(year < 69, 2000, 1900), 0)  # of two digits
    first = ((year - 1970) * 12 + np.nan_to_num(month)).astype("datetime64[M]")
    dates = first.astype("datetime64[D]") + (day - 1).astype(np.int64)
    exists = ~np.isnan(month) & (dates.astype("datetime64[M]") == first)
    seconds = _seconds(parts) if "hour" in names else 0.0
    return np.where(exists, (dates.astype(np.int64) * 86_400 + seconds) / 86_400, np.nan)


def _seconds(parts: Any) -> Values:
    """The seconds since midnight, NaN where there is no such hour as 13 PM."""
    hour = pc.binary_join_element_wise(_two_digits(_part(parts, "hour")), _part(parts, "half"), "")
    minutes = _position(hour, _HOURS) % 24 * 60 + _number(parts, "minute")
    return minutes * 60 + _number(parts, "second")


def _part(parts: Any, name: str) -> pa.Array:
    return pc.utf8_lower(pc.struct_field(parts, name))


def _two_digits(text: pa.Array) -> pa.Array:
    return pc.utf8_lpad(text, 2, "0")


def _number(parts: Any, name: str) -> Values:
    """The number in a part, zero if the part is absent."""
    return as_floats(pc.cast(_two_digits(_part(parts, name)), pa.int32()))


def _position(text: pa.Array, known: pa.Array) -> Values:
    """The position of each text among the known ones, NaN if it is not one of them."""
    return as_floats(pc.index_in(text, value_set=known))
