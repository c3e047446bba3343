"""Numbers that were handed out to rows, such as row numbers and serial numbers, by their values.

A measure of many things repeats by chance, as birthdays do; numbers that were handed out never do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.number_form import is_whole

_MIN_ROWS = 20  # fewer may all be different by chance
_REPEATS = 10.0  # pairs of equal numbers expected by chance: the chance of none is exp(-10)
_SAMPLE = 1024
_MIN_CODES = 100  # fewer do not show whether they are spread evenly
_POSTCODE_DIGITS = 5
_CODE_DIGITS = 9  # measures with as many digits differ in how many they have
_SAME_LENGTH = 0.99  # of the numbers
_MOST_UNEVEN = 1.63  # of Kolmogorov and Smirnov: exceeded by 1% of samples
_YEAR = 365.25 * 86_400.0
# Since 1970 in seconds, milliseconds, microseconds and nanoseconds: 1990 to 2030 are times.
_FIRST_YEAR, _LAST_YEAR = 20.0, 60.0
_PARTS_OF_SECOND = (1.0, 1e3, 1e6, 1e9)


def are_assigned(known: NDArray[np.float64]) -> bool:
    """Whether numbers (n,), none missing, look as if each row had been given one of its own.

    They are whole, all different, and either lie so close together that a measure would repeat, as
    in any order of 1 … n, or are long codes that are spread evenly.
    """
    if len(known) < _MIN_ROWS or not is_whole(known) or not _all_differ(known[:_SAMPLE]):
        return False
    values = np.sort(known)
    steps = np.diff(values)
    if not (steps > 0).all() or _are_times(values):
        return False
    return _would_repeat(steps) or _are_codes(values)


def have_equal_length(known: NDArray[np.floating]) -> bool:
    """Whether nearly all numbers (n,) are whole with as many digits, as postcodes are."""
    if len(known) < _MIN_ROWS or not is_whole(known) or known.min() <= 0.0:
        return False
    digits = np.floor(np.log10(known.astype(np.float64))) + 1
    usual = np.median(digits)
    return bool(usual >= _POSTCODE_DIGITS and np.mean(digits == usual) >= _SAME_LENGTH)


def _all_differ(values: NDArray[np.float64]) -> bool:
    return len(np.unique(values)) == len(values)


def _would_repeat(steps: NDArray[np.float64]) -> bool:
    """Whether numbers drawn from the same range would repeat; `steps` (n - 1,) lie between them.

    The range counts in units of the greatest common divisor of the steps: 10, 20, 30 … are as 1, 2,
    3. A measure that is not spread evenly would repeat even more.
    """
    count, divisor = len(steps) + 1, 1.0
    if float(steps.max()) < 2.0**53:
        divisor = float(np.gcd.reduce(steps.astype(np.int64)))
    width = float(steps.sum()) / divisor + 1.0
    return count * (count - 1) / (2.0 * width) >= _REPEATS


def _are_codes(values: NDArray[np.float64]) -> bool:
    """Whether sorted numbers (n,) have many digits, nearly all as many, and are spread evenly.

    Amounts and populations differ in their number of digits; coordinates in a small unit do not,
    but they are crowded somewhere.
    """
    if len(values) < _MIN_CODES or np.median(values) < 10.0 ** (_CODE_DIGITS - 1):
        return False
    if not have_equal_length(values):
        return False
    place = (values - values[0]) / (values[-1] - values[0])
    even = (np.arange(len(values)) + 0.5) / len(values)
    return bool(np.abs(place - even).max() * np.sqrt(len(values)) < _MOST_UNEVEN)


def _are_times(values: NDArray[np.float64]) -> bool:
    """Whether sorted numbers lie between 1990 and 2030 if they count from 1970."""
    first, last = values[0] / _YEAR, values[-1] / _YEAR
    return any(
        first >= _FIRST_YEAR * parts and last <= _LAST_YEAR * parts for parts in _PARTS_OF_SECOND
    )
