"""What a feature is to the user: the column it comes from, and how its number is to be read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

KINDS = ("number", "yes/no", "date", "category", "missing", "weight", "structure")
LOGARITHM = "logarithm"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 12


@dataclass(frozen=True)
class FeatureColumn:
    """One feature.

    Attributes: `name` of the column in the user's table; `kind`, one of `KINDS`: "date" counts
    days since 1970, "category" is 1 where the column holds `detail`, "missing" is 1 where the
    column was empty, "weight" is the `detail` (total, mean, largest) of the weights of a node's
    edges, "structure" is computed from the network itself, with the `detail` `LOGARITHM` as the
    logarithm of one plus what is counted; `offset` was taken off, so that single precision does
    for what is left.
    """

    name: str
    kind: str = "number"
    detail: str = ""
    offset: float = 0.0

    @property
    def title(self) -> str:
        """A name that no other feature of the same table has."""
        if self.kind == "category":
            return f"{self.name} = {self.detail}"
        if self.kind == "missing":
            return f"{self.name} is missing"
        return f"{self.name} ({self.detail})" if self.kind == "weight" else self.name

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the feature is 1 or 0, for yes or no."""
        return self.kind in ("yes/no", "category", "missing")

    def show(self, value: float) -> str:
        """A value of the feature as the user would write it."""
        return self._written(value, 4)

    def show_both(self, first: float, second: float) -> tuple[str, str]:
        """Two values, with as many digits as it takes to tell them apart."""
        for digits in range(4, _MOST_DIGITS + 1):
            both = self._written(first, digits), self._written(second, digits)
            if both[0] != both[1] or first == second:
                break
        return both

    def _written(self, value: float, digits: int) -> str:
        value += self.offset
        if self.kind == "date":
            return _moment(value, digits)
        if self.is_yes_or_no:
            if value in (0.0, 1.0):
                return "yes" if value else "no"
            return f"{100 * min(max(value, 0.0), 1.0):.0f}% yes"
        if self.kind == "structure":  # counts and chances, whatever a line expects
            value = max(value, 0.0)
            value = math.expm1(value) if self.detail == LOGARITHM else value
        return _number(value, digits)


def _number(value: float, digits: int) -> str:
    """Significant `digits`; of large numbers all before the point."""
    size = abs(value)
    if size < 1e4 - 0.5 or size >= 1e15:
        return f"{value:.{digits}g}"
    return f"{value:,.{max(0, digits - 4)}f}"


def _moment(days: float, digits: int) -> str:
    """A date; with more than four `digits` the time of day as well."""
    try:
        moment = _EPOCH + timedelta(days=days)
    except OverflowError:
        return f"{days:.{digits}g} days after 1970"
    return moment.strftime("%Y-%m-%d" if digits == 4 else "%Y-%m-%d %H:%M:%S")
