"""Cells of text: without space around them, those that hold nothing, patterns they match."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

SPACE = "[ \u00a0\u202f]"
EXPORTED = r"\N"  # what databases write where nothing is, and nobody else
# What stands in cells that hold nothing, where the others hold numbers, dates or yes and no.
MISSING = (
    *("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "-", "--", "?"),
    *("k.a.", "missing", "not available", "unknown", EXPORTED.lower()),
)


def bare_cells(cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Text without surrounding space, and which of it means that nothing is there."""
    trimmed = pc.utf8_trim_whitespace(cells)
    tokens = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING))
    return trimmed, pc.or_(tokens, pc.is_null(trimmed)).to_numpy(zero_copy_only=False)


def matches(text: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which of the text matches; none of it may be missing."""
    found: Any = pc.match_substring_regex(text, pattern)
    which: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return which


def all_match(text: pa.Array, pattern: str) -> bool:
    """Whether there is text and all of it matches."""
    if not len(text):
        return False
    # most text is told from numbers by its first few
    return all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py()
        for part in (text.slice(0, 100), text)
    )


def any_match(text: pa.Array, pattern: str) -> bool:
    """Whether any of the text matches."""
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())
