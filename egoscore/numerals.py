"""Numbers as people write them: one style for everything that is told."""

from __future__ import annotations

_HUGE = 1e15


def numeral(value: float, digits: int = 4) -> str:
    """Significant `digits`, commas between thousands; of large numbers all before the point."""
    value += 0.0  # minus zero is zero
    is_large = 10**digits - 0.5 <= abs(value) < _HUGE
    return f"{value:,.0f}" if is_large else f"{value:,.{digits}g}"


def times(ratio: float) -> str:
    """How many times as much: two digits, or all before the point."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.2g}"


def counted(count: int, thing: str) -> str:
    """A number of things: 1 trial, 2 trials."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def are(count: int) -> str:
    """The verb for a number of things."""
    return "is" if count == 1 else "are"
