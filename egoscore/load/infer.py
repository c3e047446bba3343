"""What a column holds: numbers, yes and no, dates, categories, or nothing that can be used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.category_codes import CategoryCodes
from egoscore.graph.feature_column import narrowed
from egoscore.graph.number_form import WHOLE, form_of, is_whole
from egoscore.load.assigned_numbers import are_assigned
from egoscore.load.cell_formats import (
    EXPORTED,
    MISSING,
    Formats,
    Parsed,
    around_numbers,
    parse_most,
    present_cells,
)
from egoscore.load.column_names import is_date, is_time
from egoscore.load.dates import date_formats, days, parse_dates, parse_eight_digits, zone_traits
from egoscore.load.numbers import Notation, are_codes, are_padded, number_formats, parse_numbers
from egoscore.load.table import decoded, is_number, is_text
from egoscore.notes import Note
from egoscore.runtime import MANY_ROWS, release_memory
from egoscore.text import option

MAX_CATEGORIES = 20
_MAX_CELL = 40  # in messages
_FLOAT32_MAX = float(np.finfo(np.float32).max)
YES_NO = (
    *(("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off")),
    *(("ja", "nein"), ("oui", "non"), ("si", "no"), ("s\u00ed", "no")),
)
# Since 1970: the least and the most that is a plausible time, and how many of them in a second.
_SECONDS = ((1e8, 5e9, 1.0), (1e11, 5e12, 1e3))
_SECONDS_A_DAY = 86_400.0
_FIRST_DAY, _LAST_DAY = 19000101, 21001231  # in eight digits
_MAX_SPELLINGS = 98  # of yes, no and nothing, by case and space
_NEARLY_ALL, _HALF = 0.9, 0.5


@dataclass(frozen=True)
class Damage:
    """How many cells do not fit the format of their column, the first of them, its row from 1."""

    count: int
    cell: str
    row: int


@dataclass(frozen=True)
class Column:
    """A column of a table as numbers.

    Attributes:
        kind: as in `FeatureColumn`.
        parts: one array (rows,) float32 for each feature, zero where the cell is empty.
        details: for each part the category it stands for; ("",) for other kinds.
        is_missing: (rows,) which cells are empty.
        traits: of the format of its cells, where there was a choice, as in `Format`.
        offset: subtracted from the numbers so that float32 can hold them.
        damage: cells that could not be read as the others are and count as empty.
        before, after: the text around every number, which was removed.
        form: how its numbers are written, as in `FeatureColumn`.
        is_assigned: whether its numbers were handed out to the rows, as serial numbers are.
        codes: of the kind "frequency": which category each row has.
    """

    name: str
    table_name: str
    kind: str
    parts: tuple[NDArray[np.float32], ...]
    is_missing: NDArray[np.bool_]
    details: tuple[str, ...] = ("",)
    traits: tuple[str, ...] = ()
    offset: float = 0.0
    damage: Damage | None = None
    before: str = ""
    after: str = ""
    form: str = ""
    is_assigned: bool = False
    codes: CategoryCodes | None = None

    @property
    def num_missing(self) -> int:
        """How many cells are empty."""
        return int(np.count_nonzero(self.is_missing))

    def known(self) -> NDArray[np.float32]:
        """The numbers of the first part that are not missing."""
        return self.parts[0][~self.is_missing]

    def info(self, code: str, **fields: Any) -> Note:
        """A decision about the column that needs no action."""
        return Note.info(code, table=self.table_name, column=self.name, **fields)

    def warning(self, code: str, **fields: Any) -> Note:
        """A doubt about the column."""
        return Note.warning(code, table=self.table_name, column=self.name, **fields)


@dataclass(frozen=True)
class Unusable:
    """A column that is not a feature; `reason` is a code, a key of the phrases."""

    name: str
    reason: str
    fields: dict[str, Any] = field(default_factory=dict)


def numeric_column(
    name: str,
    kind: str,
    values: NDArray[np.float64],
    table_name: str,
    traits: tuple[str, ...] = (),
    around: tuple[str, str] = ("", ""),
) -> Column | Unusable:
    """A column with one number per row, NaN where the cell is missing."""
    is_missing = np.isnan(values)
    if is_missing.all():
        return Unusable(name, "empty")
    _refuse_beyond_float32(name, values, table_name)
    numbers, offset = narrowed(values)
    numbers[is_missing] = 0.0
    found = Column(name, table_name, kind, (numbers,), is_missing, ("",), traits, offset)
    if kind != "number":
        return found
    known = values[~is_missing]
    if any(around):  # amounts of something
        form = WHOLE if is_whole(known) else ""
        return replace(found, before=around[0], after=around[1], form=form)
    return replace(found, form=form_of(name, known), is_assigned=are_assigned(known))


def _refuse_beyond_float32(name: str, values: NDArray[np.float64], table_name: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        raise InputError(
            f"Column '{name}' of {table_name} is infinite in row {infinite.argmax() + 1} below the "
            f"header; write a finite number there or leave the column out with {option('ignore')}."
        )
    beyond = np.abs(values) > _FLOAT32_MAX
    if beyond.any():
        raise InputError(
            f"Column '{name}' of {table_name} has values beyond single precision (found "
            f"{values[beyond][0]}); rescale it or leave it out with {option('ignore')}."
        )


@dataclass(frozen=True)
class _TextColumn:
    """The distinct `cells` of a column, and for each of its `rows` which one it has.

    `rows` is one beyond the last cell where the row has none; `table_name` is that of its table.
    """

    name: str
    table_name: str
    cells: pa.Array
    rows: NDArray[np.int64]

    def read_as(self, kind: str, parsed: Parsed) -> Column | Unusable:
        """The column with the numbers of its cells."""
        values, traits = parsed
        around = ("", "")
        if kind == "number":
            was_read = ~np.isnan(values)
            cells = self.cells if was_read.all() else self.cells.filter(pa.array(was_read))
            around = around_numbers(cells)
        of_rows = np.append(values, np.nan)[self.rows]
        return numeric_column(self.name, kind, of_rows, self.table_name, traits, around)

    def mostly(self, kind: str, formats: Formats, least: int, share: float) -> Column | None:
        """The column with a `share` of its cells in one format, and the others as damage."""
        counts = np.bincount(self.rows, minlength=len(self.cells))[: len(self.cells)]
        parsed = parse_most(self.cells, counts, least, share, formats)
        if parsed is None:
            return None
        column = self.read_as(kind, parsed)
        assert isinstance(column, Column)
        return replace(column, damage=self._damage(parsed[0]))

    def _damage(self, values: NDArray[np.float64]) -> Damage | None:
        """The cells that are present and have no number, if there are any."""
        _, is_missing = present_cells(self.cells)
        is_damaged = np.append(np.isnan(values) & ~is_missing, False)[self.rows]
        if not is_damaged.any():
            return None
        first = int(is_damaged.argmax())
        cell = str(self.cells[int(self.rows[first])].as_py()).strip()
        shown = cell if len(cell) <= _MAX_CELL else f"{cell[:_MAX_CELL]}\u2026"
        return Damage(int(np.count_nonzero(is_damaged)), shown, first + 1)


def _text_column(name: str, column: pa.ChunkedArray, table_name: str) -> _TextColumn:
    encoded = column.combine_chunks().dictionary_encode()
    if len(column) >= MANY_ROWS:
        release_memory()
    cells = encoded.dictionary.cast(pa.string())
    rows = encoded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
    return _TextColumn(name, table_name, cells, rows)


def infer_column(
    name: str, column: pa.ChunkedArray, table_name: str, notation: Notation
) -> Column | Unusable:
    """What a column is, by its type, or by all its cells if it is text."""
    if column.null_count == len(column):
        return Unusable(name, "empty")
    is_encoded = pa.types.is_dictionary(column.type)
    column = decoded(column)
    kind = column.type
    if is_encoded and not is_text(kind):  # declared to be categories, whatever their type
        return as_categories(name, column, table_name)
    if (is_number(kind) or is_text(kind)) and is_date(name):
        found = _eight_digits(name, column, table_name)
        if found is not None:
            return found
    if pa.types.is_boolean(kind):
        return numeric_column(name, "yes/no", _floats(column.cast(pa.uint8())), table_name)
    if is_number(kind):
        return numeric_column(name, "number", _floats(column), table_name)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return numeric_column(name, "date", days(column), table_name, zone_traits(kind))
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        return numeric_column(name, "number", _hours(column), table_name, ("hours",))
    if is_text(kind):
        return _infer_text(name, column, table_name, notation)
    return Unusable(name, "type", {"kind": str(kind)})


def _eight_digits(name: str, column: pa.ChunkedArray, table_name: str) -> Column | Unusable | None:
    """A column of numbers such as 20180103 as dates, if all of them are."""
    if is_number(column.type):
        numbers = _floats(column)
        if not (np.nanmin(numbers) >= _FIRST_DAY and np.nanmax(numbers) <= _LAST_DAY):
            return None
        try:
            whole = pa.array(numbers, from_pandas=True).cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        column = pa.chunked_array([whole.cast(pa.string())])
    text = _text_column(name, column, table_name)
    parsed = parse_eight_digits(text.cells)
    return None if parsed is None else text.read_as("date", parsed)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers of any type, NaN where the cell is missing."""
    found: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    return found


