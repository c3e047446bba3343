"""Writing Parquet files atomically, with a checksum, and reading them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from egoscore.errors import RunError
from egoscore.progress import Advance
from egoscore.run.files import checksum, parse_json, replacing, require_intact, writing

_ROWS_AT_ONCE = 1 << 20
_KEY = "egoscore"
# The checksum is written in the file itself, in place of a blank of the same length.
_MARK, _BLANK = b"checksum of this file without it: ", b"0" * 32


def described(schema: pa.Schema, facts: Mapping[str, Any]) -> pa.Schema:
    """The schema with JSON facts in its metadata."""
    return schema.with_metadata({_KEY: json.dumps(facts)})


class _Writer(pq.ParquetWriter):  # type: ignore[misc]
    """Writes a Parquet file, called `path` in messages."""

    def __init__(self, draft: Path, schema: pa.Schema, path: Path) -> None:
        self._path = path
        super().__init__(draft, schema)

    def write_table(self, table: pa.Table) -> None:
        with writing(self._path):
            super().write_table(table)

    def close(self) -> None:
        with writing(self._path):
            super().close()


@contextmanager
def table_writer(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file part by part; a checksum of its bytes is added at the end."""
    with replacing(path) as draft:
        with writing(path):
            writer = _Writer(draft, schema, path)
        with writer:
            yield writer
            writer.add_key_value_metadata({"checksum": _MARK + _BLANK})
        with writing(path), draft.open("r+b") as file, mmap(file.fileno(), 0) as content:
            start, found = _checksum(content)
            content[start : start + len(_BLANK)] = found.encode()


def write_table(
    table: pa.Table,
    path: Path,
    facts: Mapping[str, Any] | None = None,
    advance: Advance = lambda count: None,
) -> None:
    """Write a table; `advance` is called with the number of rows written."""
    if facts is not None:
        table = table.cast(described(table.schema, facts))
    with table_writer(path, table.schema) as writer:
        for start in range(0, table.num_rows, _ROWS_AT_ONCE):
            rows = table.slice(start, _ROWS_AT_ONCE)
            writer.write_table(rows)
            advance(rows.num_rows)


def read_table(path: Path) -> pa.Table:
    """Read a table; one that has changed since it was written is refused."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunError(f"Cannot read {path}: {error.strerror or error}.") from error
    start, found = _checksum(content)
    require_intact(path, found, content[start : start + len(_BLANK)].decode("latin-1"))
    return pq.read_table(pa.BufferReader(content))


def read_schema(path: Path) -> pa.Schema:
    """The columns of a table; whether it is intact is only seen when it is read."""
    try:
        return pq.read_schema(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise RunError(f"Cannot read {path}: {error}.") from error


def _checksum(content: bytes | mmap) -> tuple[int, str]:
    """Where the checksum of a file is, and what it must be."""
    start = content.rfind(_MARK) + len(_MARK)
    whole = memoryview(content)
    return start, checksum((whole[:start], whole[start + len(_BLANK) :]))


def facts_of(schema: pa.Schema) -> dict[str, Any]:
    """The JSON facts in the metadata of a schema; empty if there are none."""
    text = (schema.metadata or {}).get(_KEY.encode(), b"")
    facts = parse_json(text.decode("utf-8", "replace"))
    return facts if isinstance(facts, dict) else {}
