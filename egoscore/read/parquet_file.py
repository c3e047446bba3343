"""Tables in Parquet and Arrow files, read by pyarrow a few columns at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from egoscore.bars import Advance
from egoscore.errors import InputError
from egoscore.read.collect import collect
from egoscore.read.opening import DAMAGE
from egoscore.read.table import SAMPLE, ArrowTable, Table, is_number

PARQUET, ARROW = b"PAR1", b"ARROW1"


class ParquetTable(Table):
    """A Parquet file, called by its path or by `name`; only the columns asked for are read."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path, self.name = path, name or str(path)
        try:
            self._schema = pq.read_schema(path)
        except DAMAGE as error:
            raise _incomplete(self.name, "Parquet") from error
        super().__init__(self.name, self._schema.names)

    def read(
        self, columns: Sequence[str], coded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        kinds = {column: self._schema.field(column).type for column in columns}
        try:
            title, wanted = f"Reading {Path(self.name).name}", list(columns)
            with (
                pq.ParquetFile(self._path) as file,
                self.bars(title, file.metadata.num_rows, "rows") as advance,
            ):
                batches = (batch.select(wanted) for batch in file.iter_batches(columns=wanted))
                return collect(_counted(batches, advance), kinds, coded)
        except (*DAMAGE, UnicodeDecodeError) as error:
            raise _incomplete(self.name, "Parquet") from error

    def sample(self, column: str) -> pa.ChunkedArray:
        try:
            with pq.ParquetFile(self._path) as file:
                batches = file.iter_batches(SAMPLE, columns=[column])
                first = [batch.column(0) for batch in islice(batches, 1)]
        except (*DAMAGE, UnicodeDecodeError) as error:
            raise _incomplete(self.name, "Parquet") from error
        return pa.chunked_array(first, self._schema.field(column).type)

    def looks_numeric(self, column: str) -> bool:
        return is_number(self._schema.field(column).type)


def _counted(batches: Iterable[pa.RecordBatch], advance: Advance) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        batch.validate(full=True)  # text that is none would be found out too late
        yield batch
        advance(batch.num_rows)


def open_arrow(path: Path, name: str | None = None) -> ArrowTable:
    """A file in Arrow's own format (Feather), as a file or as a stream."""
    name = name or str(path)
    try:
        with pa.memory_map(str(path)) as source:
            try:
                table = pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)  # what is damaged must not be followed into memory
    except DAMAGE as error:
        raise _incomplete(name, "Arrow") from error
    return ArrowTable(name, table)


def _incomplete(name: str, kind: str) -> InputError:
    return InputError(f"{name} is not a complete {kind} file; write it again.")