def _hours(column: pa.ChunkedArray) -> NDArray[np.float64]:
    counts = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return _floats(counts) / (3600 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit])


def _infer_text(
    name: str, column: pa.ChunkedArray, table_name: str, notation: Notation
) -> Column | Unusable:
    text = _text_column(name, column, table_name)
    for kind, parse in _PARSERS.items():
        parsed = parse(text.cells, notation)
        if parsed is not None:
            return text.read_as(kind, parsed)
    categories = as_categories(name, column, table_name)
    if isinstance(categories, Column):
        return categories
    if are_padded(text.cells):
        return Unusable(name, "padded-codes")
    formats = partial(number_formats, notation=notation)
    found = None
    if not are_codes(text.cells):
        found = text.mostly("number", formats, MAX_CATEGORIES, _NEARLY_ALL)
    found = found or text.mostly("date", date_formats, MAX_CATEGORIES, _NEARLY_ALL)
    return found or categories


def as_moments(column: Column) -> Column:
    """A column of seconds or milliseconds since 1970 as days, if its name suggests times."""
    if column.kind != "number" or not (is_date(column.name) or is_time(column.name)):
        return column
    values = column.parts[0].astype(np.float64) + column.offset
    known = values[~column.is_missing]
    for least, most, parts in _SECONDS:
        if least <= known.min() and known.max() <= most:
            values[column.is_missing] = np.nan
            days_since = values / (parts * _SECONDS_A_DAY)
            found = numeric_column(column.name, "date", days_since, column.table_name)
            assert isinstance(found, Column)
            return replace(found, damage=column.damage)
    return column


