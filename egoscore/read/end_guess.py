"""What the first rows of an edge table say about its columns: ids of nodes, dates, row numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from egoscore.errors import InputError
from egoscore.read.cells import all_match
from egoscore.read.choices import Choices
from egoscore.read.date_forms import MONTH
from egoscore.read.dates import parse_dates
from egoscore.read.ids import read_ids
from egoscore.read.names import bare
from egoscore.read.node_ids import different_ids, plain, sure_ids
from egoscore.read.numbers import Writing, parse_numbers
from egoscore.read.table import SAMPLE, Table, decoded, is_text

DATES, ROW_NUMBERS = "holds dates or times", "only counts the rows"
_MOST = 0.5
_FEW_REPEATS = 0.25  # of the rows: by mistake, and told later
_LEAST_ROWS = 5  # fewer count by chance


def full_of_ids(
    edges: Table, columns: list[str], nodes: Table, choices: Choices, wanted: int
) -> list[str]:
    """Those columns of the edges of whose first rows most hold ids of the nodes.

    None, if there are not as many as `wanted`.
    """
    samples = {column: _ids(edges.sample(column), edges) for column in columns}
    for known in _id_columns(nodes, choices):
        full = [column for column, cells in samples.items() if _share(cells, known) > _MOST]
        if len(full) == wanted:
            return full
    return []


def _id_columns(nodes: Table, choices: Choices) -> list[pa.Array]:
    """The ids of the nodes, or what may be: every column with few repeats, if no name tells.

    What only counts the rows comes last.
    """
    ignored = {bare(name) for name in choices.ignore}
    columns = [column for column in nodes.columns if bare(column) not in ignored]
    name = sure_ids(columns, nodes, choices.id)
    if name is not None:
        return [_ids(nodes.read([name])[name], nodes)]
    cells = sorted(
        nodes.read(columns).items(), key=lambda one: odd_words(one[1][:SAMPLE]) is not None
    )
    found = (different_ids(column, name, nodes, _FEW_REPEATS) for name, column in cells)
    return [plain(ids) for ids in found if ids is not None]


def _ids(column: pa.ChunkedArray, table: Table) -> pa.Array:
    """The different ids in a column as text."""
    try:
        return plain(read_ids(column, "", table.name, []))
    except InputError:  # of a type that no id has
        return pa.array([], pa.string())


def _share(cells: pa.Array, known: pa.Array) -> float:
    return (pc.mean(pc.is_in(cells, value_set=known)).as_py() or 0.0) if len(cells) else 0.0


def odd_words(sample: pa.ChunkedArray) -> str | None:
    """What is odd about a column that is to be an end of edges, if anything."""
    sample = decoded(sample) if pa.types.is_dictionary(sample.type) else sample
    kind = sample.type
    if pa.types.is_temporal(kind):
        return DATES
    if not is_text(kind) and not pa.types.is_integer(kind):
        return None
    cells = sample.combine_chunks().cast(pa.string())
    if parse_dates(cells) is not None and not all_match(cells, MONTH):  # 2015-01 may be a name
        return DATES
    numbers = parse_numbers(cells, Writing())
    if numbers is None or len(cells) < _LEAST_ROWS:
        return None
    start = numbers[0][0]
    counts = start in (0.0, 1.0) and np.array_equal(numbers[0], start + np.arange(len(cells)))
    return ROW_NUMBERS if counts else None
