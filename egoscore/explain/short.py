"""A cause in a few words, for a list."""

from __future__ import annotations

from egoscore.explain.explanation import Deviation
from egoscore.numerals import times

_LEAST, _MOST = 1.5, 1e4  # times as much: nearer to one, or farther, no number helps


def off(one: Deviation) -> str:
    """Which quantity is off, and which way."""
    if one.observed == "missing":
        return f"{one.name} missing"
    if one.kind in ("yes/no", "category", "missing"):
        return f"{one.name}: {one.observed}, not expected"
    if one.kind == "date":
        return f"{one.name} {'later' if one.size > 0 else 'earlier'} than expected"
    return f"{one.name} {_how_much(one)} what is expected"


def _how_much(one: Deviation) -> str:
    """As a multiple or a part where that can be said."""
    observed, expected = one.observed_value or 0.0, one.expected_value or 0.0
    if one.is_amount and (more := multiple(observed, expected)):
        return f"{more}x"
    if one.is_amount and multiple(expected, observed):
        return f"{times(100 * observed / expected)}% of"
    return "above" if one.size > 0 else "below"


def multiple(value: float, of: float) -> str:
    """How many times as much one is as the other; empty where no number helps."""
    return times(value / of) if of > 0 and _LEAST <= value / of < _MOST else ""