def mostly_numbers(
    name: str, column: pa.ChunkedArray, table_name: str, notation: Notation
) -> Column | None:
    """A column of text that should hold numbers, if at least half of its cells do."""
    text = _text_column(name, column, table_name)
    return text.mostly("number", partial(number_formats, notation=notation), 0, _HALF)


def _parse_yes_no(cells: pa.Array, _: Notation) -> Parsed | None:
    if len(cells) > _MAX_SPELLINGS:
        return None
    words = [(cell or "").strip().lower() for cell in cells.to_pylist()]
    present = set(words) - set(MISSING)
    pair = next((pair for pair in YES_NO if present and present <= set(pair)), None)
    if pair is None:
        return None
    answers = {word: float(word == pair[0]) for word in present}
    return np.array([answers.get(word, np.nan) for word in words]), ()


_PARSERS: dict[str, Callable[[pa.Array, Notation], Parsed | None]] = {
    "yes/no": _parse_yes_no,
    "number": lambda cells, of: None if are_padded(cells) else parse_numbers(cells, of),
    "date": lambda cells, _: parse_dates(cells),
}


def category_text(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, NDArray[np.bool_]]:
    """The categories in a column as text, and which rows have none."""
    plain = decoded(column)
    text = plain.cast(pa.large_string())
    nothing = pa.array(["", EXPORTED, *(["nan"] if is_number(plain.type) else [])], text.type)
    is_missing = pc.is_in(text, value_set=nothing).to_numpy() | pc.is_null(text).to_numpy()
    return text, is_missing


def as_categories(name: str, column: pa.ChunkedArray, table_name: str) -> Column | Unusable:
    """One part for every distinct value as text; an empty cell is none of them."""
    plain = decoded(column)
    try:
        text, is_missing = category_text(plain)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return Unusable(name, "not-categories", {"kind": str(plain.type)})
    distinct = pc.unique(text.filter(pa.array(~is_missing)))
    if len(distinct) > MAX_CATEGORIES:
        reason = "many-texts" if is_text(plain.type) else "many-values"
        return Unusable(name, reason, {"count": len(distinct), "limit": MAX_CATEGORIES})
    values = sorted(distinct.to_pylist())
    if not values:
        return Unusable(name, "empty")
    parts = (pc.fill_null(pc.equal(text, value), False).to_numpy() for value in values)
    doubtful = [value for value in values if value.strip().lower() in MISSING]
    traits = (f"category:{doubtful[0]}",) if doubtful else ()
    arrays = tuple(part.astype(np.float32) for part in parts)
    return Column(name, table_name, "category", arrays, is_missing, tuple(values), traits)
