"""A table before it is read: what it is called, which columns it has, and the columns on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

from egoscore.bars import Bars, no_bars
from egoscore.errors import InputError

INDEX = "__index_level_0__"  # what pyarrow calls the nameless index of a pandas frame

SAMPLE = 300  # rows to look at before all are read
_AT_LEAST, _MOST_LETTERS = 3, 240  # of names in a sentence


class Table(ABC):
    """A table of edges or nodes.

    Attributes:
        name: what messages call it.
        columns: the names of its columns, all different.
        notes: what was decided when it was opened.
        nameless: those of `columns` that are called by their place.
        separator: what stands between cells in the file, if anything does.
        may_be_empty: whether a network without these edges is one all the same.
        bars: what shows how far reading has come.
    """

    nameless: frozenset[str] = frozenset((INDEX,))
    separator = ""
    may_be_empty = False
    bars: Bars = staticmethod(no_bars)

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.notes: list[str] = []
        counts = Counter(self.columns)
        twice = next((c for c in self.columns if counts[c] > 1), None)
        if twice is not None:
            raise InputError(f"{name} has two columns called '{twice}'; rename one of them.")

    @abstractmethod
    def read(
        self, columns: Sequence[str], coded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        """These columns, all of them at once.

        Of those that are `coded` only codes are wanted: what is not in memory anyway comes as such.
        """

    @abstractmethod
    def sample(self, column: str) -> pa.ChunkedArray:
        """The cells of a column in the first few hundred rows."""

    @abstractmethod
    def looks_numeric(self, column: str) -> bool:
        """Whether a column seems to hold numbers, without reading all of it."""


class ArrowTable(Table):
    """A table in memory; columns that are `odd` hold something of that name, which is no column."""

    def __init__(self, name: str, table: pa.Table, odd: Mapping[str, str] | None = None) -> None:
        super().__init__(name, table.column_names)
        self._table, self._odd = table, odd or {}

    def read(
        self, columns: Sequence[str], coded: Collection[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        for column in columns:
            if column in self._odd:
                raise InputError(
                    f"The attribute '{column}' of {self.name} holds {self._odd[column]}, which is "
                    "neither text nor a number nor a date; turn it into one, or leave it out with "
                    "--ignore."
                )
        return {column: self._table[column] for column in columns}

    def sample(self, column: str) -> pa.ChunkedArray:
        return self._table[column].slice(0, SAMPLE)

    def looks_numeric(self, column: str) -> bool:
        return is_number(self._table.schema.field(column).type)


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of codes as the values they stand for."""
    kind = pa.string() if is_text(column.type.value_type) else column.type.value_type
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def quoted(names: Sequence[str], most: int = 12) -> str:
    """Names in a sentence, the first few of them if there are many or they are long."""
    ends = accumulate(len(name) for name in names)
    room = sum(end <= _MOST_LETTERS for end in ends)
    count = min(most, max(_AT_LEAST, room))
    shown = ", ".join(f"'{name}'" for name in names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"
