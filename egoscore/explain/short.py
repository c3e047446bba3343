"""A quantity beside what is expected of it, in a few words."""

from __future__ import annotations

from egoscore.explain.explanation import Deviation
from egoscore.numerals import times

_LEAST, _MOST = 1.5, 1e4  # times as much: nearer to one, or farther, no number helps


def says(one: Deviation) -> str:
    """What is, and what is expected."""
    return f"{one.name} is {one.observed} where {one.expected} is expected"


def off(one: Deviation) -> str:
    """Which quantity is off, and which way."""
    if one.observed == "missing":
        return f"{one.name} missing"
    if one.kind in ("yes/no", "category", "missing"):
        return f"{one.name}: {one.observed}, not expected"
    observed, expected = one.observed_value or 0.0, one.expected_value or 0.0
    if one.is_amount and (more := multiple(observed, expected)):
        return f"{one.name} {more}x what is expected"
    if one.is_amount and multiple(expected, observed):
        return f"{one.name} {times(100 * observed / expected)}% of what is expected"
    return f"{one.name} {one.observed} where {one.expected} is expected"


def multiple(value: float, of: float) -> str:
    """How many times as much one is as the other; empty where no number helps."""
    return times(value / of) if of > 0 and _LEAST <= value / of < _MOST else ""
