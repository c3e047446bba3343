"""Which column of a node table names the nodes."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from egoscore.errors import InputError
from egoscore.read.ids import IdColumn, read_ids
from egoscore.read.names import LIKELY_IDS, SURE_IDS, bare, find
from egoscore.read.table import INDEX, Table


def find_ids(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    ends: tuple[str, str],
    edges: tuple[IdColumn, IdColumn],
    given: str | None,
    notes: list[str],
) -> tuple[str, IdColumn]:
    """The column of ids: given, known by its name, or the one that holds the ids of the edges.

    `ends` are the names of the edges' columns, `edges` their ids.
    """
    if given is not None:
        name = find("id", given, table)
        if name not in loaded:
            raise InputError(f"--id and --ignore both name the column '{name}'; choose one.")
        return name, read_ids(loaded[name], name, table.name, notes)
    sure = next((c for n in SURE_IDS for c in loaded if bare(c) == n), None)
    if sure is not None:
        return sure, read_ids(loaded[sure], sure, table.name, notes)
    named = [c for n in (*LIKELY_IDS, *map(bare, ends)) for c in loaded if bare(c) == n]
    # the index of a frame comes last: it is there whether or not it means anything
    others = sorted((c for c in loaded if c not in named), key=lambda c: c == INDEX)
    for name in (*named, *others):
        ids = _ids_of_edges(loaded[name], name, table, edges)
        if ids is not None:
            called = "the index of the frame" if name == INDEX else f"column '{name}'"
            notes.append(f"{table.name}: {called} names the nodes, as it holds the edges' ids.")
            return name, ids
    raise InputError(
        f"{table.name} needs a column 'id' that names the nodes as the edges do, and no other "
        "column does; say which one with --id."
    )


def _ids_of_edges(
    column: pa.ChunkedArray, name: str, table: Table, edges: tuple[IdColumn, IdColumn]
) -> IdColumn | None:
    """The column as ids if they are all different and most of the edges' are among them."""
    try:
        ids = read_ids(column, name, table.name, [])
    except InputError:
        return None
    if len(ids.values) < len(column) or not len(column):
        return None
    known = pc.utf8_trim_whitespace(ids.values.cast(pa.string()))
    used = pa.chunked_array([end.values.cast(pa.string()) for end in edges])
    found = pc.sum(pc.is_in(pc.utf8_trim_whitespace(used), value_set=known)).as_py() or 0
    return ids if 2 * found > len(used) else None
