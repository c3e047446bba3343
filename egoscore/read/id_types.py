"""Ids of several columns as one type, so that the same id is the same everywhere.

The rules: text stays exactly as written ("007" is not 7). Only if every id of the edges and of the
node table is a whole number in its shortest form are all of them numbers; where numbers meet text,
they are compared as text. (What is then not in the node table may be in another writing:
`id_writing.py`.) All of it works on the different ids, not on the rows.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from egoscore.read.cells import all_match, any_match
from egoscore.read.ids import AT_ONCE, IdColumn, used
from egoscore.read.table import is_text

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_POINT_ZERO = r"^(0|-?[1-9][0-9]{0,17})\.0+$"


def settle(columns: list[IdColumn], has_table: bool, notes: list[str]) -> list[IdColumn]:
    """The same columns with ids of one type: those of both ends, then those of the node table."""
    if not all(_is_tidy(column.values) for column in columns):
        columns = [used(column) for column in columns]  # what follows is decided column by column
        columns = _trimmed(_without_point_zero(columns, notes), has_table, notes)
    present = [column for column in columns if len(column.values)]
    if all(column.has_numbers or all_match(column.values, _WHOLE) for column in present):
        return [replace(column, values=column.values.cast(pa.int64())) for column in columns]
    return [replace(column, values=column.values.cast(pa.string())) for column in columns]


def _is_tidy(values: pa.Array) -> bool:
    """Whether no id has space around it or ends in .0."""
    if not is_text(values.type):
        return True
    return not any_match(values, r"\.0$") and _is_trimmed(values)


def _is_trimmed(values: pa.Array) -> bool:
    parts = (values.slice(start, AT_ONCE) for start in range(0, len(values), AT_ONCE))
    return all(pc.utf8_trim_whitespace(part).equals(part) for part in parts)


def _without_point_zero(columns: list[IdColumn], notes: list[str]) -> list[IdColumn]:
    """12.0 as 12 where a whole column is like that and another is not.

    Pandas writes whole numbers so once a cell of the column was missing. Where another column has
    12.0 as well, that is its name.
    """
    if not any(c.has_numbers or all_match(c.values, _WHOLE) for c in columns):
        return columns
    result = []
    for column in columns:
        others = [other.values for other in columns if other is not column]
        if (
            not column.has_numbers
            and all_match(column.values, _POINT_ZERO)
            and not any(_count_in(column.values, other.cast(pa.string())) for other in others)
        ):
            shorter = pc.replace_substring_regex(column.values, r"\.0+$", "")
            column = replace(column, values=shorter)
            notes.append(f"The ids in {column.where} end in .0 and are read without it.")
        result.append(column)
    return result


def _trimmed(columns: list[IdColumn], has_table: bool, notes: list[str]) -> list[IdColumn]:
    """Without space around ids, but only if that is what makes them match."""
    before = [column.values.cast(pa.string()) for column in columns]
    if all(map(_is_trimmed, before)):
        return columns
    after = [pc.utf8_trim_whitespace(values) for values in before]
    if any(pc.any(pc.equal(values, "")).as_py() for values in after):  # an id of nothing but space
        return columns
    matters = _matches_table if has_table else _matches_ends
    if not matters(before, after):
        return columns
    notes.append("Ids match only without the space around them, so it is left out.")
    return [replace(c, values=values) for c, values in zip(columns, after, strict=True)]


def _matches_table(before: list[pa.Array], after: list[pa.Array]) -> bool:
    """Whether more ends are in the node table without space, and its ids are still different."""
    if len(pc.unique(after[-1])) < len(after[-1]):
        return False
    found = [sum(_count_in(ends, texts[-1]) for ends in texts[:-1]) for texts in (before, after)]
    return found[1] > found[0]


def _matches_ends(before: list[pa.Array], after: list[pa.Array]) -> bool:
    """Whether a whole column has space, as in `a, b`, and shares ids with the other without it."""
    is_padded = any(
        pc.all(pc.not_equal(a, b)).as_py() for a, b in zip(before, after, strict=True) if len(a)
    )
    return is_padded and _count_in(*after) > _count_in(*before)


def _count_in(values: pa.Array, known: pa.Array) -> int:
    return pc.sum(pc.is_in(values, value_set=known)).as_py() or 0
