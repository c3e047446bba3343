"""Forms of dates other than ISO: 5/1/2015 3:15 PM, 05-Jan-15, Jan 5, 2015, 2015-01, 20150105.

A form is a pattern with the parts year, month and day and perhaps a time of day.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import SPACE

_HALF = rf"(?:{SPACE}?(?P<half>[AP])M)?"
_CLOCK = rf"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?{_HALF}"
_TIME = rf"(?:(?:T|,?{SPACE}){_CLOCK})?$"
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_NAME = (
    "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NTH = f"{_DAY}(?:st|nd|rd|th)?"

DAY_MONTH_YEAR = rf"(?i)^{_DAY}[./-]{_MONTH}[./-]{_YEAR}{_TIME}"
MONTH_DAY_YEAR = rf"(?i)^{_MONTH}[./-]{_DAY}[./-]{_YEAR}{_TIME}"
YEAR_MONTH_DAY = rf"(?i)^{_YEAR}[./-]{_MONTH}[./-]{_DAY}{_TIME}"
DAY_NAME_YEAR = rf"(?i)^{_NTH}[-/. ]*{_NAME}[-/., ]*{_YEAR}{_TIME}"
NAME_DAY_YEAR = rf"(?i)^{_NAME}[-/. ]*{_NTH}[-/, ]+{_YEAR}{_TIME}"
# the last two digits of the year: from 1969 to 2068, as POSIX has it
DAY_MONTH_SHORT, MONTH_DAY_SHORT, DAY_NAME_SHORT = (
    form.replace(_YEAR, r"(?P<year>\d{2})")
    for form in (DAY_MONTH_YEAR, MONTH_DAY_YEAR, DAY_NAME_YEAR)
)
MONTH = r"^(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)$"
EIGHT_DIGITS = r"^(?P<year>19\d\d|20\d\d|2100)(?P<month>\d\d)(?P<day>\d\d)$"

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


def days_in(text: pa.Array, form: str) -> NDArray[np.float64]:
    """Days since 1970, NaN where the text is not of that form or there is no such day or hour."""
    parts: Any = pc.extract_regex(text, form)
    is_match = pc.is_valid(parts).to_numpy(zero_copy_only=False)
    found = np.full(len(text), np.nan)
    found[is_match] = _days(parts.drop_null())
    return found


def _days(parts: Any) -> NDArray[np.float64]:
    names = {field.name for field in parts.type}
    month = _place(_two_digits(pc.utf8_slice_codeunits(_part(parts, "month"), 0, 3)), _MONTHS) % 12
    day = _number(parts, "day") if "day" in names else np.ones(len(parts))
    year = _number(parts, "year")
    year = year + np.where(year < 100, np.where(year < 69, 2000, 1900), 0)  # of two digits
    first = ((year - 1970) * 12 + np.nan_to_num(month)).astype("datetime64[M]")
    dates = first.astype("datetime64[D]") + (day - 1).astype(np.int64)
    exists = ~np.isnan(month) & (dates.astype("datetime64[M]") == first)
    seconds = _seconds(parts) if "hour" in names else 0.0
    return np.where(exists, (dates.astype(np.int64) * 86_400 + seconds) / 86_400, np.nan)


def _seconds(parts: Any) -> NDArray[np.float64]:
    """The seconds since midnight, NaN where there is no such hour as 13 PM."""
    hour = pc.binary_join_element_wise(_two_digits(_part(parts, "hour")), _part(parts, "half"), "")
    minutes = _place(hour, _HOURS) % 24 * 60 + _number(parts, "minute")
    return minutes * 60 + _number(parts, "second")


def _part(parts: Any, name: str) -> pa.Array:
    return pc.utf8_lower(pc.struct_field(parts, name))


def _two_digits(text: pa.Array) -> pa.Array:
    return pc.utf8_lpad(text, 2, "0")


def _number(parts: Any, name: str) -> NDArray[np.float64]:
    """The number in a part, zero if it is left out."""
    return _floats(pc.cast(_two_digits(_part(parts, name)), pa.int32()))


def _place(text: pa.Array, known: pa.Array) -> NDArray[np.float64]:
    """Where among those that are known each text is, NaN if it is not."""
    return _floats(pc.index_in(text, value_set=known))


def _floats(numbers: pa.Array) -> NDArray[np.float64]:
    found: NDArray[np.float64] = pc.cast(numbers, pa.float64()).to_numpy(zero_copy_only=False)
    return found
