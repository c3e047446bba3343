"""Columns of a table that comes in batches, so that its text is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import pyarrow as pa

from egoscore.bars import Advance
from egoscore.memory import give_back_memory
from egoscore.read.table import is_text
from egoscore.read.text_codes import CodedColumn, TextCodes, in_order

_BETWEEN = 4  # batches after which what reading them took goes back


class _Chunks:
    """A column as it is."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind, self._chunks = kind, list[pa.Array]()

    def add(self, chunk: pa.Array) -> None:
        """Keep the next rows."""
        self._chunks.append(chunk)

    def column(self) -> pa.ChunkedArray:
        """All rows."""
        return pa.chunked_array(self._chunks, self._kind)


def told(
    batches: Iterable[pa.RecordBatch], tell: Callable[[], int], advance: Advance
) -> Iterator[pa.RecordBatch]:
    """The same batches; after each `advance` hears how much farther on `tell` is."""
    before = 0
    for batch in batches:
        yield batch
        now = tell()
        advance(now - before)
        before = now


def collect(
    batches: Iterable[pa.RecordBatch], kinds: Mapping[str, pa.DataType], coded: Collection[str]
) -> dict[str, pa.ChunkedArray]:
    """Columns with these names and types in the order of the batches'.

    Those that are `coded` and text come as codes of texts that they share.
    """
    texts = TextCodes()
    columns: dict[str, CodedColumn | _Chunks] = {
        name: CodedColumn(texts) if name in coded and is_text(kind) else _Chunks(kind)
        for name, kind in kinds.items()
    }
    for number, batch in enumerate(batches):
        for column, chunk in zip(columns.values(), batch.columns, strict=True):
            column.add(chunk)
        if number % _BETWEEN == 0:
            give_back_memory()
    sharing = {name: c for name, c in columns.items() if isinstance(c, CodedColumn)}
    found = dict(zip(sharing, in_order(texts, list(sharing.values())), strict=True))
    found |= {name: c.column() for name, c in columns.items() if isinstance(c, _Chunks)}
    return {name: found[name] for name in kinds}
