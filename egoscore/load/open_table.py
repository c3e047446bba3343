"""A table from a path, a pipe, a data frame, columns by name, or an Arrow table.

Pipes such as <(zcat edges.csv.gz) and /dev/stdin are copied to a temporary file first, as a table
is read more than once.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from egoscore.errors import InputError
from egoscore.load.csv import CsvTable
from egoscore.load.dialect import Hints
from egoscore.load.parquet import ParquetTable, open_arrow
from egoscore.load.table import ArrowTable, Table
from egoscore.load.unpack import empty, plain_ending, require_file, spreadsheet
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".edges")
# Readers by the ending of the file or by its first bytes; any other file is read as text.
TABLE_READERS: dict[str, Callable[[Path, str], Table]] = {
    ".parquet": ParquetTable,
    ".pq": ParquetTable,
    ".feather": open_arrow,
    ".arrow": open_arrow,
    ".arrows": open_arrow,
    ".ipc": open_arrow,
}
_MAGIC = {b"PAR1": ParquetTable, b"ARROW1": open_arrow}
GRAPH_ENDINGS = (".graphml", ".gexf", ".npz", ".mat", ".pt")
SPREADSHEET_ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ARROW_ERRORS = (pa.ArrowException, ValueError, TypeError)
_STDIN = "/dev/stdin"  # what - stands for


def open_table(source: Any, role: str, hints: Hints | None = None) -> Table:
    """The table in `source`; messages call it by its `role` if it is not a file.

    `hints` are about text files. Pipes must be copied before (`copy_pipes`).
    """
    if isinstance(source, CopiedPipe):
        return _open_file(source.path, source.name, hints)
    if _is_path(source):
        path = require_file(Path(source))
        return _open_file(path, str(path), hints)
    if isinstance(source, pa.Table):
        return ArrowTable(role, source)
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping):
        return _open_frame(source, role)
    raise InputError(
        f"{role.capitalize()} must be a path, a pandas or polars data frame, or an Arrow table "
        f"(found {type(source).__name__})."
    )


def _open_file(path: Path, name: str, hints: Hints | None) -> Table:
    ending = plain_ending(path)
    if ending in GRAPH_ENDINGS:
        raise InputError(
            f"{name} holds a whole graph, not a table; pass it alone, without a table of nodes."
        )
    with path.open("rb") as file:
        start = file.read(8)
    if ending in SPREADSHEET_ENDINGS or start.startswith(_OLD_OFFICE):
        raise spreadsheet(name)
    by_start = (reader for magic, reader in _MAGIC.items() if start.startswith(magic))
    reader = next(by_start, TABLE_READERS.get(ending))
    return CsvTable(path, hints, name) if reader is None else reader(path, name)


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


@dataclass(frozen=True)
class CopiedPipe:
    """A file with the content of a pipe, and the name of the pipe for messages."""

    path: Path
    name: str


@contextmanager
def copy_pipes(*sources: Any, bars: Bars = no_bars) -> Iterator[tuple[Any, ...]]:
    """The same sources with a `CopiedPipe` for every pipe; copies are removed at the end."""
    with ExitStack() as copies:
        named = [_STDIN if _is_path(s) and os.fspath(s) == "-" else s for s in sources]
        if sum(isinstance(source, str) and source == _STDIN for source in named) > 1:
            raise InputError("Standard input holds one table; pass the other as a file.")
        yield tuple(
            copies.enter_context(_copy(source, bars)) if is_pipe(source) else source
            for source in named
        )


def is_pipe(source: Any) -> bool:
    """Whether a source is the path of a pipe."""
    try:
        return _is_path(source) and stat.S_ISFIFO(os.stat(source).st_mode)
    except (OSError, ValueError):  # it does not exist, or no file can have that name
        return False


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


@contextmanager
def _copy(pipe: str | os.PathLike[str], bars: Bars) -> Iterator[CopiedPipe]:
    name = os.fspath(pipe)
    with tempfile.TemporaryDirectory(prefix="egoscore-pipe-") as folder:
        path = Path(folder) / "copy"
        try:
            with (
                bars(f"Copying {name}", None, ""),
                open(name, "rb") as source,
                path.open("wb") as target,
            ):
                shutil.copyfileobj(source, target, 1 << 20)
        except OSError as error:
            raise InputError(
                f"{name} is a pipe that cannot be copied to {tempfile.gettempdir()} "
                f"({error.strerror or error}); save its output as a file and pass that."
            ) from error
        if not path.stat().st_size:
            raise empty(name)
        yield CopiedPipe(path, name)
