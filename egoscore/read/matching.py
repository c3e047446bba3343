"""Which rows the edges join: the ids of both ends looked up in those of the node table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.numerals import counted
from egoscore.read.ids import IdColumn, settle


@dataclass(frozen=True)
class Matched:
    """The nodes and edges of two tables.

    Attributes:
        ids: (N,) text or int64, those of the node table first, in its order.
        ends: (2, E) int32, row numbers of the edges that are kept.
        kept: (rows of the edge table,) which of them; None for all.
        extra: how many nodes at the end are in no table.
    """

    ids: NDArray[Any]
    ends: NDArray[np.int32]
    kept: NDArray[np.bool_] | None = None
    extra: int = 0


def match_ends(source: IdColumn, target: IdColumn, notes: list[str]) -> Matched:
    """The nodes that the edges name, when no table does."""
    _refuse_missing_ends(source, target)
    source, target = settle([source, target], False, notes)
    ids = pc.unique(pa.chunked_array([source.values, target.values]))
    ends = np.stack([_rows(end, ids)[end.codes] for end in (source, target)])
    return Matched(_as_numpy(ids), ends)


def match_table(
    source: IdColumn,
    target: IdColumn,
    table_ids: IdColumn,
    tables: tuple[str, str],
    keeps_extra: bool,
    notes: list[str],
) -> Matched:
    """The nodes of a table and, with `keeps_extra`, those that only the edges name.

    Without it these are left out together with their edges: nothing is known of them. `tables`
    are the names of both, edges first.
    """
    _refuse_missing_ends(source, target)
    _refuse_bad_table_ids(table_ids, tables[1])
    source, target, table_ids = settle([source, target, table_ids], True, notes)
    ids = table_ids.values
    found = [_rows(end, ids) for end in (source, target)]
    unknown = _unknown(source, target, found)
    if not len(unknown):
        ends = np.stack(
            [rows[end.codes] for rows, end in zip(found, (source, target), strict=True)]
        )
        _note_isolated(ends, len(ids), tables, notes)
        return Matched(_as_numpy(ids), ends)
    if keeps_extra:
        return _with_extra(source, target, ids, unknown, tables, notes)
    return _without_unknown(source, target, ids, found, unknown, tables, notes)


def _with_extra(
    source: IdColumn,
    target: IdColumn,
    ids: pa.Array,
    unknown: pa.Array,
    tables: tuple[str, str],
    notes: list[str],
) -> Matched:
    every = pa.concat_arrays([ids, unknown])
    ends = np.stack([_rows(end, every)[end.codes] for end in (source, target)])
    notes.append(
        f"{counted(len(unknown), 'node')} of {tables[0]}, for instance {unknown[0].as_py()!r}, "
        f"{_is(len(unknown))} not in {tables[1]}: kept, with all features filled in."
    )
    _note_isolated(ends, len(ids), tables, notes)
    return Matched(_as_numpy(every), ends, extra=len(unknown))


def _without_unknown(
    source: IdColumn,
    target: IdColumn,
    ids: pa.Array,
    found: list[NDArray[np.int32]],
    unknown: pa.Array,
    tables: tuple[str, str],
    notes: list[str],
) -> Matched:
    ends = np.stack([rows[end.codes] for rows, end in zip(found, (source, target), strict=True)])
    kept: NDArray[np.bool_] = np.all(ends >= 0, axis=0)
    lost = int(np.count_nonzero(~kept))
    if 2 * lost > len(kept):
        raise InputError(
            f"{lost} of the {len(kept)} edges in {tables[0]} name nodes that are not in "
            f"{tables[1]}; the ids seem not to be the same ({_examples(unknown)} there, "
            f"{_examples(ids)} here); name the right columns with --source, --target and --id, or "
            "keep such nodes with --impute median."
        )
    notes.append(
        f"{counted(len(unknown), 'node')} of {tables[0]}, for instance {unknown[0].as_py()!r}, "
        f"{_is(len(unknown))} not in {tables[1]}: left out with {counted(lost, 'edge')}; --impute "
        "median keeps them."
    )
    ends = ends[:, kept]
    _note_isolated(ends, len(ids), tables, notes)
    return Matched(_as_numpy(ids), ends, kept)


def _rows(end: IdColumn, ids: pa.Array) -> NDArray[np.int32]:
    """For every different id its row, -1 if it has none."""
    rows = pc.index_in(end.values, value_set=ids).fill_null(-1)
    found: NDArray[np.int32] = rows.to_numpy(zero_copy_only=False)
    return found


def _unknown(source: IdColumn, target: IdColumn, found: list[NDArray[np.int32]]) -> pa.Array:
    missing = [
        end.values.filter(pa.array(rows < 0))
        for end, rows in zip((source, target), found, strict=True)
    ]
    return pc.unique(pa.chunked_array(missing))


def _refuse_missing_ends(source: IdColumn, target: IdColumn) -> None:
    for end in (source, target):
        row = end.first_missing()
        if row is not None:
            raise InputError(
                f"Row {row + 1} below the names has no id in {end.where}; fill it in or drop the "
                "row."
            )


def _refuse_bad_table_ids(ids: IdColumn, nodes: str) -> None:
    if not len(ids.codes):
        raise InputError(f"{nodes} has no rows; leave it out or name the nodes in it.")
    empty = int(np.count_nonzero(ids.codes < 0))
    if empty:
        raise InputError(f"{nodes} has {counted(empty, 'row')} without an id; name or drop them.")
    if len(ids.values) < len(ids.codes):
        counts = np.bincount(ids.codes)
        most = int(counts.argmax())
        raise InputError(
            f"Node ids must be different; {ids.values[most].as_py()!r} occurs more than once, "
            f"{counts[most]} times, in {ids.where}; keep one row for each node."
        )


def _note_isolated(
    ends: NDArray[np.int32], size: int, tables: tuple[str, str], notes: list[str]
) -> None:
    joined = np.zeros(max(size, int(ends.max(initial=-1)) + 1), dtype=bool)
    joined[ends] = True
    alone = size - int(np.count_nonzero(joined[:size]))
    if alone:
        notes.append(f"{counted(alone, 'node')} of {tables[1]} {_has(alone)} no edge: kept.")


def _as_numpy(ids: pa.Array) -> NDArray[Any]:
    array: NDArray[Any] = ids.to_numpy(zero_copy_only=False)
    return array


def _examples(ids: pa.Array) -> str:
    return " and ".join(repr(value) for value in ids.slice(0, 2).to_pylist())


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
