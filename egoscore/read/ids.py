"""Columns of ids of any type: the different ones, text or whole numbers, and the rows by code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.read.table import decoded, is_text

AT_ONCE = 1 << 18  # rows that are looked up together: numpy widens their numbers
_AT_A_TIME = 1 << 14  # ids that are Python's for a moment


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
