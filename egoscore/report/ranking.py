"""The ranking: every node with its score and the components of the score."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from egoscore.explain.sentences import Scores
from egoscore.graph import AttributedGraph
from egoscore.graph.checks import UNKNOWN
from egoscore.run.tables import described, facts_of
from egoscore.text import encodable, printable

NAME = "name"
_INPUT = " (input)"  # appended to the name of a user's column if it is one of ours


def ranking(
    graph: AttributedGraph,
    scores: Scores,
    components: Mapping[str, NDArray[Any]],
    significant: NDArray[np.int64] | None = None,
) -> pa.Table:
    """One row per node, most abnormal first.

    Columns: node (the user's id), name if nodes have names, those of `scores`, known_label and
    other columns of the user's if there are any, significant if the detector is calibrated, then
    the components. The metadata list the user's columns.
    """
    columns = scores.columns
    order = np.argsort(columns["rank"])
    keys = {"node": id_column(graph.ids[order])}
    if graph.names is not None:
        keys[NAME] = id_column(graph.names[order])
    ours = {name: c for name, c in components.items() if name not in (*keys, *columns)}
    if significant is not None:
        ours = {"significant": significant.astype(np.int8)} | ours
    taken = {"known_label", "significant", *keys, *columns, *ours}
    own: dict[str, NDArray[Any]] = {}
    for name, column in graph.node_info.items():
        while name in taken or name in own:
            name += _INPUT
        own[name] = column
    labels = {} if graph.labels is None else {"known_label": graph.labels}
    named = {n: _column(c[order]) for n, c in (columns | labels | own | ours).items()}
    if labels:  # unknown ones are empty
        known = named["known_label"]
        named["known_label"] = pc.if_else(pc.equal(known, UNKNOWN), None, known)
    table = pa.table(keys | named)
    return table.cast(described(table.schema, {"own": [*labels, *own]}))


def own_columns(ranking: pa.Table) -> list[str]:
    """The names of the user's own columns."""
    names: list[str] = facts_of(ranking.schema).get("own", [])
    return [name for name in names if name in ranking.column_names]


def has_names(ranking: pa.Table) -> bool:
    """Whether the column of names is that of the nodes, not just any column of the user's."""
    return NAME in ranking.column_names and NAME not in own_columns(ranking)


def _column(values: NDArray[Any]) -> pa.Array:
    """A column unchanged, or as text if its values are of several types."""
    return id_column(values) if values.dtype.kind == "O" else pa.array(values)


def id_column(ids: NDArray[Any]) -> pa.Array:
    """Ids as numbers if all are of one type, else as text."""
    names = ids.tolist()
    kinds = {type(name) for name in names}
    if kinds == {float} or (kinds == {int} and all(abs(name) < 2**63 for name in names)):
        return pa.array(names)
    return pa.array(map(encodable, names), pa.string())


MOST_ROWS = 1_000_000  # spreadsheets take 1,048,576 lines
# The start of a formula: unless the text is a plain number, it gets a quote in front.
_FORMULA = "^[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
# all control characters but tabs and line breaks, which CSV allows in quotes
_CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_NUMBER = r"^[+-]?[0-9]+([.,][0-9]+)?$"


def write_spreadsheet(ranking: pa.Table, path: Path) -> None:
    """Write the first million rows; text that could be a formula gets a quote in front."""
    rows = ranking.slice(0, MOST_ROWS)
    names, given = rows.column_names, ["node", *own_columns(ranking)]
    columns = [
        _inert(column if name in given else _shortened(column))
        for name, column in zip(names, rows.columns, strict=True)
    ]
    # not a dict: two names may be the same once one of them is quoted
    table = pa.Table.from_arrays(columns, _inert(pa.array(names, pa.string())).to_pylist())
    csv.write_csv(table, path)


def _inert(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_primitive(column.type) or pa.types.is_null(column.type):
        return column
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        # bytes, lists and other types that CSV does not have
        text = [None if value is None else str(value) for value in column.to_pylist()]
        column = pa.array(text, pa.string())
    if pc.any(pc.match_substring_regex(column, _CONTROL)).as_py():
        spelled = [None if text is None else _spelled_out(text) for text in column.to_pylist()]
        column = pa.array(spelled, column.type)
    formula = pc.match_substring_regex(column, _FORMULA)
    risky = pc.and_not(formula, pc.match_substring_regex(column, _NUMBER))
    quote, nothing = (pa.scalar(text, column.type) for text in ("'", ""))
    quoted = pc.binary_join_element_wise(quote, column, nothing)
    return pc.if_else(risky, quoted, column)


def _spelled_out(text: str) -> str:
    """The text with control characters spelled out, except tabs and line breaks."""
    return re.sub(_CONTROL, lambda found: printable(found[0]), text)


def _shortened(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A computed column in single precision: further digits mean nothing."""
    return column.cast(pa.float32()) if pa.types.is_float64(column.type) else column
