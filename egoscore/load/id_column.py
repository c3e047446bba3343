"""Which column of a node table holds the node ids."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from egoscore.errors import InputError
from egoscore.load.column_names import LIKELY_IDS, SURE_IDS, bare, find, known_pair
from egoscore.load.ids import IdColumn, comparable, read_ids
from egoscore.load.table import INDEX, Table
from egoscore.notes import Note
from egoscore.text import option

_MOSTLY = 0.5


def find_ids(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    ends: tuple[str, str],
    edges: list[IdColumn],
    given: str | None,
    notes: list[Note],
) -> tuple[str, IdColumn]:
    """The column of ids: given, known by its name, or the one that holds the ids of the edges.

    `ends` are the names of the edges' columns, `edges` their ids.
    """
    sure = sure_ids(loaded, table, given)
    if sure is not None:
        return sure, read_ids(loaded[sure], sure, table.name, notes)
    named = [c for n in (*LIKELY_IDS, *map(bare, ends)) for c in loaded if bare(c) == n]
    # the index of a data frame comes last: it is there whether or not it means anything
    others = sorted((c for c in loaded if c not in named), key=lambda c: c == INDEX)
    found = _best({name: loaded[name] for name in (*named, *others)}, table, edges)
    if found is None:
        raise InputError(
            f"{table.name} needs a column 'id' that names the nodes as the edges do in "
            f"'{ends[0]}' and '{ends[1]}'{_examples(edges)}, and no other column does; "
            f"{_advice(loaded, table, edges)}."
        )
    column = None if found[0] == INDEX else found[0]
    notes.append(Note.info("ids-guessed", table=table.name, column=column))
    return found


def sure_ids(columns: Collection[str], table: Table, given: str | None) -> str | None:
    """The one of these columns that is given as the ids, or known by its name."""
    if given is None:
        return next((c for n in SURE_IDS for c in columns if bare(c) == n), None)
    name = find("id", given, table)
    if name not in columns:
        both = f"{option('id')} and {option('ignore')}"
        raise InputError(f"{both} both name the column '{name}'; choose one.")
    return name


def _examples(edges: list[IdColumn]) -> str:
    some = dict.fromkeys(end.values[0].as_py() for end in edges if len(end.values))
    return f" ({' and '.join(repr(one) for one in some)})" if some else ""


def _advice(columns: dict[str, pa.ChunkedArray], table: Table, edges: list[IdColumn]) -> str:
    """What may be wrong with a table that names no nodes."""
    swapped = f"perhaps {option('edges')} and {option('nodes')} are swapped"
    if known_pair(list(columns)) is not None:
        return f"it has two ends of edges: {swapped}"
    ends = [comparable(*edges), *(comparable(end) for end in edges)]  # both, or one of them
    read = {name: _ids(column, name, table) for name, column in columns.items()}
    for wanted in ends:
        for name, ids in read.items():
            if ids is not None and _count(wanted, comparable(ids)) > len(wanted) / 2:
                flaw = _flaw(name, ids, swapped)
                if flaw is not None:
                    return flaw
    return (
        f"name it with {option('id')}, or name other ends with {option('source')} and "
        f"{option('target')}"
    )


def _flaw(name: str, ids: IdColumn, swapped: str) -> str | None:
    """What keeps a column that holds ids of the edges from naming nodes, if anything does."""
    times = np.bincount(ids.codes[ids.codes >= 0])
    if len(ids.values) == len(ids.codes):
        return None
    if times.max() == 1:
        return f"'{name}' would, but some of its cells are empty: fill in or drop such rows"
    again = ids.values[int(times.argmax())]
    if np.mean(times > 1) > _MOSTLY:
        return f"'{name}' would, but most ids occur several times, such as '{again}': {swapped}"
    return f"'{name}' would, but some ids occur twice, such as '{again}': drop such rows"


def _best(
    columns: dict[str, pa.ChunkedArray], table: Table, edges: list[IdColumn]
) -> tuple[str, IdColumn] | None:
    """The first column that holds more of the edges' ids than others do, and more than half."""
    wanted = comparable(*edges)
    best, most = None, len(wanted) / 2
    for name, column in columns.items():
        ids = distinct_ids(column, name, table)
        if ids is None:
            continue
        found = _count(wanted, comparable(ids))
        if found > most:
            best, most = (name, ids), found
        if found == len(wanted):
            break
    return best


def distinct_ids(
    column: pa.ChunkedArray, name: str, table: Table, repeats: float = 0.0
) -> IdColumn | None:
    """The column as ids if there are any and at most a share of them repeats others."""
    ids = _ids(column, name, table)
    differ = ids is not None and len(ids.values) >= (1.0 - repeats) * len(column)
    return ids if len(column) and differ else None


def _ids(column: pa.ChunkedArray, name: str, table: Table) -> IdColumn | None:
    """The column as ids, if it has a type that ids have."""
    try:
        return read_ids(column, name, table.name, [])
    except InputError:
        return None


def _count(wanted: pa.Array, known: pa.Array) -> int:
    return pc.sum(pc.is_in(wanted, value_set=known)).as_py() or 0
