"""The ids at both ends of the edges, looked up in those of the node table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph import checks as check
from egoscore.load.ids import BATCH, IdColumn, occurring, respelled, unify_types
from egoscore.load.table import is_text
from egoscore.notes import Note
from egoscore.progress import Advance, Bars, no_bars
from egoscore.text import counted, option

_MAX_TEXT = 2**31 - 1  # bytes of all distinct ids together, as Arrow has them


@dataclass(frozen=True)
class Joined:
    """The nodes and edges of two tables.

    Attributes:
        ids: (N,) text or int64, all different, those of the node table first, in its order.
        ends: sources and targets, (E,) int32 each, node numbers of the edges that are kept.
        kept: (rows of the edge table,) which of them; None for all.
        extra: how many nodes at the end are not in the node table.
    """

    ids: pa.Array
    ends: list[NDArray[np.int32]]
    kept: NDArray[np.bool_] | None = None
    extra: int = 0


def join_ends(ends: list[IdColumn], notes: list[Note], bars: Bars = no_bars) -> Joined:
    """The nodes named by the edges, if there is no node table; `ends` is emptied."""
    _refuse_missing_ends(ends)
    columns = unify_types(ends, False, notes)
    ends.clear()
    ids, rows, _ = _look_up(columns, [], bars)
    return Joined(ids, rows)


def join_tables(
    columns: list[IdColumn], keeps_extra: bool, notes: list[Note], bars: Bars = no_bars
) -> Joined:
    """The nodes of a table and, with `keeps_extra`, those that only the edges name.

    Without it these are dropped together with their edges: nothing is known of them. More than
    half of the edges must be left; with it, more than half of the sources or of the targets must
    be in the table. `columns` are source, target and the ids of the node table; the list is
    emptied.
    """
    _refuse_missing_ends(columns[:2])
    _refuse_bad_table_ids(columns[2])
    tables = columns[0].table_name, columns[2].table_name
    wheres = [column.where for column in columns[:2]]
    ends = unify_types(columns, True, notes)
    columns.clear()
    first = [ends.pop().values]
    size = len(first[0])
    every, joined, [of_table] = _look_up(ends, first, bars)
    if of_table[-1] != size - 1:  # some are the same: 12.0 and 12.00 may both have become 12
        check.ids(every.take(pa.array(of_table)).to_numpy(zero_copy_only=False), size)
    known, unknown = every.slice(0, size), _merge_respelled(every, size, joined, notes)
    if not len(unknown):
        _note_isolated(joined, size, tables[1], notes)
        return Joined(known, joined)
    fields = {"edges": tables[0], "nodes": tables[1], "count": len(unknown)}
    fields["example"] = unknown[0].as_py()
    if keeps_extra:
        if all(2 * np.count_nonzero(end >= size) > len(end) for end in joined):
            _refuse_mostly_unknown(joined, known, unknown, tables, wheres)
        notes.append(Note.info("nodes-without-row-kept", **fields))
        _note_isolated(joined, size, tables[1], notes)
        return Joined(pa.concat_arrays([known, unknown]), joined, extra=len(unknown))
    if 2 * np.count_nonzero((joined[0] >= size) | (joined[1] >= size)) > len(joined[0]):
        _refuse_mostly_unknown(joined, known, unknown, tables, wheres)
    kept: NDArray[np.bool_] = (joined[0] < size) & (joined[1] < size)
    lost = int(np.count_nonzero(~kept))
    notes.append(Note.warning("nodes-without-row-dropped", **fields, lost_edges=lost))
    joined = [end[kept] for end in joined]
    _note_isolated(joined, size, tables[1], notes)
    return Joined(known, joined, kept)


def _merge_respelled(
    every: pa.Array, size: int, ends: list[NDArray[np.int32]], notes: list[Note]
) -> pa.Array:
    """The ids beyond the first `size`, those of the table, without other spellings of these.

    Such ends are renumbered to those of the table.
    """
    unknown = every.slice(size)
    rows = respelled(unknown, every.slice(0, size))
    same = rows >= 0
    if not same.any():
        return unknown
    first = int(np.flatnonzero(same)[0])
    examples = {"example": unknown[first].as_py(), "known": every[int(rows[first])].as_py()}
    notes.append(Note.info("ids-respelled", count=int(same.sum()), **examples))
    left = np.where(same, rows, size + np.cumsum(~same) - 1)
    renumbered = np.concatenate([np.arange(size), left]).astype(np.int32)
    for end in ends:
        for start in range(0, len(end), BATCH):
            part = end[start : start + BATCH]
            part[:] = renumbered[part]
    return unknown.filter(pa.array(~same))


def _refuse_mostly_unknown(
    ends: list[NDArray[np.int32]],
    ids: pa.Array,
    unknown: pa.Array,
    tables: tuple[str, str],
    wheres: list[str],
) -> NoReturn:
    """Refuse ids that hardly match; if one end is to blame, name its column."""
    are_lost = [end >= len(ids) for end in ends]
    lost, count = int(np.count_nonzero(are_lost[0] | are_lost[1])), len(ends[0])
    shares = [float(is_lost.mean()) for is_lost in are_lost]
    worse = int(np.argmax(shares))
    if 2 * shares[1 - worse] <= 1:
        first = np.unique(ends[worse][are_lost[worse]][:BATCH]) - len(ids)
        some = unknown.take(pa.array(first[:2]))
        reason = f"most ids in {wheres[worse]} are missing, such as {_examples(some)}"
    else:
        reason = (
            f"the tables seem to use different ids ({_examples(unknown)} there, {_examples(ids)} "
            "here)"
        )
    raise InputError(
        f"{lost} of the {count} edges in {tables[0]} refer to nodes that are not in {tables[1]}; "
        f"{reason}; name the right columns with {option('source')}, {option('target')} and "
        f"{option('id')}, or add a row for every such node, whose other cells may be empty."
    )


def _look_up(
    ends: list[IdColumn], first: list[pa.Array], bars: Bars
) -> tuple[pa.Array, list[NDArray[np.int32]], list[NDArray[np.int32]]]:
    """The distinct ids, those in `first` before those of the ends, and rows of both as numbers.

    And the numbers of each array in `first`. All lists are emptied: of millions of ids nothing is
    kept once it is looked up.
    """
    columns = [*first, *(end.values for end in ends)]
    codes = [end.codes for end in ends]
    count = len(first)
    first.clear()
    ends.clear()
    total = sum(map(len, columns)) + sum(map(len, codes))
    with bars("Matching ids", total, "ids") as advance:
        ids, numbers = _distinct(columns, advance)
        rows = [_take(of_ids, codes.pop(0), advance) for of_ids in numbers[count:]]
    return ids, rows, numbers[:count]


def _distinct(
    columns: list[pa.Array], advance: Advance
) -> tuple[pa.Array, list[NDArray[np.int32]]]:
    """The distinct ids of several columns in order, and each column as numbers of these."""
    if is_text(columns[0].type) and sum(column.nbytes for column in columns) > _MAX_TEXT:
        raise InputError(f"At most {_MAX_TEXT + 1 >> 30} GB of different ids are supported.")
    sizes = [len(column) for column in columns]
    every = pa.concat_arrays(columns)
    columns.clear()
    encoded = every.dictionary_encode()
    advance(len(encoded))
    return encoded.dictionary, np.split(encoded.indices.to_numpy(), np.cumsum(sizes)[:-1])


def _take(
    numbers: NDArray[np.int32], codes: NDArray[np.int32], advance: Advance
) -> NDArray[np.int32]:
    """`numbers[codes]`, some at a time."""
    found = np.empty_like(codes)
    for start in range(0, len(codes), BATCH):
        part = slice(start, start + BATCH)
        found[part] = numbers[codes[part]]
        advance(len(found[part]))
    return found


def _refuse_missing_ends(ends: list[IdColumn]) -> None:
    for end in ends:
        row = end.first_missing()
        if row is not None:
            raise InputError(
                f"Row {row + 1} below the header has no id in {end.where}; fill it in or drop the "
                "row."
            )


def _refuse_bad_table_ids(ids: IdColumn) -> None:
    if not len(ids.codes):
        raise InputError(f"{ids.table_name} has no rows; leave it out or list the nodes in it.")
    empty = int(np.count_nonzero(ids.codes < 0))
    if empty:
        rows = counted(empty, "row")
        raise InputError(f"{ids.table_name} has {rows} without an id; fill them in or drop them.")
    if len(ids.values) < len(ids.codes):
        counts = np.bincount(ids.codes)
        most = int(counts.argmax())
        raise InputError(
            f"Node ids must be different; {ids.values[most].as_py()!r} occurs more than once, "
            f"{counts[most]} times, in {ids.where}; keep one row for each node."
        )


def _note_isolated(ends: list[NDArray[np.int32]], size: int, table: str, notes: list[Note]) -> None:
    most = max(int(end.max(initial=-1)) for end in ends)
    joined = occurring(max(size, most + 1), *ends)
    alone = size - int(np.count_nonzero(joined[:size]))
    if alone:
        notes.append(Note.info("isolated-nodes", table=table, count=alone))


def _examples(ids: pa.Array) -> str:
    return " and ".join(repr(value) for value in ids.slice(0, 2).to_pylist())
