"""What a column of a node table is: numbers, yes and no, dates, categories, or not to be used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.precision import narrowed
from egoscore.read.cells import MISSING, bare_cells
from egoscore.read.dates import date_ways, days, parse_dates, zone_words
from egoscore.read.numbers import are_codes, number_ways, parse_numbers
from egoscore.read.table import counted, decoded, is_number, is_text
from egoscore.read.ways import Parsed, Ways, parse_most

MOST_CATEGORIES = 20
YES_NO = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))
_MOST_SPELLINGS = 98  # of yes, no and nothing, by case and space
_LONGEST_CELL = 40
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Damage:
    """How many cells of a column are unlike the others, the first of them and its row."""

    count: int
    cell: str
    row: int


@dataclass(frozen=True)
class Column:
    """A column as numbers.

    Attributes:
        kind: as in `FeatureColumn`.
        parts: one array (rows,) float32 for each feature, zero where the cell is empty.
        details: for each part the category it stands for; ("",) for other kinds.
        is_missing: (rows,) which cells are empty.
        how: how cells were read where there was a choice.
        offset: what was taken off the numbers so that float32 can hold them.
        damage: cells that could not be read as the others are and count as empty.
    """

    name: str
    kind: str
    parts: tuple[NDArray[np.float32], ...]
    is_missing: NDArray[np.bool_]
    details: tuple[str, ...] = ("",)
    how: str | None = None
    offset: float = 0.0
    damage: Damage | None = None


@dataclass(frozen=True)
class Unusable:
    """A column that is no feature, and why."""

    name: str
    reason: str


def how_words(column: Column) -> str:
    """How a column of numbers or dates was read, where there was a choice."""
    if column.kind == "date":
        return f"is a date, read as {column.how}, and counts days since 1970"
    how = str(column.how)
    return f"is a number, read {how if how.startswith('as ') else f'with {how}'}"


def damage_words(column: Column) -> str:
    """Which cells are unlike the others of their column."""
    assert column.damage is not None
    cell = column.damage.cell
    shown = cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]}…"
    return (
        f"holds {column.kind}s but for {counted(column.damage.count, 'cell')}, the first {shown!r} "
        f"in row {column.damage.row + 1} below the names"
    )


def decide(name: str, column: pa.ChunkedArray, where: str, separator: str) -> Column | Unusable:
    """What a column is, by its type, or by all its cells if it is text."""
    kind = column.type
    if column.null_count == len(column):
        return Unusable(name, "is empty")
    if pa.types.is_dictionary(kind):
        column = decoded(column)
        if not is_text(column.type):  # declared to be categories, whatever their type
            return _categories(name, column.cast(pa.string()))
        kind = column.type
    if pa.types.is_boolean(kind):
        return _numeric(name, "yes/no", _floats(column.cast(pa.uint8())), where)
    if is_number(kind):
        return _numeric(name, "number", _floats(column), where)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _numeric(name, "date", days(column), where, zone_words(kind))
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        return _numeric(name, "number", _hours(column), where, "as hours")
    if is_text(kind):
        return _text(name, column, where, separator)
    return Unusable(name, f"holds {kind}, which cannot be turned into numbers")


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers of any type, NaN where nothing is there."""
    found: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    return found


def _hours(column: pa.ChunkedArray) -> NDArray[np.float64]:
    counts = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return _floats(counts) / (3600 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit])


def _numeric(
    name: str, kind: str, values: NDArray[np.float64], where: str, how: str | None = None
) -> Column | Unusable:
    is_missing = np.isnan(values)
    if is_missing.all():
        return Unusable(name, "is empty")
    _refuse_beyond_float32(name, values, where)
    numbers, offset = narrowed(values)
    numbers[is_missing] = 0.0
    return Column(name, kind, (numbers,), is_missing, how=how, offset=offset)


