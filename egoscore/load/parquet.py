"""Tables in Parquet and Arrow files, read by pyarrow a few columns at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from egoscore.errors import InputError
from egoscore.load.table import (
    SAMPLE,
    ArrowTable,
    Table,
    collect,
    index_columns,
    is_number,
    is_text,
)
from egoscore.load.unpack import STREAM_ERRORS, check_growth, stream_limit
from egoscore.progress import Advance

_MIN_WIDTH = 8  # bytes that a value may take once it is read
_NESTED_ROWS = 1 << 10  # in a batch, if some cells may hold many values


class ParquetTable(Table):
    """A Parquet file, named by its path or by `name`; only the requested columns are read.

    A file may encode a billion rows in a few bytes: both what it declares and what it turns out
    to hold must stay below `stream_limit`.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path, self.name = path, name or str(path)
        with _reading(self.name, "Parquet"):
            self._schema = pq.read_schema(path)
        self._limit = stream_limit(path.stat().st_size)
        super().__init__(self.name, self._schema.names)
        self.index = index_columns(self._schema)

    def read(
        self, columns: Sequence[str], encoded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        kinds = {column: self._kind(column) for column in columns}
        title = f"Reading {Path(self.name).name}"
        with (
            self._open(kinds) as file,
            self.bars(title, file.metadata.num_rows, "rows") as advance,
        ):
            return collect(self._batches(file, kinds, advance), kinds, encoded)

    def sample(self, column: str) -> pa.ChunkedArray:
        kind = self._kind(column)
        with self._open({column: kind}) as file:
            batch = self._next(file.iter_batches(SAMPLE, columns=[column]))
        first = [] if batch is None else [_plain(batch.column(0), kind)]
        return pa.chunked_array(first, kind)

    def looks_numeric(self, column: str) -> bool:
        return is_number(self._schema.field(column).type)

    def _kind(self, column: str) -> pa.DataType:
        """The type of a column; Arrow cannot decode a dictionary to views of text."""
        kind = self._schema.field(column).type
        return pa.string() if pa.types.is_string_view(kind) else kind

    def _open(self, kinds: dict[str, pa.DataType]) -> pq.ParquetFile:
        """The file; text is dictionary-encoded at first, to know its size before it expands."""
        text = [name for name, kind in kinds.items() if is_text(kind)]
        with _reading(self.name, "Parquet"):
            file = pq.ParquetFile(self._path, read_dictionary=text)
        check_growth(_declared(file.metadata, kinds), self._limit, self.name)
        return file

    def _batches(
        self, file: pq.ParquetFile, kinds: dict[str, pa.DataType], advance: Advance
    ) -> Iterator[pa.RecordBatch]:
        is_nested = any(pa.types.is_nested(kind) for kind in kinds.values())
        rows = _NESTED_ROWS if is_nested else 1 << 16
        size, names = 0, list(kinds)
        batches = file.iter_batches(rows, columns=names)
        while (batch := self._next(batches)) is not None:
            size += sum(_expanded(batch.column(name)) for name in names)
            check_growth(size, self._limit, self.name)
            columns = [_plain(batch.column(name), kind) for name, kind in kinds.items()]
            yield pa.RecordBatch.from_arrays(columns, names)
            advance(batch.num_rows)

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        """The next batch, if there is one; invalid text in it would be found too late."""
        with _reading(self.name, "Parquet"):
            batch = next(batches, None)
            if batch is not None:
                batch.validate(full=True)
        return batch


def _declared(metadata: Any, kinds: dict[str, pa.DataType]) -> int:
    """The bytes that columns take at least once they are read, as the file declares them.

    Values are counted, not rows: one row may hold a list of a billion.
    """
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    chunks = (group.column(place) for group in groups for place in range(metadata.num_columns))
    return sum(chunk.num_values * _width(chunk.path_in_schema, kinds) for chunk in chunks)


def _width(path: str, kinds: dict[str, pa.DataType]) -> int:
    """The bytes of a value in the column at a path, zero if the column is not read."""
    kind = kinds.get(path, kinds.get(path.partition(".")[0]))
    if kind is None:
        return 0
    is_fixed = pa.types.is_fixed_size_binary(kind)
    return max(kind.byte_width, _MIN_WIDTH) if is_fixed else _MIN_WIDTH


def _expanded(column: pa.Array) -> int:
    """The bytes that a column takes without its dictionary."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary.cast(pa.large_string()))
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)


def _plain(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column in the type that the file declares."""
    return column if column.type == kind else column.cast(kind)


def open_arrow(path: Path, name: str | None = None) -> ArrowTable:
    """A file in Arrow's own format (Feather), as a file or as a stream."""
    name = name or str(path)
    with _reading(name, "Arrow"):
        with pa.memory_map(str(path)) as source:
            try:
                table = pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)  # damaged offsets must not be followed into memory
    return ArrowTable(name, table)


@contextmanager
def _reading(name: str, kind: str) -> Iterator[None]:
    """Report errors of pyarrow and the system as damage of the file.

    Only their calls belong inside, so that bugs of our own surface as themselves.
    """
    try:
        yield
    except MemoryError as error:
        raise InputError(f"{name} does not fit into memory.") from error
    except (*STREAM_ERRORS, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not a complete {kind} file; write it again.") from error
