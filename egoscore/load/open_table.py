"""A table from a path, a data frame, columns by name, or an Arrow table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from egoscore.errors import InputError
from egoscore.load.csv import CsvTable
from egoscore.load.parquet import ARROW, PARQUET, ParquetTable, open_arrow
from egoscore.load.pipes import Copy
from egoscore.load.table import ArrowTable, Table
from egoscore.load.unpack import plain_ending, require_file, spreadsheet
from egoscore.notes import Note

GRAPH_ENDINGS = (".graphml", ".gexf", ".npz", ".mat", ".pt")
SPREADSHEET_ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ARROW_ERRORS = (pa.ArrowException, ValueError, TypeError)


def open_table(
    source: Any, role: str, expected: Sequence[str] = (), encoding: str | None = None
) -> Table:
    """The table in `source`; messages call it by its `role` if it is not a file.

    `expected` are names of columns that identify a header; `encoding` is that of text files, if
    it is known. Pipes must be copied before (`pipes_copied`).
    """
    if isinstance(source, Copy):
        return _open_file(source.path, source.name, expected, encoding)
    if isinstance(source, (str, os.PathLike)):
        path = require_file(Path(source))
        return _open_file(path, str(path), expected, encoding)
    if isinstance(source, pa.Table):
        return ArrowTable(role, source)
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping):
        return _open_frame(source, role)
    raise InputError(
        f"{role.capitalize()} must be a path, a pandas or polars data frame, or an Arrow table "
        f"(found {type(source).__name__})."
    )


def _open_file(path: Path, name: str, expected: Sequence[str], encoding: str | None) -> Table:
    ending = plain_ending(path)
    if ending in GRAPH_ENDINGS:
        raise InputError(
            f"{name} holds a whole graph, not a table; pass it alone, without a table of nodes."
        )
    with path.open("rb") as file:
        start = file.read(8)
    if ending in SPREADSHEET_ENDINGS or start.startswith(_OLD_OFFICE):
        raise spreadsheet(name)
    if start.startswith(PARQUET) or ending in (".parquet", ".pq"):
        return ParquetTable(path, name)
    if start.startswith(ARROW) or ending in (".feather", ".arrow", ".ipc", ".arrows"):
        return open_arrow(path, name)
    return CsvTable(path, expected, encoding, name)


def _open_frame(frame: Any, role: str) -> Table:
    try:
        return ArrowTable(role, pa.table(frame))
    except _ARROW_ERRORS as error:  # perhaps a column that mixes types
        if isinstance(frame, Mapping):
            return _from_columns(frame.items(), role)
        if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
            raise _unreadable(role.capitalize(), error) from error
    columns = ((name, frame.iloc[:, place]) for place, name in enumerate(frame.columns))
    return _from_columns(columns, role)


def _from_columns(columns: Iterable[tuple[Any, Any]], role: str) -> Table:
    """A table from columns one by one; those that mix types become text."""
    names, arrays, mixed = list[str](), list[pa.Array](), list[str]()
    for label, values in columns:
        names.append(str(label))
        try:
            arrays.append(pa.array(values, from_pandas=hasattr(values, "isna") or None))
        except _ARROW_ERRORS as error:
            mixed.append(names[-1])
            arrays.append(_as_text(values, f"Column '{names[-1]}' of {role}", error))
    try:
        table = ArrowTable(role, pa.Table.from_arrays(arrays, names))
    except pa.ArrowInvalid as error:
        raise _unreadable(role.capitalize(), error) from error
    table.notes += [Note.info("mixed-types", table=role, column=name) for name in mixed]
    return table


def _as_text(values: Any, where: str, error: Exception) -> pa.Array:
    try:
        cells = values.tolist() if hasattr(values, "tolist") else list(values)
    except TypeError:
        raise _unreadable(where, error) from error
    is_missing = values.isna().tolist() if hasattr(values, "isna") else [c is None for c in cells]
    pairs = zip(cells, is_missing, strict=True)
    return pa.array([None if missing else str(cell) for cell, missing in pairs])


def _unreadable(what: str, error: Exception) -> InputError:
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return InputError(f"{what} cannot be read: {reason}.")
