"""What the first rows of an edge table say about its columns: ids of nodes, dates, row numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from egoscore.errors import InputError
from egoscore.read.choices import Choices
from egoscore.read.dates import parse_dates
from egoscore.read.ids import IdColumn, read_ids
from egoscore.read.names import bare
from egoscore.read.node_ids import different_ids, sure_ids
from egoscore.read.numbers import parse_numbers
from egoscore.read.table import Table, is_text

DATES, ROW_NUMBERS = "holds dates", "only counts the rows"
_MOST = 0.5
_LEAST_ROWS = 5  # fewer count by chance


def full_of_ids(edges: Table, columns: list[str], nodes: Table, choices: Choices) -> list[str]:
    """Those columns of the edges of whose first rows most hold ids of the nodes."""
    samples = {column: _text(_ids(edges.sample(column), edges)) for column in columns}
    best: list[str] = []
    most = 0.0
    for known in _id_columns(nodes, choices):
        shares = {column: _share(cells, known) for column, cells in samples.items()}
        full = [column for column in columns if shares[column] > _MOST]
        if sum(shares[column] for column in full) > most:
            best, most = full, sum(shares[column] for column in full)
    return best


def _id_columns(nodes: Table, choices: Choices) -> list[pa.Array]:
    """The ids of the nodes, or what may be: every column without repeats, if no name tells."""
    ignored = {bare(name) for name in choices.ignore}
    columns = [column for column in nodes.columns if bare(column) not in ignored]
    name = sure_ids(columns, nodes, choices.id)
    if name is not None:
        return [_text(_ids(nodes.read([name])[name], nodes))]
    found = (different_ids(column, name, nodes) for name, column in nodes.read(columns).items())
    return [_text(ids) for ids in found if ids is not None]


def _ids(column: pa.ChunkedArray, table: Table) -> IdColumn | None:
    try:
        return read_ids(column, "", table.name, [])
    except InputError:  # of a type that no id has
        return None


def _text(ids: IdColumn | None) -> pa.Array:
    """The different ids as text, without what may differ between two tables."""
    values = pa.array([], pa.string()) if ids is None else ids.values.cast(pa.string())
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(values), r"^(-?\d+)\.0+$", r"\1")


def _share(cells: pa.Array, known: pa.Array) -> float:
    return (pc.mean(pc.is_in(cells, value_set=known)).as_py() or 0.0) if len(cells) else 0.0


def odd_words(sample: pa.ChunkedArray) -> str | None:
    """What is odd about a column that is to be an end of edges, if anything."""
    kind = sample.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return DATES
    if not is_text(kind) and not pa.types.is_integer(kind):
        return None
    cells = sample.combine_chunks().cast(pa.string())
    if parse_dates(cells) is not None:
        return DATES
    numbers = parse_numbers(cells, "")
    if numbers is None or len(cells) < _LEAST_ROWS:
        return None
    start = numbers[0][0]
    counts = start in (0.0, 1.0) and np.array_equal(numbers[0], start + np.arange(len(cells)))
    return ROW_NUMBERS if counts else None
