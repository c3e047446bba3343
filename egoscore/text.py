"""Numbers, names and other values as text, in one style for messages, tables and pages."""

from __future__ import annotations

import math
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from typing import Any

import numpy as np

_HUGE = 1e15
_CUT = "…"
_JOINERS = "\u200c\u200d"  # zero-width (non-)joiners, needed in many scripts and in emoji
_MOST_LETTERS, _AT_LEAST = 240, 3  # letters and number of names in a sentence
_on_command_line = ContextVar("on_command_line", default=False)


def numeral(value: float, digits: int = 4) -> str:
    """A number with `digits` significant digits and commas; large ones are rounded to integers."""
    value += 0.0  # minus zero is zero
    is_large = 10**digits - 0.5 <= abs(value) < _HUGE
    return f"{value:,.0f}" if is_large else f"{value:,.{digits}g}"


def times(ratio: float) -> str:
    """A ratio with two significant digits; from 10 on rounded to an integer."""
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.2g}"


def counted(count: int, thing: str) -> str:
    """A number of things: 1 trial, 2 trials."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """Words in a row: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def are(count: int) -> str:
    """The verb that agrees with a number of things."""
    return "is" if count == 1 else "are"


def quoted(names: Sequence[str], most: int = 12) -> str:
    """Names in quotes; if there are many or long ones, the first few and the number of others."""
    ends = accumulate(len(name) for name in names)
    room = sum(end <= _MOST_LETTERS for end in ends)
    count = min(most, max(_AT_LEAST, room))
    shown = ", ".join(f"'{name}'" for name in names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"


def option(name: str, value: str | None = None) -> str:
    """A parameter as the user writes it: `impute='median'`, or --impute median in a shell."""
    if _on_command_line.get():
        written = f"--{name.replace('_', '-')}"
        return written if value is None else f"{written} {shlex.quote(value)}"
    return f"`{name}=`" if value is None else f"`{name}={value!r}`"


@contextmanager
def command_line_options() -> Iterator[None]:
    """Within this context, `option` writes parameters as command-line options."""
    token = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(token)


def printable(value: Any) -> str:
    """A value as one line of text with control characters spelled out."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else repr(c)[1:-1] for c in text)


def encodable(value: Any) -> str:
    """A value as text in which what is not valid Unicode is spelled out."""
    return str(value).encode("utf-8", "backslashreplace").decode()


def brief(value: Any, limit: int = 60) -> str:
    """A value as at most `limit` printable characters; longer text loses its middle."""
    text = str(value)
    if len(text) > 2 * limit:  # cut first: `printable` is slow on long text
        text = text[:limit] + text[-limit:]
        return _middle_cut(printable(text), limit)
    text = printable(text)
    return text if len(text) <= limit else _middle_cut(text, limit)


def label(value: Any, width: int) -> str:
    """A value shortened to the width of `width` Latin letters; ideographs are twice as wide."""
    text = brief(value, width)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return brief(value, max(2, width // 2)) if len(text) + wide > width else text


def number(value: Any) -> str:
    """A number with four significant digits; a dash for None and NaN."""
    if value is None or math.isnan(value):
        return "–"  # noqa: RUF001
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"  # noqa: RUF001
    return numeral(value)


def shown(value: Any, limit: int = 60) -> str:
    """A value from the user's tables, at full precision but without float noise."""
    if value is None:
        return number(value)
    if not isinstance(value, float):
        return brief(value, limit)
    with np.errstate(over="ignore"):
        single = np.float32(value)
    is_exact = float(single) == value
    # digits beyond single precision are rounding errors
    return f"{float(str(single)) if is_exact else value:.10g}"


def signed(value: float) -> str:
    """A number with its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def percent(value: float) -> str:
    """A percentile, rounded down so that 99.99 does not become 100."""
    if math.isnan(value):
        return number(value)
    digits = 0 if value < 99 else 1
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def _middle_cut(text: str, limit: int) -> str:
    tail = (limit - 1) // 3
    return text[: limit - 1 - tail] + _CUT + text[len(text) - tail :]
