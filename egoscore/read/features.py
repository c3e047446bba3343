"""The columns of a node table as a table of numbers, every decision told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.columns import FeatureColumn
from egoscore.memory import MANY_ROWS, give_back_memory
from egoscore.numerals import counted
from egoscore.read.choices import Choices
from egoscore.read.column import Column, Unusable, damage_words, how_words
from egoscore.read.kinds import as_categories, decide
from egoscore.read.names import find, says_code
from egoscore.read.numbers import Writing, shows_decimal_commas, shows_decimal_points
from egoscore.read.placeholders import placeholder_words
from egoscore.read.table import SAMPLE, Table, decoded, is_text, quoted

_UNNAMED = "unnamed: 0"  # what pandas calls the index that it wrote, when it reads it
_AS = {"number": "numbers as they are", "yes/no": "yes/no, as 1 and 0", "date": "days since 1970"}


@dataclass(frozen=True)
class Features:
    """Features of all nodes: `values` (N, F) float32, and what each of them is."""

    values: NDArray[np.float32]
    columns: tuple[FeatureColumn, ...]


def read_features(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    choices: Choices,
    extra: int,
    notes: list[str],
) -> Features:
    """The features in `loaded`, which is used up; `extra` nodes without a row come at the end."""
    columns = _decided(loaded, table, choices, notes)
    if choices.impute is None:
        _refuse_damage(columns, table)
        _refuse_missing(columns, table)
    used = [column for column in columns if not _is_constant(column)]
    _note_kinds(used, table, notes)
    codes = [c.name for c in used if c.kind == "number" and says_code(c.name)]
    if codes and choices.features is None:
        notes.append(
            f"{table.name}: taken as numbers, though the name says code: {quoted(codes)}; --ignore "
            "leaves out, --categories takes each value for a name."
        )
    notes += [
        f"{table.name}: column '{column.name}' {words}"
        for column in columns
        if column.kind in ("number", "date") and (words := placeholder_words(column))
    ]
    parts: list[tuple[FeatureColumn, NDArray[np.float32]]] = []
    while columns:  # taken one by one: what has become a feature is not needed any more
        parts += _filled(columns.pop(0), extra, table, notes)
    return _stacked(parts)


def _decided(
    loaded: dict[str, pa.ChunkedArray],
    table: Table,
    choices: Choices,
    notes: list[str],
) -> list[Column]:
    columns = []
    writing = _writing(loaded, table)
    named = [_present("categories", name, loaded, table) for name in choices.categories]
    with table.bars("Turning columns into numbers", len(loaded), "columns") as advance:
        for name in list(loaded):
            column = loaded.pop(name)
            if name in named:
                found = as_categories(name, column)
            else:
                found = _decided_one(name, column, table, writing)
            del column
            advance(1)
            if isinstance(found, Column):
                columns.append(found)
                continue
            option = "categories" if name in named else "features"
            if name in named or choices.features is not None:
                raise InputError(
                    f"Column '{name}' of {table.name} cannot be a feature: it {found.reason}; "
                    f"leave it out of --{option}."
                )
            notes.append(f"{table.name}: column '{name}' {found.reason}, so it is left out.")
    return columns


def _present(option: str, given: str, loaded: dict[str, pa.ChunkedArray], table: Table) -> str:
    """The column that is named, which must be one of those that may be features."""
    name = find(option, given, table)
    if name not in loaded:
        raise InputError(
            f"--{option} names the column '{name}', which is no feature here; leave it out of "
            f"--{option}."
        )
    return name


def _writing(loaded: dict[str, pa.ChunkedArray], table: Table) -> Writing:
    """How a table is written, by the first rows of all columns.

    Where commas separate its cells, one in quotes is no evidence, nor is any beside a point.
    """
    separator = table.separator
    if separator == ",":
        return Writing(separator)
    starts = (column.slice(0, SAMPLE) for column in loaded.values())
    plain = (decoded(s) if pa.types.is_dictionary(s.type) else s for s in starts)
    texts = [s.combine_chunks().cast(pa.string()) for s in plain if is_text(s.type)]
    commas = any(shows_decimal_commas(text, separator) for text in texts)
    return Writing(separator, commas and not any(map(shows_decimal_points, texts)))


def _decided_one(
    name: str, column: pa.ChunkedArray, table: Table, writing: Writing
) -> Column | Unusable:
    found = decide(name, column, table.name, writing)
    if len(column) >= MANY_ROWS:
        del column
        give_back_memory()
    is_nameless = name in table.nameless or name.strip().casefold() == _UNNAMED
    if is_nameless and isinstance(found, Column) and _counts(found):
        return Unusable(name, "has no name and only counts the rows")
    return found


def _counts(column: Column) -> bool:
    """Whether a column is 0, 1, 2 … or 1, 2, 3 …, as the index that pandas writes."""
    steps = np.diff(column.parts[0][: 1 << 24])  # beyond, float32 does not count any more
    return column.kind == "number" and bool((steps == 1).all())


def _refuse_damage(columns: list[Column], table: Table) -> None:
    found = [f"column '{c.name}' {damage_words(c)}" for c in columns if c.damage is not None]
    if found:
        raise InputError(
            f"{table.name}: {', and '.join(found)}; correct that, or give --impute median to count "
            "such cells as missing, or leave columns out with --ignore."
        )


def _refuse_missing(columns: list[Column], table: Table) -> None:
    counts = {c.name: int(np.count_nonzero(c.is_missing)) for c in columns}
    gaps = [f"'{name}' ({count})" for name, count in counts.items() if count]
    if gaps:
        raise InputError(
            f"{table.name} has missing values in {', '.join(gaps)}; fill them in, or give --impute "
            "median to fill them and flag where they were, or leave columns out with --ignore."
        )


def _note_kinds(columns: list[Column], table: Table, notes: list[str]) -> None:
    for kind, words in _AS.items():
        names = [c.name for c in columns if c.kind == kind and c.how is None]
        if names:
            notes.append(f"{table.name}: {words}: {quoted(names)}.")
    for column in columns:
        if column.kind == "category":
            how = f", {column.how}" if column.how else ""
            notes.append(
                f"{table.name}: column '{column.name}' is a category with "
                f"{counted(len(column.parts), 'value')}, one 0/1 feature each{how}."
            )
        elif column.how is not None:
            notes.append(f"{table.name}: column '{column.name}' {how_words(column)}.")


def _filled(
    column: Column, extra: int, table: Table, notes: list[str]
) -> Iterator[tuple[FeatureColumn, NDArray[np.float32]]]:
    """The features of a column without gaps, and where the gaps were."""
    is_missing = np.concatenate([column.is_missing, np.ones(extra, dtype=bool)])
    has_gaps = bool(is_missing.any())
    if column.damage is not None:
        notes.append(
            f"{table.name}: column '{column.name}' {damage_words(column)}: counted as missing."
        )
    constant = _is_constant(column)
    if constant:
        notes.append(f"{table.name}: column '{column.name}' is the same everywhere: left out.")
    else:
        yield from _values(column, is_missing, extra)
    if has_gaps:
        count = int(np.count_nonzero(is_missing))
        notes.append(
            f"{table.name}: column '{column.name}' is missing for {counted(count, 'node')}: "
            f"{_fill_words(column, constant)} and flagged in a feature of its own."
        )
        yield FeatureColumn(column.name, "missing"), is_missing.astype(np.float32)


def _is_constant(column: Column) -> bool:
    known = column.parts[0][~column.is_missing]
    return len(column.parts) == 1 and bool(np.ptp(known) == 0)


def _values(
    column: Column, is_missing: NDArray[np.bool_], extra: int
) -> Iterator[tuple[FeatureColumn, NDArray[np.float32]]]:
    for part, detail in zip(column.parts, column.details, strict=True):
        values = np.concatenate([part, np.zeros(extra, dtype=np.float32)]) if extra else part
        if column.kind != "category" and is_missing.any():
            values[is_missing] = _typical(column.kind, part[~column.is_missing])
        around = column.before, column.after
        yield FeatureColumn(column.name, column.kind, detail, column.offset, *around), values


def _typical(kind: str, known: NDArray[np.float32]) -> float:
    """The median, or of yes and no the more frequent one."""
    if kind == "yes/no":
        return float(known.mean(dtype=np.float64) > 0.5)
    return float(np.median(known))


def _fill_words(column: Column, constant: bool) -> str:
    if constant:
        return "left out"
    if column.kind == "category":
        return "none of its values"
    return "the more frequent answer" if column.kind == "yes/no" else "filled with the median"


def _stacked(parts: list[tuple[FeatureColumn, NDArray[np.float32]]]) -> Features:
    if not parts:
        return Features(np.empty((0, 0), dtype=np.float32), ())
    columns = tuple(column for column, _ in parts)
    values = np.empty((len(parts[0][1]), len(parts)), dtype=np.float32)
    for place in range(len(columns)):
        values[:, place] = parts.pop(0)[1]
    return Features(values, with_unique_titles(columns))


def with_unique_titles(columns: tuple[FeatureColumn, ...]) -> tuple[FeatureColumn, ...]:
    """The same with a number after a name whose title another has already."""
    result: list[FeatureColumn] = []
    taken: set[str] = set()
    for column in columns:
        number, unique = 1, column
        while unique.title in taken:
            number += 1
            unique = replace(column, name=f"{column.name} #{number}")
        taken.add(unique.title)
        result.append(unique)
    return tuple(result)
