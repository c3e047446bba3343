"""A table before it is read: its name and columns; cells are read on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars
from egoscore.runtime import release_memory
from egoscore.text import option

INDEX = "__index_level_0__"  # pyarrow's name for the nameless index of a pandas frame
SAMPLE = 300  # rows to inspect before all are read
_RELEASE_EVERY = 4  # batches after which freed memory goes back to the system


class Table(ABC):
    """A table of edges or nodes.

    Attributes:
        name: what messages call it.
        columns: the names of its columns, all different.
        notes: decisions made when it was opened.
        nameless: those of `columns` that are named by their position.
        is_numbered: whether all columns are named by their position, as there is no header.
        index: those of `columns` that are the index of a pandas frame.
        separator: what separates cells in the file, "" if nothing does.
        may_be_empty: whether a graph without these edges is valid.
        bars: progress bars for reading.
    """

    nameless: frozenset[str] = frozenset((INDEX,))
    index: frozenset[str] = frozenset()
    is_numbered = False
    separator = ""
    may_be_empty = False
    bars: Bars = staticmethod(no_bars)

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.notes: list[Note] = []
        counts = Counter(self.columns)
        twice = next((c for c in self.columns if counts[c] > 1), None)
        if twice is not None:
            raise InputError(f"{name} has two columns called '{twice}'; rename one of them.")

    @abstractmethod
    def read(
        self, columns: Sequence[str], encoded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        """These columns, all of them at once.

        Columns of text in `encoded` may come dictionary-encoded, which takes less memory.
        """

    @abstractmethod
    def sample(self, column: str) -> pa.ChunkedArray:
        """The cells of a column in the first few hundred rows."""

    def can_read(self, column: str) -> bool:
        """Whether the cells of a column are of a type that can be read at all."""
        return True

    @abstractmethod
    def looks_numeric(self, column: str) -> bool:
        """Whether a column seems to hold numbers, without reading all of it."""


class ArrowTable(Table):
    """A table in memory; `unsupported` columns hold Python objects of the type given."""

    def __init__(
        self, name: str, table: pa.Table, unsupported: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(name, table.column_names)
        self.index = index_columns(table.schema)
        self._table, self._unsupported = table, unsupported or {}

    def read(
        self, columns: Sequence[str], encoded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        for column in columns:
            if column in self._unsupported:
                raise InputError(
                    f"The attribute '{column}' of {self.name} holds {self._unsupported[column]}, "
                    "which is neither text nor a number nor a date; convert it, or leave it out "
                    f"with {option('ignore')}."
                )
        return {column: self._table[column] for column in columns}

    def sample(self, column: str) -> pa.ChunkedArray:
        return self._table[column].slice(0, SAMPLE)

    def can_read(self, column: str) -> bool:
        return column not in self._unsupported

    def looks_numeric(self, column: str) -> bool:
        return is_number(self._table.schema.field(column).type)


def index_columns(schema: pa.Schema) -> frozenset[str]:
    """The columns that are the index of the pandas frame that a table was made from."""
    try:
        listed = schema.pandas_metadata["index_columns"]
        named = [column for column in listed if isinstance(column, str)]  # no range
    except (ValueError, TypeError, KeyError):  # there was no frame, or it is damaged
        named = []
    return frozenset(schema.names) & {INDEX, *named}


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is numeric."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without its dictionary, if it has one."""
    if not pa.types.is_dictionary(column.type):
        return column
    kind = pa.string() if is_text(column.type.value_type) else column.type.value_type
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def collect(
    batches: Iterable[pa.RecordBatch], kinds: Mapping[str, pa.DataType], encoded: Collection[str]
) -> dict[str, pa.ChunkedArray]:
    """Columns with these names and types, in the order of the batches' columns.

    Columns of text in `encoded` are dictionary-encoded, so that their text is never in memory as
    a whole.
    """
    columns: dict[str, list[pa.Array] | _EncodedText] = {
        name: _EncodedText() if name in encoded and is_text(kind) else []
        for name, kind in kinds.items()
    }
    for number, batch in enumerate(batches):
        for column, chunk in zip(columns.values(), batch.columns, strict=True):
            column.append(chunk)
        if number % _RELEASE_EVERY == 0:
            release_memory()
    return {
        name: pa.chunked_array(column, kinds[name]) if isinstance(column, list) else column.array()
        for name, column in columns.items()
    }


class _EncodedText:
    """A column of text as codes; texts of new chunks are merged once they outnumber the known ones.

    Missing text becomes empty. (pyarrow's `unify_dictionaries` takes ten times as long.)
    """

    def __init__(self) -> None:
        self._chunks = list[pa.Array]()
        self._known = pa.array([], pa.string())
        self._codes = list[NDArray[np.int32]]()
        self._num_new = 0

    def append(self, chunk: pa.Array) -> None:
        """Add rows."""
        encoded = chunk.cast(pa.string()).fill_null("").dictionary_encode()
        self._chunks.append(encoded)
        self._num_new += len(encoded.dictionary)
        if self._num_new > len(self._known):
            self._merge()

    def array(self) -> pa.ChunkedArray:
        """All rows."""
        self._merge()
        if not self._codes:
            return pa.chunked_array([], pa.string())
        codes = pa.array(np.concatenate(self._codes))
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, self._known)])

    def _merge(self) -> None:
        """Known texts keep their codes; new ones follow in the order of the rows."""
        texts = [self._known, *(chunk.dictionary for chunk in self._chunks)]
        starts = np.cumsum([len(text) for text in texts])
        every = pa.concat_arrays(texts).dictionary_encode()
        numbers = every.indices.to_numpy()
        for start, chunk in zip(starts, self._chunks, strict=False):
            self._codes.append(numbers[start + chunk.indices.to_numpy()])
        self._known, self._chunks, self._num_new = every.dictionary, [], 0