def _refuse_beyond_float32(name: str, values: NDArray[np.float64], where: str) -> None:
    infinite = int(np.count_nonzero(np.isinf(values)))
    if infinite:
        raise InputError(
            f"Column '{name}' of {where} has infinite values ({infinite} of them); replace them or "
            "leave the column out with --ignore."
        )
    beyond = np.abs(values) > _LARGEST
    if beyond.any():
        raise InputError(
            f"Column '{name}' of {where} has values beyond single precision (found "
            f"{values[beyond][0]}); rescale it or leave it out with --ignore."
        )


def _text(name: str, column: pa.ChunkedArray, where: str, separator: str) -> Column | Unusable:
    """Text is looked at once for every different cell."""
    coded = column.combine_chunks().dictionary_encode()
    cells = coded.dictionary.cast(pa.string())
    rows = coded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
    for kind, parse in _READERS.items():
        found = parse(cells, separator)
        if found is not None:
            values, how = found
            return _numeric(name, kind, np.append(values, np.nan)[rows], where, how)
    categories = _categories(name, column)
    if isinstance(categories, Column):
        return categories
    return _damaged(name, cells, rows, where, separator) or categories


def _damaged(
    name: str, cells: pa.Array, rows: NDArray[np.int64], where: str, separator: str
) -> Column | None:
    """A column of numbers or dates, but for a few cells; None if it is text."""
    counts = np.bincount(rows, minlength=len(cells))[: len(cells)]
    readers: dict[str, Ways] = {"date": date_ways}
    if not are_codes(cells):
        readers = {"number": partial(number_ways, separator=separator), **readers}
    for kind, ways in readers.items():
        found = parse_most(cells, counts, MOST_CATEGORIES, ways)
        if found is not None:
            values, how = found
            column = _numeric(name, kind, np.append(values, np.nan)[rows], where, how)
            assert isinstance(column, Column)
            return replace(column, damage=_damage(cells, rows, values))
    return None


def _damage(cells: pa.Array, rows: NDArray[np.int64], values: NDArray[np.float64]) -> Damage:
    _, is_missing = bare_cells(cells)
    is_damaged = np.append(np.isnan(values) & ~is_missing, False)[rows]
    first = int(is_damaged.argmax())
    cell = str(cells[int(rows[first])].as_py()).strip()
    return Damage(int(np.count_nonzero(is_damaged)), cell, first)


def _parse_yes_no(cells: pa.Array, _: str) -> Parsed | None:
    if len(cells) > _MOST_SPELLINGS:
        return None
    words = [(cell or "").strip().lower() for cell in cells.to_pylist()]
    present = set(words) - set(MISSING)
    pair = next((pair for pair in YES_NO if present and present <= set(pair)), None)
    if pair is None:
        return None
    answers = {word: float(word == pair[0]) for word in present}
    return np.array([answers.get(word, np.nan) for word in words]), None


_READERS: dict[str, Callable[[pa.Array, str], Parsed | None]] = {
    "yes/no": _parse_yes_no,
    "number": parse_numbers,
    "date": lambda cells, _: parse_dates(cells),
}


def _categories(name: str, column: pa.ChunkedArray) -> Column | Unusable:
    """One part for every different text; an empty cell is none of them."""
    text = column.cast(pa.large_string())
    is_missing = pc.fill_null(pc.equal(text, ""), True).to_numpy()
    different = pc.unique(text.filter(pa.array(~is_missing)))
    if len(different) > MOST_CATEGORIES:
        return Unusable(
            name,
            f"is text with {len(different)} different values, more than the {MOST_CATEGORIES} that "
            "can each become a feature",
        )
    values = sorted(different.to_pylist())
    if not values:
        return Unusable(name, "is empty")
    parts = (pc.fill_null(pc.equal(text, value), False).to_numpy() for value in values)
    doubtful = [value for value in values if value.strip().lower() in MISSING]
    how = f"with {doubtful[0]!r} as one of them, not as missing" if doubtful else None
    arrays = tuple(part.astype(np.float32) for part in parts)
    return Column(name, "category", arrays, is_missing, tuple(values), how)
