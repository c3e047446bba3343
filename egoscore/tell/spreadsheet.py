"""The ranking as a CSV file that a spreadsheet can open without running anything in it."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from egoscore.printable import printable

MOST_ROWS = 1_000_000  # spreadsheets take 1,048,576 lines
_COMPUTED = ("score", "percentile", "p_value")
# What a spreadsheet might take for a formula: unless it is a plain number, a quote comes before it.
_FORMULA = "^[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
# all but tabs and line breaks, which stand in quotes
_CONTROL = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_NUMBER = r"^[+-]?[0-9]+([.,][0-9]+)?$"


def write_spreadsheet(ranking: pa.Table, path: Path) -> None:
    """Write the first million rows; text that could be a formula begins with a quote."""
    rows = ranking.slice(0, MOST_ROWS)
    names = rows.column_names
    columns = [
        _shortened(name, _inert(column)) for name, column in zip(names, rows.columns, strict=True)
    ]
    # not by name: two may be the same after a quote came before one
    table = pa.Table.from_arrays(columns, _inert(pa.array(names, pa.string())).to_pylist())
    csv.write_csv(table, path)


def _inert(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_primitive(column.type) or pa.types.is_null(column.type):
        return column
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        # bytes, lists and what else has no place in such a file
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
    """Without what a terminal would obey; line breaks and tabs are in quotes and stay."""
    return re.sub(_CONTROL, lambda found: printable(found[0]), text)


def _shortened(name: str, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """What was computed, with the digits that mean something; what the user gave, as it is."""
    computed = name in _COMPUTED or name.startswith("surprise_")
    return column.cast(pa.float32()) if computed and pa.types.is_float64(column.type) else column
