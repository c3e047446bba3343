"""The ranking as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from egoscore.ranking import own_columns
from egoscore.text import printable

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
