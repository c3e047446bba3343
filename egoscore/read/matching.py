"""Which rows the edges join: the ids of both ends looked up in those of the node table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.bars import Advance, Bars, no_bars
from egoscore.errors import InputError
from egoscore.graph import check
from egoscore.numerals import counted
from egoscore.read.id_types import settle
from egoscore.read.id_writing import WAYS, found_in
from egoscore.read.ids import AT_ONCE, IdColumn, occurring, starts_with
from egoscore.read.table import is_text
from egoscore.read.text_codes import TextCodes


@dataclass(frozen=True)
class Matched:
    """The nodes and edges of two tables.

    Attributes:
        ids: (N,) text or int64, all different, those of the node table first, in its order.
        ends: sources and targets, (E,) int32 each, row numbers of the edges that are kept.
        kept: (rows of the edge table,) which of them; None for all.
        extra: how many nodes at the end are in no table.
    """

    ids: pa.Array
    ends: list[NDArray[np.int32]]
    kept: NDArray[np.bool_] | None = None
    extra: int = 0


def match_ends(ends: list[IdColumn], notes: list[str], bars: Bars = no_bars) -> Matched:
    """The nodes that the edges name, when no table does; `ends` are used up."""
    _refuse_missing_ends(ends)
    settled = settle(ends, False, notes)
    ends.clear()
    ids, rows, _ = _joined(settled, [], bars)
    return Matched(ids, rows)


def match_table(
    columns: list[IdColumn],
    tables: tuple[str, str],
    keeps_extra: bool,
    notes: list[str],
    bars: Bars = no_bars,
) -> Matched:
    """The nodes of a table and, with `keeps_extra`, those that only the edges name.

    Without it these are left out together with their edges: nothing is known of them. `columns`
    are source, target and the ids of the table, and used up; `tables` are the names of both, edges
    first.
    """
    _refuse_missing_ends(columns[:2])
    _refuse_bad_table_ids(columns[2], tables[1])
    wheres = [column.where for column in columns[:2]]
    ends = settle(columns, True, notes)
    columns.clear()
    first = [ends.pop().values]
    size = len(first[0])
    every, joined, [of_table] = _joined(ends, first, bars)
    if of_table[-1] != size - 1:  # some are the same: 12.0 and 12.00 may both have become 12
        check.ids(every.take(pa.array(of_table)).to_numpy(zero_copy_only=False), size)
    known, unknown = every.slice(0, size), _without_rewritten(every, size, joined, notes)
    if not len(unknown):
        _note_isolated(joined, size, tables, notes)
        return Matched(known, joined)
    if keeps_extra:
        notes.append(f"{_only_in_edges(unknown, tables)}: kept, with all features filled in.")
        _note_isolated(joined, size, tables, notes)
        return Matched(pa.concat_arrays([known, unknown]), joined, extra=len(unknown))
    _refuse_mostly_unknown(joined, known, unknown, tables, wheres)
    return _without_unknown(joined, known, unknown, tables, notes)


def _without_rewritten(
    every: pa.Array, size: int, ends: list[NDArray[np.int32]], notes: list[str]
) -> pa.Array:
    """The ids beyond the first `size`, those of a table, without those it has in another writing.

    Ends that name these name the table's then.
    """
    unknown = every.slice(size)
    rows = found_in(unknown, every.slice(0, size))
    same = rows >= 0
    if not same.any():
        return unknown
    first = int(np.flatnonzero(same)[0])
    notes.append(
        f"{counted(int(same.sum()), 'id')} of the edges match only without regard to {WAYS}, such "
        f"as {unknown[first].as_py()!r} for {every[int(rows[first])].as_py()!r}: taken as the same."
    )
    left = np.where(same, rows, size + np.cumsum(~same) - 1)
    renumbered = np.concatenate([np.arange(size), left]).astype(np.int32)
    for end in ends:
        for start in range(0, len(end), AT_ONCE):
            part = end[start : start + AT_ONCE]
            part[:] = renumbered[part]
    return unknown.filter(pa.array(~same))


def _refuse_mostly_unknown(
    ends: list[NDArray[np.int32]],
    ids: pa.Array,
    unknown: pa.Array,
    tables: tuple[str, str],
    wheres: list[str],
) -> None:
    """Refuse edges of which most are lost; where one end is to blame, that one is named."""
    are_lost = [end >= len(ids) for end in ends]
    lost, count = int(np.count_nonzero(are_lost[0] | are_lost[1])), len(ends[0])
    if 2 * lost <= count:
        return
    shares = [float(is_lost.mean()) for is_lost in are_lost]
    worse = int(np.argmax(shares))
    if 2 * shares[1 - worse] <= 1:
        first = np.unique(ends[worse][are_lost[worse]][:AT_ONCE]) - len(ids)
        some = unknown.take(pa.array(first[:2]))
        known = f"most of those in {wheres[worse]} are not, such as {_examples(some)}"
    else:
        known = (
            f"the ids seem not to be the same ({_examples(unknown)} there, {_examples(ids)} here)"
        )
    raise InputError(
        f"{lost} of the {count} edges in {tables[0]} name nodes that are not in {tables[1]}; "
        f"{known}; name the right columns with --source, --target and --id, or keep such nodes "
        "with --impute median."
    )


def _without_unknown(
    ends: list[NDArray[np.int32]],
    ids: pa.Array,
    unknown: pa.Array,
    tables: tuple[str, str],
    notes: list[str],
) -> Matched:
    kept: NDArray[np.bool_] = (ends[0] < len(ids)) & (ends[1] < len(ids))
    lost = int(np.count_nonzero(~kept))
    notes.append(
        f"{_only_in_edges(unknown, tables)}: left out with {counted(lost, 'edge')}; --impute "
        "median keeps them."
    )
    ends = [end[kept] for end in ends]
    _note_isolated(ends, len(ids), tables, notes)
    return Matched(ids, ends, kept)


def _only_in_edges(unknown: pa.Array, tables: tuple[str, str]) -> str:
    return (
        f"{counted(len(unknown), 'node')} of {tables[0]}, for instance {unknown[0].as_py()!r}, "
        f"{_is(len(unknown))} not in {tables[1]}"
    )


def _joined(
    ends: list[IdColumn], first: list[pa.Array], bars: Bars
) -> tuple[pa.Array, list[NDArray[np.int32]], list[NDArray[np.int32]]]:
    """The different ids, those that come `first` and then those of the ends.

    And the rows of both ends, and of each of the first. What is given is used up: of millions of
    ids nothing is kept once it is looked up.
    """
    source, target = (end.values for end in ends)
    codes = [end.codes for end in ends]
    ends.clear()
    columns = [*first, target] if starts_with(target, source) else [*first, source, target]
    del source, target
    if len(columns) == 1:
        return columns[0], codes, []
    count = len(first)
    first.clear()
    total = sum(map(len, columns)) + sum(map(len, codes))
    with bars("Matching ids", total, "ids") as advance:
        ids, numbers = _numbers(columns, advance)
        of_ends = numbers[count], numbers[-1]
        rows = [_looked_up(of_ids, codes.pop(0), advance) for of_ids in of_ends]
    return ids, rows, numbers[:count]


def _looked_up(
    numbers: NDArray[np.int32], codes: NDArray[np.int32], advance: Advance
) -> NDArray[np.int32]:
    """The numbers that codes stand for."""
    found = np.empty_like(codes)
    for start in range(0, len(codes), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        found[part] = numbers[codes[part]]
        advance(len(found[part]))
    return found


def _numbers(columns: list[pa.Array], advance: Advance) -> tuple[pa.Array, list[NDArray[np.int32]]]:
    """The different ids of several columns in the order they come, and the numbers of each.

    The columns are used up.
    """
    sizes = [len(column) for column in columns]
    if not is_text(columns[0].type):
        every = pa.concat_arrays(columns).dictionary_encode()
        advance(len(every))
        return every.dictionary, np.split(every.indices.to_numpy(), np.cumsum(sizes)[:-1])
    texts = TextCodes()  # in less memory than Arrow needs
    numbers = [np.empty(size, dtype=np.int32) for size in sizes]
    for of_ids in numbers:
        texts.encode(columns.pop(0), of_ids)
        advance(len(of_ids))
    return texts.values(), numbers


def _refuse_missing_ends(ends: list[IdColumn]) -> None:
    for end in ends:
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
    ends: list[NDArray[np.int32]], size: int, tables: tuple[str, str], notes: list[str]
) -> None:
    most = max(int(end.max(initial=-1)) for end in ends)
    joined = occurring(max(size, most + 1), *ends)
    alone = size - int(np.count_nonzero(joined[:size]))
    if alone:
        notes.append(f"{counted(alone, 'node')} of {tables[1]} {_has(alone)} no edge: kept.")


def _examples(ids: pa.Array) -> str:
    return " and ".join(repr(value) for value in ids.slice(0, 2).to_pylist())


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
