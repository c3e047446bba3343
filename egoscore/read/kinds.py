"""What a column of a node table is: numbers, yes and no, dates, categories, or not to be used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import EXPORTED, MISSING
from egoscore.read.column import Column, Unusable, numeric
from egoscore.read.damage import with_mistakes
from egoscore.read.dates import days, parse_dates, parse_eight_digits, zone_words
from egoscore.read.names import says_date
from egoscore.read.numbers import Writing, are_padded, parse_numbers
from egoscore.read.table import decoded, is_number, is_text
from egoscore.read.text_column import text_column
from egoscore.read.ways import Parsed

MOST_CATEGORIES = 20
YES_NO = (
    *(("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off")),
    *(("ja", "nein"), ("oui", "non"), ("si", "no"), ("sí", "no")),
)
_FIRST_DAY, _LAST_DAY = 19000101, 21001231  # in eight digits
_MOST_SPELLINGS = 98  # of yes, no and nothing, by case and space


def decide(name: str, column: pa.ChunkedArray, where: str, writing: Writing) -> Column | Unusable:
    """What a column is, by its type, or by all its cells if it is text."""
    kind = column.type
    if column.null_count == len(column):
        return Unusable(name, "is empty")
    if pa.types.is_dictionary(kind):
        column = decoded(column)
        if not is_text(column.type):  # declared to be categories, whatever their type
            return as_categories(name, column)
        kind = column.type
    if is_number(kind) or is_text(kind):
        found = _eight_digits(name, column, where) if says_date(name) else None
        if found is not None:
            return found
    if pa.types.is_boolean(kind):
        return numeric(name, "yes/no", _floats(column.cast(pa.uint8())), where)
    if is_number(kind):
        return numeric(name, "number", _floats(column), where)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return numeric(name, "date", days(column), where, zone_words(kind))
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        return numeric(name, "number", _hours(column), where, "as hours")
    if is_text(kind):
        return _text(name, column, where, writing)
    return Unusable(name, f"holds {kind}, which cannot be turned into numbers")


def _eight_digits(name: str, column: pa.ChunkedArray, where: str) -> Column | Unusable | None:
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
    text = text_column(name, column, where)
    parsed = parse_eight_digits(text.cells)
    return None if parsed is None else text.read_as("date", parsed)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers of any type, NaN where nothing is there."""
    found: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    return found


def _hours(column: pa.ChunkedArray) -> NDArray[np.float64]:
    counts = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
    return _floats(counts) / (3600 * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[column.type.unit])


def _text(name: str, column: pa.ChunkedArray, where: str, writing: Writing) -> Column | Unusable:
    text = text_column(name, column, where)
    for kind, parse in _READERS.items():
        found = parse(text.cells, writing)
        if found is not None:
            return text.read_as(kind, found)
    categories = as_categories(name, column)
    if isinstance(categories, Column):
        return categories
    if are_padded(text.cells):
        why = "holds digits with zeros in front, which are codes; written without they are numbers"
        return Unusable(name, why)
    return with_mistakes(text, MOST_CATEGORIES, writing) or categories


def _parse_yes_no(cells: pa.Array, _: Writing) -> Parsed | None:
    if len(cells) > _MOST_SPELLINGS:
        return None
    words = [(cell or "").strip().lower() for cell in cells.to_pylist()]
    present = set(words) - set(MISSING)
    pair = next((pair for pair in YES_NO if present and present <= set(pair)), None)
    if pair is None:
        return None
    answers = {word: float(word == pair[0]) for word in present}
    return np.array([answers.get(word, np.nan) for word in words]), None


_READERS: dict[str, Callable[[pa.Array, Writing], Parsed | None]] = {
    "yes/no": _parse_yes_no,
    "number": lambda cells, how: None if are_padded(cells) else parse_numbers(cells, how),
    "date": lambda cells, _: parse_dates(cells),
}


def as_categories(name: str, column: pa.ChunkedArray) -> Column | Unusable:
    """One part for every different value as text; an empty cell is none of them."""
    plain = decoded(column) if pa.types.is_dictionary(column.type) else column
    try:
        text = plain.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return Unusable(name, f"holds {plain.type}, which cannot be names")
    nothing = pa.array(["", EXPORTED, *(["nan"] if is_number(plain.type) else [])], text.type)
    is_missing = pc.is_in(text, value_set=nothing).to_numpy() | pc.is_null(text).to_numpy()
    different = pc.unique(text.filter(pa.array(~is_missing)))
    if len(different) > MOST_CATEGORIES:
        return Unusable(
            name,
            f"{'is text with' if is_text(plain.type) else 'has'} {len(different)} different "
            f"values, more than the {MOST_CATEGORIES} that "
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
