"""The columns of a node table as a feature matrix; every decision becomes a note."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.category_codes import CategoryCodes
from egoscore.graph.feature_column import FeatureColumn, with_unique_titles
from egoscore.graph.number_form import is_code
from egoscore.load.assigned_numbers import have_equal_length
from egoscore.load.column_names import find
from egoscore.load.frequencies import as_frequencies
from egoscore.load.infer import Column, Unusable, as_categories, as_moments, infer_column
from egoscore.load.numbers import Notation, shows_decimal_commas, shows_decimal_points
from egoscore.load.options import Options
from egoscore.load.row_names import without_row_names
from egoscore.load.table import SAMPLE, Table, decoded, is_text
from egoscore.notes import Note, damage_phrase, unusable_phrase
from egoscore.runtime import MANY_ROWS, release_memory
from egoscore.text import option

# Numbers that usually mean that nothing is known: -999 among ages, 1900-01-01 among dates.
_NINES = [float("9" * digits) for digits in range(2, 9)]
_PLACEHOLDERS = {*_NINES, *(-number for number in _NINES), -1.0}
# The first or last day that programs know: 0001, 1753, 1899, 1900, 1970, 9999.
_PLACEHOLDER_DAYS = {-719162.0, -79257.0, -25569.0, -25568.0, -25567.0, 0.0, 2932896.0}
_MIN_ROWS = 3  # rows with a placeholder: fewer may be real
_FAR = 3.0  # times the distance between the quartiles of the others


@dataclass(frozen=True)
class Features:
    """Features of all nodes: `values` (N, F) float32, and their descriptions.

    `categories` are columns with many categories.
    """

    values: NDArray[np.float32]
    columns: tuple[FeatureColumn, ...]
    categories: Mapping[str, CategoryCodes] = field(default_factory=dict)


NO_FEATURES = Features(np.empty((0, 0), dtype=np.float32), ())


def read_features(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    options: Options,
    extra: int,
    notes: list[Note],
) -> Features:
    """The features in `loaded`, which is emptied; `extra` nodes without a row come at the end."""
    columns = _infer_columns(loaded, table, options, notes)
    if options.impute is None:
        _refuse_damage(columns, table)
        _refuse_missing(columns, table)
    used = [column for column in columns if not _is_constant(column)]
    _note_kinds(used, table, notes)
    codes = [column.name for column in used if _may_be_codes(column, table)]
    if codes and options.features is None:
        notes.append(Note.warning("codes-as-numbers", table=table.name, columns=codes))
    for column in columns:
        _note_placeholder(column, notes)
    none = np.full(extra, -1, dtype=np.int32)
    categories = {
        column.name: replace(column.codes, codes=np.append(column.codes.codes, none))
        for column in columns
        if column.codes is not None
    }
    parts: list[tuple[FeatureColumn, NDArray[np.float32]]] = []
    while columns:  # one by one: once a column has become a feature it can be freed
        parts += _fill(columns.pop(0), extra, notes)
    return replace(_stack(parts), categories=categories)


def _infer_columns(
    loaded: dict[str, pa.ChunkedArray], table: Table, options: Options, notes: list[Note]
) -> list[Column]:
    columns = []
    notation = _notation(loaded, table)
    categories = [_present("categories", name, loaded, table) for name in options.categories]
    with table.bars("Turning columns into numbers", len(loaded), "columns") as advance:
        for name in list(loaded):
            column = loaded.pop(name)
            if name in categories:
                found = as_categories(name, column, table.name)
            else:
                found = _infer(name, column, table, notation)
                if isinstance(found, Column) and options.features is None:
                    found = without_row_names(found, table)
            if isinstance(found, Unusable):
                found = as_frequencies(found, column, table.name)
            del column
            advance(1)
            if isinstance(found, Column):
                columns.append(found)
                continue
            if name in categories or options.features is not None:
                raise InputError(
                    f"Column '{name}' of {table.name} cannot be a feature: it "
                    f"{unusable_phrase(found.reason, **found.fields)}; leave it out of "
                    f"{option('categories' if name in categories else 'features')}."
                )
            fields = {"table": table.name, "column": name, "reason": found.reason}
            notes.append(Note.info("column-unusable", **fields, **found.fields))
    return columns


def _present(parameter: str, given: str, loaded: dict[str, pa.ChunkedArray], table: Table) -> str:
    """The column that a parameter names, which must be one of those that may be features."""
    name = find(parameter, given, table)
    if name not in loaded:
        raise InputError(
            f"{option(parameter)} names the column '{name}', which is not a feature here; remove "
            f"it from {option(parameter)}."
        )
    return name


def _notation(loaded: dict[str, pa.ChunkedArray], table: Table) -> Notation:
    """How numbers are written in a table, by the first rows of all columns.

    Where commas separate its cells, one in quotes is no evidence, nor is any beside a point.
    """
    separator = table.separator
    if separator == ",":
        return Notation(separator)
    starts = (decoded(column.slice(0, SAMPLE)) for column in loaded.values())
    texts = [s.combine_chunks().cast(pa.string()) for s in starts if is_text(s.type)]
    commas = any(shows_decimal_commas(text, separator) for text in texts)
    return Notation(separator, commas and not any(map(shows_decimal_points, texts)))


def _infer(
    name: str, column: pa.ChunkedArray, table: Table, notation: Notation
) -> Column | Unusable:
    found = infer_column(name, column, table.name, notation)
    if len(column) >= MANY_ROWS:
        del column
        release_memory()
    return as_moments(found) if isinstance(found, Column) else found


def _refuse_damage(columns: list[Column], table: Table) -> None:
    found = [
        f"column '{c.name}' {damage_phrase(c.kind, **vars(c.damage))}"
        for c in columns
        if c.damage is not None
    ]
    if found:
        raise InputError(
            f"{table.name}: {', and '.join(found)}; correct that, omit {option('impute', 'none')} "
            f"to treat such cells as missing, or leave columns out with {option('ignore')}."
        )


def _refuse_missing(columns: list[Column], table: Table) -> None:
    gaps = [f"'{c.name}' ({c.num_missing})" for c in columns if c.num_missing]
    if gaps:
        raise InputError(
            f"{table.name} has missing values in {', '.join(gaps)}; fill them in, omit "
            f"{option('impute', 'none')} to fill them with medians and flag where they were, or "
            f"leave columns out with {option('ignore')}."
        )


def _note_kinds(columns: list[Column], table: Table, notes: list[Note]) -> None:
    for kind in ("number", "yes/no", "date"):
        names = [c.name for c in columns if c.kind == kind and not c.traits]
        if names:
            notes.append(Note.info("columns-read", table=table.name, kind=kind, columns=names))
    for column in columns:
        traits = list(column.traits)
        if column.kind == "category":
            count = len(column.parts)
            notes.append(column.info("column-categories", count=count, traits=traits))
        elif column.codes is not None:
            notes.append(column.info("column-frequencies", count=len(column.codes.names)))
        elif traits:
            notes.append(column.info("column-format", kind=column.kind, traits=traits))


def _may_be_codes(column: Column, table: Table) -> bool:
    """Whether numbers are called codes, or look like some where no column has a name."""
    if column.kind != "number":
        return False
    return is_code(column.name) or (table.is_numbered and have_equal_length(column.known()))


def _note_placeholder(column: Column, notes: list[Note]) -> None:
    found = _find_placeholder(column) if column.kind in ("number", "date") else None
    if found is not None:
        value, count = found
        is_date = column.kind == "date"
        shown = FeatureColumn(column.name, "date").show(value) if is_date else f"{value:g}"
        notes.append(column.warning("placeholder", value=shown, count=count))


def _find_placeholder(column: Column) -> tuple[float, int] | None:
    """A value that seems to stand for 'unknown', and its number of rows, if there is one.

    It is one of the usual ones, the smallest or the largest of its column, there several times,
    and far from all others (one below zero only needs to be the only negative one).
    """
    known = column.known().astype(np.float64) + column.offset
    if not len(known):
        return None
    is_day = column.kind == "date"
    usual, fewest = (_PLACEHOLDER_DAYS, 1) if is_day else (_PLACEHOLDERS, _MIN_ROWS)
    for value in {float(known.min()), float(known.max())} & usual:
        others = known[known != value]
        count = len(known) - len(others)
        if count >= fewest and len(others) > count and _stands_apart(is_day, value, others):
            return value, count
    return None


def _stands_apart(is_day: bool, value: float, others: NDArray[Any]) -> bool:
    if not is_day and value < 0.0 <= others.min():
        return True
    if not is_day and value == -1.0:
        return False
    low, high = np.quantile(others, (0.25, 0.75))
    gap = min(abs(value - others.min()), abs(value - others.max()))
    return bool(gap > (1.0 if is_day else _FAR) * (high - low))


def _fill(
    column: Column, extra: int, notes: list[Note]
) -> Iterator[tuple[FeatureColumn, NDArray[np.float32]]]:
    """The features of a column with gaps filled, and one that flags the gaps."""
    is_missing = np.concatenate([column.is_missing, np.ones(extra, dtype=bool)])
    has_gaps = bool(is_missing.any())
    if column.damage is not None:
        notes.append(column.warning("column-damaged", kind=column.kind, **vars(column.damage)))
    is_constant = _is_constant(column)
    if is_constant:
        notes.append(column.info("column-constant"))
    else:
        yield from _values(column, is_missing, extra)
    if has_gaps:
        fills = {"category": "no category", "yes/no": "mode", "frequency": "frequency"}
        fill = "constant" if is_constant else fills.get(column.kind, "median")
        count = int(np.count_nonzero(is_missing))
        notes.append(column.info("column-missing", count=count, fill=fill))
        yield FeatureColumn(column.name, "missing"), is_missing.astype(np.float32)


def _is_constant(column: Column) -> bool:
    return len(column.parts) == 1 and bool(np.ptp(column.known()) == 0)


def _values(
    column: Column, is_missing: NDArray[np.bool_], extra: int
) -> Iterator[tuple[FeatureColumn, NDArray[np.float32]]]:
    for part, detail in zip(column.parts, column.details, strict=True):
        values = np.concatenate([part, np.zeros(extra, dtype=np.float32)]) if extra else part
        if column.kind != "category" and is_missing.any():
            values[is_missing] = _typical(column.kind, part[~column.is_missing])
        written = column.before, column.after, column.form
        yield FeatureColumn(column.name, column.kind, detail, column.offset, *written), values


def _typical(kind: str, known: NDArray[np.float32]) -> float:
    """The median, or the more frequent of yes and no."""
    if kind == "yes/no":
        return float(known.mean(dtype=np.float64) > 0.5)
    return float(np.median(known))


def _stack(parts: list[tuple[FeatureColumn, NDArray[np.float32]]]) -> Features:
    if not parts:
        return NO_FEATURES
    columns = tuple(column for column, _ in parts)
    values = np.empty((len(parts[0][1]), len(parts)), dtype=np.float32)
    for place in range(len(columns)):
        values[:, place] = parts.pop(0)[1]
    return Features(values, with_unique_titles(columns))
