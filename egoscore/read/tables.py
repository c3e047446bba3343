"""A table from whatever the user has: a path, a frame, an Arrow table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from egoscore.errors import InputError
from egoscore.read.csv_file import CsvTable
from egoscore.read.opening import plain_ending, require_file, spreadsheet
from egoscore.read.parquet_file import ARROW, PARQUET, ParquetTable, open_arrow
from egoscore.read.pipes import Copy
from egoscore.read.table import ArrowTable, Table

NETWORK_ENDINGS = (".graphml", ".gexf", ".npz", ".mat", ".pt")
SPREADSHEET_ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


def open_table(
    source: Any, role: str, given: Sequence[str] = (), encoding: str | None = None
) -> Table:
    """The table in `source`; `role` is what messages call it if it is no file.

    `given` are names of columns the user expects, by which a row of names is known as such;
    `encoding` is that of text files, if it is known. Pipes must be copied before (`as_files`).
    """
    if isinstance(source, Copy):
        return _open_file(source.path, source.name, given, encoding)
    if isinstance(source, (str, os.PathLike)):
        path = require_file(Path(source))
        return _open_file(path, str(path), given, encoding)
    if isinstance(source, pa.Table):
        return ArrowTable(role, source)
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping):
        return _open_frame(source, role)
    raise InputError(
        f"{role.capitalize()} must be a path, a frame of pandas or polars, or an Arrow table "
        f"(found {type(source).__name__})."
    )


def _open_file(path: Path, name: str, given: Sequence[str], encoding: str | None) -> Table:
    ending = plain_ending(path)
    if ending in NETWORK_ENDINGS:
        raise InputError(
            f"{name} holds a whole network, not a table; give it alone, without a table of nodes."
        )
    with path.open("rb") as file:
        start = file.read(8)
    if ending in SPREADSHEET_ENDINGS or start.startswith(_OLD_OFFICE):
        raise spreadsheet(name)
    if start.startswith(PARQUET) or ending in (".parquet", ".pq"):
        return ParquetTable(path, name)
    if start.startswith(ARROW) or ending in (".feather", ".arrow", ".ipc", ".arrows"):
        return open_arrow(path, name)
    return CsvTable(path, given, encoding, name)


def _open_frame(frame: Any, role: str) -> Table:
    try:
        return ArrowTable(role, pa.table(frame))
    except (pa.ArrowException, ValueError, TypeError) as error:
        if isinstance(frame, Mapping):
            return _open_columns(frame, role)
        if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
            raise InputError(
                f"{role.capitalize()} cannot be read: {_first_line(error)}."
            ) from error
    names = [str(name) for name in frame.columns]
    columns = [_as_arrow(frame.iloc[:, place]) for place in range(len(names))]
    return _with_mixed(names, columns, role)


def _open_columns(columns: Mapping[Any, Any], role: str) -> Table:
    """Columns by name; those that mix types are text."""
    found = []
    for name, values in columns.items():
        try:
            found.append((pa.array(values), False))
        except (pa.ArrowException, ValueError, TypeError) as error:
            try:
                cells = [None if cell is None else str(cell) for cell in values]
            except TypeError:
                raise InputError(
                    f"Column '{name}' of {role} cannot be read: {_first_line(error)}."
                ) from error
            found.append((pa.array(cells), True))
    return _with_mixed([str(name) for name in columns], found, role)


def _with_mixed(names: list[str], columns: list[tuple[pa.Array, bool]], role: str) -> Table:
    """A table of columns and whether they mixed types."""
    try:
        arrays = pa.Table.from_arrays([array for array, _ in columns], names)
    except pa.ArrowInvalid as error:
        raise InputError(f"{role.capitalize()} cannot be read: {_first_line(error)}.") from error
    table = ArrowTable(role, arrays)
    mixed = [name for name, (_, is_mixed) in zip(names, columns, strict=True) if is_mixed]
    table.notes += [f"{role}: column '{n}' mixes types and is read as text." for n in mixed]
    return table


def _as_arrow(column: Any) -> tuple[pa.Array, bool]:
    """A column of a pandas frame; if it mixes types as text, since there is no type for it."""
    try:
        return pa.array(column, from_pandas=True), False
    except (pa.ArrowException, ValueError, TypeError):
        cells = zip(column.tolist(), column.isna().tolist(), strict=True)
        return pa.array([None if empty else str(cell) for cell, empty in cells]), True


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
