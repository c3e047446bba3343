"""What a feature is to the user: its column, how to read its number, how float32 holds it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.number_form import CODE, YEAR
from egoscore.text import numeral

KINDS = (
    "number",
    "yes/no",
    "date",
    "category",
    "missing",
    "weight",
    "time",
    "structure",
    "frequency",
    "agreement",
)
OF_EDGES = ("weight", "time")
DIRECTIONS = ("sent", "received")  # last words in the names of such columns
ROWS = "count"  # the detail of a weight that is the number of rows in the table of edges
LOGARITHM = "logarithm"
FREQUENCY, AGREEMENT = "frequency", "share of neighbours with the same"
_DAYS = ("date", "time")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS, _SINGLE_DIGITS = 12, 7  # the latter is what single precision holds
_DECIMALS = 2  # of what is expected in a column of whole numbers
_ROUNDING = 1e-9
_TINY = 1e-7  # single precision holds seven digits
_LARGEST_EXACT = 2**24  # single precision holds all whole numbers up to it
_FLOAT64_ROUNDING = 1e-14  # relative: a few additions
_MOST_BLUR = 1e-4  # rounding errors of single precision that do not matter, in standard deviations


@dataclass(frozen=True)
class FeatureColumn:
    """One feature.

    Attributes: `name` of the column in the user's table; `kind`, one of `KINDS`: "date" counts
    days since 1970, "category" is 1 where the column holds `detail`, "missing" is 1 where the
    column was empty, "weight" is the `detail` (total, mean, largest ...) of a column of a node's
    edges, "time" the same (first, last) of moments, "structure" is computed from the graph itself,
    with the `detail` `LOGARITHM` as the logarithm of one plus what is counted, "frequency" is the
    logarithm of the share of nodes in the same category, "agreement" the share of a node's
    neighbours in it; `offset` was taken off, so that single precision does for what is left;
    `before` and `after` stood around every number in the user's cells, such as "$" or " €"; `form`
    is how the numbers of the column are written, as `form_of` found it.
    """

    name: str
    kind: str = "number"
    detail: str = ""
    offset: float = 0.0
    before: str = ""
    after: str = ""
    form: str = ""

    @property
    def unit(self) -> str:
        """What the user's numbers have beside them: $, %, km, or nothing."""
        return (self.before + self.after).strip()

    @property
    def title(self) -> str:
        """A name that no other feature of the same table has."""
        if self.kind == "category":
            return f"{self.name} = {self.detail}"
        if self.kind == "missing":
            return f"{self.name} is missing"
        has_detail = self.kind in (*OF_EDGES, "frequency", "agreement")
        return f"{self.name} ({self.detail})" if has_detail else self.name

    @property
    def is_computed(self) -> bool:
        """Whether it is from the edges, where a column of nodes may have the same name."""
        return self.kind in (*OF_EDGES, "structure")

    @property
    def direction(self) -> str:
        """ "sent" or "received" if it is made of a node's edges in one direction, or ""."""
        last = self.name.rpartition(" ")[2] if self.kind in OF_EDGES else ""
        return last if last in DIRECTIONS else ""

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the feature is 1 or 0, for yes or no."""
        return self.kind in ("yes/no", "category", "missing")

    @property
    def is_year_or_code(self) -> bool:
        """Whether its numbers name something: they have no separators, parts or multiples."""
        return self.form in (YEAR, CODE)

    def value(self, stored: float) -> float:
        """A value of the feature as the number the user knows, without digits of rounding."""
        whole = self._rounded(self._whole(stored))
        if self.is_year_or_code:
            return whole
        if self.offset or self.kind == "structure":
            return float(f"{whole:.{_MOST_DIGITS}g}")
        return float(str(np.float32(whole)))

    def show(self, stored: float) -> str:
        """A value of the feature as the user would write it."""
        return self._written(stored, 4)

    def show_both(self, first: float, second: float) -> tuple[str, str]:
        """Two values, with as many digits as it takes to tell them apart.

        What single precision cannot tell from zero beside the other value is zero.
        """
        first, second = _unless_zero(first, second), _unless_zero(second, first)
        most = _MOST_DIGITS if self.offset or self.kind in _DAYS else _SINGLE_DIGITS
        for digits in range(4, most + 1):
            both = self._written(first, digits), self._written(second, digits)
            if both[0] != both[1] or first == second:
                break
        return both

    def _whole(self, stored: float) -> float:
        """The number in the user's units."""
        if self.kind in ("frequency", "agreement"):
            share = math.exp(min(stored, 0.0)) if self.kind == "frequency" else stored
            return 100.0 * min(max(share, 0.0), 1.0)
        if self.kind != "structure":
            whole = stored + self.offset
            is_blurred = not self.offset and abs(whole) > _LARGEST_EXACT and math.isfinite(whole)
            return float(f"{whole:.{_SINGLE_DIGITS}g}") if is_blurred else whole
        value = stored if stored > _ROUNDING else 0.0  # counts and chances, whatever a line expects
        return math.expm1(value) if self.detail == LOGARITHM else value

    def _written(self, stored: float, digits: int) -> str:
        value = self._whole(stored)
        if self.kind in _DAYS:
            return _moment(value, digits)
        if self.is_yes_or_no:
            if value in (0.0, 1.0):
                return "yes" if value else "no"
            return f"{100 * min(max(value, 0.0), 1.0):.0f}% yes"
        value = self._rounded(value)
        size = f"{abs(value):.0f}" if self.is_year_or_code else numeral(abs(value), digits)
        return f"{'-' if value < 0 else ''}{self.before}{size}{self.after}"

    def _rounded(self, value: float) -> float:
        """A number with the decimals that make sense beside whole ones, if those are whole."""
        if not self.form or not math.isfinite(value):
            return value
        return round(value, 0 if self.is_year_or_code else _DECIMALS) + 0.0  # never minus zero


