"""Ids of any type as text or whole numbers, the same on both sides.

The rules: text stays exactly as written ("007" is not 7). Only if every id of the edges and of the
node table is a whole number in its shortest form are all of them numbers; where numbers meet text,
they are compared as text. (What is then not in the node table may be in another writing:
`id_writing.py`.) All of it works on the different ids, not on the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.read.cells import all_match, any_match
from egoscore.read.table import decoded, is_text

AT_ONCE = 1 << 18  # rows that are looked up together: numpy widens their numbers
_AT_A_TIME = 1 << 14  # ids that are Python's for a moment
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_POINT_ZERO = r"^(0|-?[1-9][0-9]{0,17})\.0+$"


@dataclass(frozen=True)
class IdColumn:
    """A column of ids: `values` are the different ones (int64 or text), `codes` (rows,) which.

    `codes` is -1 where the cell is empty; `where` is what messages call the column. The values of
    an edge's target may have those of the source in front, whether or not it has them itself.
    """

    where: str
    values: pa.Array
    codes: NDArray[np.int32]

    @property
    def has_numbers(self) -> bool:
        """Whether its ids are whole numbers by type."""
        return bool(pa.types.is_int64(self.values.type))

    def first_missing(self) -> int | None:
        """The first row without an id."""
        empty = np.flatnonzero(self.codes < 0)
        return int(empty[0]) if len(empty) else None


def read_ids(column: pa.ChunkedArray, name: str, table: str, notes: list[str]) -> IdColumn:
    """A column of a table as ids."""
    return used(_as_it_is(column, name, table, notes))


def read_ends(
    columns: Mapping[str, pa.ChunkedArray], table: str, notes: list[str]
) -> list[IdColumn]:
    """The columns of both ends of the edges, by name, as ids.

    Where they were coded together, they stay so: of millions of ids there is no second copy.
    """
    source, target = (_as_it_is(column, name, table, notes) for name, column in columns.items())
    if starts_with(target.values, source.values) and _all_occur(source, target):
        return [source, target]
    return [used(source), used(target)]


def _as_it_is(column: pa.ChunkedArray, name: str, table: str, notes: list[str]) -> IdColumn:
    """A column of a table as ids, perhaps with some that no row has, and with empty ones."""
    where = f"column '{name}' of {table}"
    plain = _plain(column, where, notes)
    # encoded here, all chunks share one dictionary; as it came, each has its own
    is_coded = pa.types.is_dictionary(plain.type)
    chunks = (plain.unify_dictionaries() if is_coded else plain.dictionary_encode()).chunks
    if not chunks:
        return IdColumn(where, pa.array([], pa.string()), np.empty(0, np.int32))
    values = chunks[0].dictionary
    values = values.cast(pa.string()) if is_text(values.type) else values
    pieces = [_numbers(chunk.indices.cast(pa.int32())) for chunk in chunks]
    return IdColumn(where, values, pieces[0] if len(pieces) == 1 else np.concatenate(pieces))


def _numbers(codes: pa.Array) -> NDArray[np.int32]:
    """Codes, -1 where there is none; not copied where there is no such."""
    full = codes.fill_null(-1) if codes.null_count else codes
    numbers: NDArray[np.int32] = full.to_numpy()
    return numbers


def _plain(column: pa.ChunkedArray, where: str, notes: list[str]) -> pa.ChunkedArray:
    """The column as int64, text, or text by code."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        if kind.value_type == pa.string():
            return column
        return _plain(decoded(column), where, notes)
    if is_text(kind):
        return column
    if pa.types.is_integer(kind):
        return _cast_or(column, pa.int64(), pa.string())
    if pa.types.is_floating(kind):
        known = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        whole = _cast_or(known, pa.int64(), pa.string())
        if pa.types.is_integer(whole.type):
            notes.append(f"The ids in {where} are whole numbers kept as decimals, read as 12.")
        return whole
    if pa.types.is_temporal(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.string())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    raise InputError(
        f"The ids in {where} are of type {kind}; turn them into text or whole numbers."
    )


def _cast_or(column: pa.ChunkedArray, kind: pa.DataType, other: pa.DataType) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return column.cast(other)


def as_names(values: pa.Array) -> NDArray[Any]:
    """Ids as a network has them: int64, or numpy's text, a fraction of what Python's takes."""
    if not is_text(values.type):
        numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return numbers
    names = np.empty(len(values), dtype=np.dtypes.StringDType())
    for start in range(0, len(values), _AT_A_TIME):
        part = values.slice(start, _AT_A_TIME)
        names[start : start + _AT_A_TIME] = part.to_numpy(zero_copy_only=False)
    return names


def starts_with(values: pa.Array, others: pa.Array) -> bool:
    """Whether the first of `values` are the others."""
    return bool(values.slice(0, len(others)).equals(others))


def occurring(size: int, *codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the numbers below `size` occur; -1 is none of them."""
    occurs = np.zeros(size + 1, dtype=bool)
    for some in codes:
        for start in range(0, len(some), AT_ONCE):
            occurs[some[start : start + AT_ONCE]] = True
    return occurs[:size]


def _is_something(values: pa.Array) -> NDArray[np.bool_]:
    """Which ids are not empty."""
    if not is_text(values.type):
        return np.ones(len(values), dtype=bool)
    which: NDArray[np.bool_] = pc.not_equal(pc.fill_null(values, ""), "").to_numpy(
        zero_copy_only=False
    )
    return which


def _all_occur(source: IdColumn, target: IdColumn) -> bool:
    """Whether each of the target's values is at one of the ends, and none is empty."""
    occurs = occurring(len(target.values), source.codes, target.codes)
    return bool(occurs.all() and _is_something(target.values).all())


def used(ids: IdColumn) -> IdColumn:
    """Without ids that no row has (categories may have such), and with empty text as missing."""
    keep = occurring(len(ids.values), ids.codes) & _is_something(ids.values)
    if keep.all():
        return ids
    new = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1).astype(np.int32)
    return replace(ids, values=ids.values.filter(pa.array(keep)), codes=new[ids.codes])


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
