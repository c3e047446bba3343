"""Text of strangers made harmless: it may hold anything."""

from __future__ import annotations

from typing import Any

# They join or part letters, or say which way these run, and cannot reorder anything around them.
_JOINERS = "\u200c\u200d\u200e\u200f"


def printable(value: Any) -> str:
    """A value as one line of harmless text: control characters are spelled out."""
    return "".join(c if c.isprintable() or c in _JOINERS else repr(c)[1:-1] for c in str(value))
