"""Which column of a node table has the names under which nodes are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.load.cell_formats import present_cells
from egoscore.load.column_names import find, folded, named_in, suggested_names
from egoscore.load.dates import parse_dates
from egoscore.load.ids import as_numpy
from egoscore.load.numbers import Notation, parse_numbers
from egoscore.load.options import Options
from egoscore.load.table import Table, decoded, is_text
from egoscore.notes import Note
from egoscore.text import option

_LEAST_PRESENT, _LEAST_DISTINCT = 0.5, 0.8  # shares of the nodes, and of their names
_NEARLY_ALL = 0.95  # the same, of names that no header calls so
_CLASSES = 2  # as many different texts may mark outliers


def name_columns(table: Table, options: Options) -> list[str]:
    """The column that is given, then all whose names suggest it and that have no other purpose."""
    given = [] if options.name is None else [find("name", options.name, table)]
    left = [column for column in _without_purpose(table, options) if column not in given]
    return [*given, *suggested_names(left)]


def _without_purpose(table: Table, options: Options) -> list[str]:
    """The columns that no option names."""
    others = (options.id, options.label, *options.ignore, *options.categories)
    others = (*others, *(options.features or ()))
    used = named_in(table.columns, [other for other in others if other])
    return [column for column in table.columns if column not in used]


def _first_of_numbered(
    loaded: dict[str, pa.ChunkedArray], table: Table, options: Options
) -> list[str]:
    """The first column of different texts where no column has a name that says more."""
    if options.name is not None or not table.is_numbered:
        return []
    for column in [one for one in _without_purpose(table, options) if one in loaded]:
        cells = _as_text(loaded[column], column, table, False)
        if cells is None:
            continue
        present, _ = present_cells(cells)
        if _may_be_names(present, len(cells), table, _NEARLY_ALL):
            return [column]
    return []


def take_names(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    options: Options,
    ids: pa.Array,
    notes: list[Note],
) -> NDArray[Any] | None:
    """The names of the nodes (N,), of the first column that has any; None if there is none.

    A node without a name has its id, of `ids` (N,), those without a row at the end. All columns of
    names are taken out of `loaded`, also those that only repeat the ids: they are no features.
    """
    ids, found = ids.cast(pa.string()), None
    suggested = [one for one in name_columns(table, options) if one in loaded]
    for column in suggested or _first_of_numbered(loaded, table, options):
        is_given = options.name is not None and folded(column) == folded(options.name)
        cells = _as_text(loaded[column], column, table, is_given)
        if cells is None:
            continue
        present, is_missing = present_cells(cells)
        if not is_given and not _may_be_names(present, len(cells), table):
            continue
        del loaded[column]
        code, missing = "names-unused", len(ids) - len(present)
        if found is None:
            names = _with_gaps_filled(present, is_missing, ids)
            code = "names-repeat-ids" if names.equals(ids) else "names"
            found = None if names.equals(ids) else as_numpy(names)
        about = {"missing": missing} if code == "names" else {}
        notes.append(Note.info(code, table=table.name, column=column, **about))
    return found


def _as_text(column: pa.ChunkedArray, name: str, table: Table, is_given: bool) -> pa.Array | None:
    """The cells as text; None if they are something else and the column was not given."""
    cells = decoded(column).combine_chunks()
    if not is_given:
        return cells.cast(pa.string()) if is_text(cells.type) else None
    try:
        if pa.types.is_floating(cells.type):  # 12.0, as a gap makes whole numbers decimals
            whole = pc.all(pc.equal(cells, pc.floor(cells))).as_py()
            cells = cells.cast(pa.int64()) if whole else cells
        return cells.cast(pa.string())
    except pa.ArrowException:
        raise InputError(
            f"{option('name')} names the column '{name}' of {table.name}, whose type "
            f"({cells.type}) cannot be shown as text; name another."
        ) from None


def _may_be_names(
    present: pa.Array, size: int, table: Table, least: float = _LEAST_DISTINCT
) -> bool:
    """Whether most nodes have a text, at least a share of these differ, and none are numbers."""
    count = len(pc.unique(pc.utf8_lower(present)))
    if count <= _CLASSES or len(present) < _LEAST_PRESENT * size:
        return False
    if count < least * len(present):
        return False
    notation = Notation(table.separator)
    return parse_numbers(present, notation) is None and parse_dates(present) is None


def _with_gaps_filled(present: pa.Array, is_missing: NDArray[np.bool_], ids: pa.Array) -> pa.Array:
    """One name for each node: those `present` in order, or else the id."""
    has_name = np.zeros(len(ids), dtype=bool)
    has_name[: len(is_missing)] = ~is_missing
    places = np.where(has_name, np.cumsum(has_name) - 1, 0)
    known = present.take(pa.array(places, mask=~has_name))
    return pc.coalesce(known, ids)
