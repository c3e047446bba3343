"""The columns of the edge table, such as amounts, times and categories, read and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.number_form import YEAR, is_code, is_year
from egoscore.load.column_names import is_answer, is_measure, named_in
from egoscore.load.infer import Column, as_moments, infer_column, mostly_numbers
from egoscore.load.numbers import Notation
from egoscore.load.options import Options
from egoscore.load.table import INDEX, Table, decoded, is_text
from egoscore.notes import Note, damage_phrase
from egoscore.text import counted, option

_MOST_DISTINCT = 0.5  # of the rows: more are ids or free text
_MIN_ROWS = 5  # fewer may count by chance


@dataclass(frozen=True)
class EdgeColumn:
    """A column of the edges.

    Attributes: `name`; `kind`, "number", "yes/no", "date" (days since 1970), "year" or "category";
    `values` (rows,) finite, of a category its number; the text `before` and `after` every number in
    its cells; `form` how its numbers are written; `is_named` whether the user asked for it.
    """

    name: str
    kind: str
    values: NDArray[np.float64]
    before: str = ""
    after: str = ""
    form: str = ""
    is_named: bool = False


def usable_names(table: Table, ends: tuple[str, str], options: Options) -> list[str]:
    """The columns that may become features: not ids, codes, or answers to what is looked for.

    None where the user said what the features are.
    """
    if options.features is not None:
        return []
    aside = {*ends, INDEX, *table.nameless, *named_in(table.columns, options.ignore)}
    return [
        name
        for name in table.columns
        if name not in aside and not is_code(name) and not is_answer(name) and table.can_read(name)
    ]


def read_edge_column(
    column: pa.ChunkedArray, name: str, table: Table, imputes: bool, notes: list[Note]
) -> EdgeColumn | None:
    """A column as numbers or categories; None if it says nothing about the edges."""
    found = infer_column(name, column, table.name, Notation(table.separator))
    if isinstance(found, Column) and found.kind != "category":
        if found.is_assigned and not is_measure(name):
            return None
        return _useful(_as_numbers(as_moments(found), table, imputes, notes))
    return _categories(name, column) if is_text(decoded(column).type) else None


def read_weights(
    column: pa.ChunkedArray, name: str, table: Table, imputes: bool, notes: list[Note]
) -> EdgeColumn:
    """The numbers in a column that the user named; with `imputes` a missing one is the median."""
    found = _as_numbers(_numbers(column, name, table), table, imputes, notes)
    return replace(found, kind="number", is_named=True)


def _as_numbers(found: Column, table: Table, imputes: bool, notes: list[Note]) -> EdgeColumn:
    if not imputes:
        _refuse_gaps(found, table)
    if found.traits:
        notes.append(found.info("column-format", kind=found.kind, traits=list(found.traits)))
    if found.damage is not None:
        notes.append(found.warning("column-damaged", kind=found.kind, **vars(found.damage)))
    values = found.parts[0].astype(np.float64) + found.offset
    missing = found.num_missing
    if missing:
        values[found.is_missing] = np.median(values[~found.is_missing])
        notes.append(found.info("weights-missing", count=missing))
    written = found.before, found.after, found.form
    return EdgeColumn(found.name, found.kind, values, *written)


def _useful(column: EdgeColumn) -> EdgeColumn | None:
    """The column; None if it is constant or counts the rows."""
    values, name = column.values, column.name
    low, high = float(values.min()), float(values.max())
    if low == high:
        return None
    if column.kind != "number":
        return column
    if column.form == YEAR and is_year(name):
        return replace(column, kind="year")
    counts_rows = high - low == len(values) - 1 and len(np.unique(values)) == len(values)
    is_whole = bool((values == np.round(values)).all())
    return None if counts_rows and is_whole and len(values) >= _MIN_ROWS else column


def _categories(name: str, column: pa.ChunkedArray) -> EdgeColumn | None:
    """A column of text, a missing cell being a category of its own; None if it looks like ids."""
    text = decoded(column).cast(pa.large_string()).combine_chunks()
    encoded = pc.fill_null(text, "").dictionary_encode()
    distinct = len(encoded.dictionary)
    if distinct < 2 or distinct > _MOST_DISTINCT * len(text):
        return None
    return EdgeColumn(name, "category", encoded.indices.to_numpy().astype(np.float64))


def _numbers(column: pa.ChunkedArray, name: str, table: Table) -> Column:
    """The column as numbers if most of its cells are; the others are damage."""
    _refuse_infinite(column, name, table)
    notation = Notation(table.separator)
    found = infer_column(name, column, table.name, notation)
    kind = found.kind if isinstance(found, Column) else ""
    if isinstance(found, Column) and kind in ("number", "yes/no"):
        return found
    holds = "dates" if kind == "date" else "something else"
    mostly = None
    if holds != "dates" and is_text(column.type):
        mostly = mostly_numbers(name, column, table.name, notation)
    if mostly is None:
        raise InputError(
            f"{option('weight')} needs a column of numbers, and '{name}' of {table.name} holds "
            f"{holds}; name another, or correct its cells."
        )
    return mostly


def _refuse_infinite(column: pa.ChunkedArray, name: str, table: Table) -> None:
    """Refuse infinite weights, also those that would pass for damaged cells."""
    plain = decoded(column)
    if pa.types.is_floating(plain.type):
        found = pc.is_inf(plain)
    elif is_text(plain.type):
        text = plain.cast(pa.large_string())
        found = pc.match_substring_regex(text, r"(?i)^\s*[+-]?inf(inity)?\s*$")
    else:
        return
    row = pc.index(found, True).as_py()
    if row >= 0:
        raise InputError(
            f"Column '{name}' of {table.name} is infinite in row {row + 1} below the header; every "
            "edge needs a finite weight: write a number there, or drop the edge."
        )


def _refuse_gaps(column: Column, table: Table) -> None:
    advice = (
        f"leave the column out with {option('ignore')}, or omit {option('impute', 'none')} to give "
        "such edges the median weight, as every edge needs a weight"
    )
    if column.damage is not None:
        phrase = damage_phrase(column.kind, **vars(column.damage))
        raise InputError(f"{table.name}: column '{column.name}' {phrase}; correct that, {advice}.")
    if column.num_missing:
        raise InputError(
            f"Column '{column.name}' of {table.name} lacks {counted(column.num_missing, 'value')}, "
            f"the first in row {int(column.is_missing.argmax()) + 1} below the header; fill them "
            f"in, drop the edges, {advice}."
        )
