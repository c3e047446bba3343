"""Where text may be broken into lines."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

_PIECE = re.compile(r".*?(?:[\s_/:=]|[-.,](?!\d))+|.+", re.DOTALL)  # numbers stay in one piece
_WHOLE = Markup('<span class="whole">{}</span>')


def unbroken(text: str, longest: int = 14) -> Markup:
    """Text that is broken between words, and within words only where these are longer."""
    if _width(text) <= longest:
        return _WHOLE.format(text)
    pieces = (_WHOLE.format(p) if _width(p) <= longest else escape(p) for p in _PIECE.findall(text))
    return Markup("<wbr>").join(pieces)


def _width(text: str) -> int:
    """In Latin letters: ideographs are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
