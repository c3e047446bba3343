"""Cells of text: without space around them, those that hold nothing, patterns they match."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_AT_ONCE = 1 << 16
SPACE = "[ \u00a0\u202f]"
EXPORTED = r"\N"  # what databases write where nothing is, and nobody else
# What stands in cells that hold nothing, where the others hold numbers, dates or yes and no.
MISSING = (
    *("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "-", "--", "?"),
    *("k.a.", "missing", "not available", "unknown", EXPORTED.lower()),
)


def bare_cells(cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """What cells of text hold, without space around it, and which of them (N,) hold nothing.

    Some at a time, and what needs no change is not copied: there may be millions.
    """
    starts = range(0, max(len(cells), 1), _AT_ONCE)
    parts, are_missing = zip(*(_bare(cells.slice(s, _AT_ONCE)) for s in starts), strict=True)
    is_as_it_was = all(part is None for part in parts)
    pairs = zip(starts, parts, strict=True)
    held = (cells.slice(s, _AT_ONCE) if part is None else part for s, part in pairs)
    return cells if is_as_it_was else pa.concat_arrays(held), np.concatenate(are_missing)


def _bare(cells: pa.Array) -> tuple[pa.Array | None, NDArray[np.bool_]]:
    """The same of a few; None where they hold just what is written."""
    trimmed = pc.utf8_trim_whitespace(cells)
    tokens = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING))
    is_missing = pc.or_(tokens, pc.is_null(trimmed)).to_numpy(zero_copy_only=False)
    if not is_missing.any() and trimmed.equals(cells):
        return None, is_missing
    return trimmed.filter(pa.array(~is_missing)), is_missing


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
