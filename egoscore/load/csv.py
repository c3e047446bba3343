"""Tables in text files: every cell as it is written, parsed by pyarrow block by block."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from egoscore.errors import InputError
from egoscore.load.dialect import (
    SPACES,
    Dialect,
    Hints,
    TooShortError,
    detect_dialect,
    guessed_encoding,
    not_a_table,
    wrong_encoding,
)
from egoscore.load.numbers import Notation, parse_numbers
from egoscore.load.table import Table, collect
from egoscore.load.text_blocks import ByteStream, LongRowError, row_blocks
from egoscore.load.unpack import STREAM_ERRORS, empty, first_bytes, open_stream
from egoscore.progress import Advance
from egoscore.progress_log import BYTES

_HEAD, _MAX_HEAD = 1 << 18, 1 << 25  # how many bytes are inspected first, and at most
_BLOCK = 1 << 23  # a row must fit into one
_FALLBACKS = {"utf-8": "cp1252", "cp1252": "latin-1"}


class CsvTable(Table):
    """A text file; cells are text exactly as written, empty ones are missing.

    Messages call the file by its path or by `name`.
    """

    def __init__(self, path: Path, hints: Hints | None = None, name: str | None = None) -> None:
        self._path, self.name = path, name or str(path)
        self._hints = hints or Hints()
        self._dialect = self._detect()
        super().__init__(self.name, self._dialect.names)
        self.notes = list(self._dialect.notes)
        self.nameless = self._dialect.nameless
        self.is_numbered = self._dialect.is_numbered
        self.separator = "\t" if self._dialect.separator == SPACES else self._dialect.separator
        self._encoding = self._dialect.encoding
        self._places = {column: place for place, column in enumerate(self.columns)}

    def _detect(self) -> Dialect:
        """The dialect, from as much of the file as it takes to see two rows."""
        size = _HEAD
        while True:
            with self._unpacking():
                head = first_bytes(self._path, size, self.name)
            if not head:
                raise empty(self.name)
            is_whole = len(head) < size
            try:
                return detect_dialect(head, is_whole, self.name, self._hints)
            except TooShortError as error:
                if is_whole:
                    raise
                if size >= _MAX_HEAD:
                    raise InputError(
                        f"{self.name} has less than two rows in its first {size >> 20} MB; is a "
                        "quote left open?"
                    ) from error
            size *= 2

    def sample(self, column: str) -> pa.ChunkedArray:
        place = self._places[column]
        cells = [row[place] or None for row in self._dialect.rows if len(row) > place]
        return pa.chunked_array([pa.array(cells, pa.string())])

    def looks_numeric(self, column: str) -> bool:
        cells = self.sample(column).combine_chunks()
        return parse_numbers(cells, Notation(self.separator)) is not None

    def read(
        self, columns: Sequence[str], encoded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        if not self._dialect.rows:
            return {column: pa.chunked_array([], pa.string()) for column in columns}
        while True:
            try:
                return self._read(columns, encoded)
            except (UnicodeError, pa.ArrowInvalid) as error:
                self._recover(error)

    def _recover(self, error: Exception) -> None:
        """Fall back to another encoding if that is the problem; otherwise refuse the file."""
        if isinstance(error, UnicodeError) or "UTF8" in str(error):
            if self._hints.encoding is not None:
                raise wrong_encoding(self.name, self._hints.encoding) from error
            if self._encoding not in _FALLBACKS:
                raise self._damaged() from error
            if self._encoding == "utf-8":
                self.notes.append(guessed_encoding(self.name))
            self._encoding = _FALLBACKS[self._encoding]
            return
        if "columns, got" in str(error):
            raise self._ragged() from error
        raise self._damaged() from error

    def _read(self, columns: Sequence[str], encoded: Collection[str]) -> dict[str, pa.ChunkedArray]:
        title, size = f"Reading {Path(self.name).name}", self._path.stat().st_size
        try:
            with self._open() as stream, self.bars(title, size, BYTES) as advance:
                batches = _with_progress(self._parse(stream, columns), stream, advance)
                table = collect(batches, dict.fromkeys(columns, pa.string()), encoded)
        except LongRowError as error:
            raise InputError(
                f"{self.name} has a row of more than {_BLOCK >> 20} MB; is a quote left open?"
            ) from error
        if stream.has_nul:
            raise not_a_table(self.name)
        if stream.quotes % 2 and self._ends_in_quotes():
            raise InputError(f"{self.name} ends within a quoted cell; close the quote.")
        return table

    def _parse(self, stream: ByteStream, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, as many rows at a time as are in a block."""
        parsing = arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True)
        kinds = {str(self._places[column]): pa.string() for column in columns}
        converting = arrow_csv.ConvertOptions(
            include_columns=list(kinds),
            column_types=kinds,
            null_values=[""],
            strings_can_be_null=True,
        )
        names = [str(place) for place in range(len(self.columns))]
        above = int(self._dialect.has_header)
        for rows in row_blocks(stream, self.separator, self._dialect.skip, _BLOCK):
            if rows.strip(b"\r\n"):
                reading = arrow_csv.ReadOptions(
                    column_names=names,
                    skip_rows_after_names=above,
                    block_size=len(rows) + 1,
                    use_threads=False,  # each would keep memory of its own
                )
                table = arrow_csv.read_csv(pa.BufferReader(rows), reading, parsing, converting)
                yield from table.to_batches()
                above = 0

    def _open(self) -> ByteStream:
        joins_spaces = self._dialect.separator == SPACES
        with self._unpacking():
            raw = open_stream(self._path, self.name)
        return ByteStream(raw, self._encoding, joins_spaces, self._unpacking)

    @contextmanager
    def _unpacking(self) -> Iterator[None]:
        """Report errors of decompressors and the system as damage of the file."""
        try:
            yield
        except MemoryError as error:
            raise InputError(f"{self.name} does not fit into memory.") from error
        except STREAM_ERRORS as error:
            raise self._damaged() from error

    def _ragged(self) -> InputError:
        """The error for the first row with too many or too few cells."""
        where, found = "A row", "another number of"
        with self._open() as stream, suppress(csv.Error):  # that module limits the size of cells
            lines = islice(stream.lines(), self._dialect.skip, None)
            rows = csv.reader(lines, delimiter=self.separator)
            for row in rows:
                if len(row) not in (0, len(self.columns)):
                    where, found = f"Line {self._dialect.skip + rows.line_num}", str(len(row))
                    break
        return InputError(
            f"{where} of {self.name} has {found} cells where the first row has "
            f"{len(self.columns)}; cells that hold the separator must be in quotes."
        )

    def _ends_in_quotes(self) -> bool:
        """Whether the last cell is quoted and never closed, which pyarrow accepts."""
        with self._open() as stream:
            last = None
            for batch in self._parse(stream, self.columns[-1:]):
                last = batch.column(0)[-1].as_py() if len(batch) else last
        return "\n" in (last or "") and stream.last_byte != b'"'

    def _damaged(self) -> InputError:
        return InputError(f"{self.name} is damaged or incomplete; get a fresh copy of it.")


def _with_progress(
    batches: Iterator[pa.RecordBatch], stream: ByteStream, advance: Advance
) -> Iterator[pa.RecordBatch]:
    """The same batches; `advance` is called with the bytes of the file behind each."""
    before = 0
    for batch in batches:
        yield batch
        now = stream.tell()
        advance(now - before)
        before = now
