"""Text of strangers made harmless: it may hold anything."""

from __future__ import annotations

from typing import Any

_JOINERS = "\u200c\u200d"  # they join or part letters, as in many scripts and in emoji


def printable(value: Any) -> str:
    """A value as one line of harmless text: control characters are spelled out."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _JOINERS else repr(c)[1:-1] for c in text)
