"""Values as short text for a page: nothing that a table holds may break its layout."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import numpy as np

from egoscore.numerals import numeral
from egoscore.printable import printable

_CUT = "…"


def brief(value: Any, limit: int = 60) -> str:
    """A value as at most `limit` harmless characters; of longer ones the middle is left out."""
    text = str(value)
    if len(text) > 2 * limit:  # before what may be long is spelled out
        text = text[:limit] + text[-limit:]
        return _middle_cut(printable(text), limit)
    text = printable(text)
    return text if len(text) <= limit else _middle_cut(text, limit)


def label(value: Any, width: int) -> str:
    """A value in the room of about `width` Latin letters; ideographs take twice as much."""
    text = brief(value, width)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return brief(value, max(2, width // 2)) if len(text) + wide > width else text


def number(value: Any) -> str:
    """A number as four digits tell it."""
    if value is None or math.isnan(value):
        return "–"  # noqa: RUF001
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"  # noqa: RUF001
    return numeral(value)


def shown(value: Any, limit: int = 60) -> str:
    """A value of the user's tables, not rounded more than a reader would."""
    if value is None:
        return number(value)
    if not isinstance(value, float):
        return brief(value, limit)
    with np.errstate(over="ignore"):
        single = np.float32(value)
    is_exact = float(single) == value
    # where single precision is all there is, the digits beyond are those of rounding
    return f"{float(str(single)) if is_exact else value:.10g}"


def signed(value: float) -> str:
    """A number with its sign."""
    return f"+{number(value)}" if value > 0 else number(value)


def percent(value: float) -> str:
    """A percentile, never rounded up: 99.9 is not 100."""
    if math.isnan(value):
        return number(value)
    digits = 0 if value < 99 else 1
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def _middle_cut(text: str, limit: int) -> str:
    tail = (limit - 1) // 3
    return text[: limit - 1 - tail] + _CUT + text[len(text) - tail :]