def with_unique_titles(columns: tuple[FeatureColumn, ...]) -> tuple[FeatureColumn, ...]:
    """The columns, with a number after names whose title is already taken."""
    result: list[FeatureColumn] = []
    taken: set[str] = set()
    for column in columns:
        number, unique = 1, column
        while unique.title in taken:
            number += 1
            unique = replace(column, name=f"{column.name} #{number}")
        taken.add(unique.title)
        result.append(unique)
    return tuple(result)


def _unless_zero(value: float, other: float) -> float:
    """The value, or zero if it is tiny by itself and beside the other one."""
    return 0.0 if abs(value) < _TINY * min(abs(other), 1.0) else value


def _moment(days: float, digits: int) -> str:
    """A date; with more than four `digits` the time of day as well."""
    try:
        moment = _EPOCH + timedelta(days=days)
    except OverflowError:
        return f"{days:.{digits}g} days after 1970"
    return moment.strftime("%Y-%m-%d" if digits == 4 else "%Y-%m-%d %H:%M:%S")


def narrowed(values: NDArray[np.float64]) -> tuple[NDArray[np.float32], float]:
    """The numbers minus an offset, and the offset: 0 unless float32 would blur them without one.

    Moments in seconds, dates written as yyyymmdd and latitudes of one town have more digits than
    float32 holds, most of them the same everywhere. Empty cells (NaN) stay empty. What differs from
    the median by rounding in float64 alone (0.1 + 0.2 and 0.3) is the median.
    """
    narrow = values.astype(np.float32)
    known = values[~np.isnan(values)]
    if not _is_blurred(known):
        return narrow, 0.0
    offset = float(np.median(known))
    rest = values - offset
    rest[np.abs(rest) <= _FLOAT64_ROUNDING * abs(offset)] = 0.0
    return rest.astype(np.float32), offset


def _is_blurred(values: NDArray[np.float64]) -> bool:
    if (values.astype(np.float32) == values).all():  # float32 holds them exactly
        return False
    largest = float(np.abs(values).max())
    if np.ptp(values) <= _FLOAT64_ROUNDING * largest:  # there is nothing to tell apart
        return False
    step = largest / _LARGEST_EXACT
    return step > _MOST_BLUR * float(values.std())
