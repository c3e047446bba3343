"""Node ids from columns of any type, made comparable between tables.

The rules: text stays exactly as written ("007" is not 7). Only if every id of the edges and of the
node table is a whole number in its shortest form are all of them numbers; where numbers meet text,
they are compared as text. An id that is missing from the node table may be there in another
spelling (`respelled`). All of it works on the distinct ids, not on the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.load.cell_formats import all_match, any_match
from egoscore.load.table import decoded, is_text
from egoscore.notes import Note

BATCH = 1 << 18  # rows that are looked up together: numpy widens their numbers
_STRING_BATCH = 1 << 14  # ids that are Python strings for a moment
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_POINT_ZERO = r"^(0|-?[1-9][0-9]{0,17})\.0+$"


@dataclass(frozen=True)
class IdColumn:
    """A column of ids: the distinct `values` (int64 or text), and the `codes` (rows,) of the rows.

    `codes` is -1 where the cell is empty.
    """

    name: str
    table_name: str
    values: pa.Array
    codes: NDArray[np.int32]

    @property
    def where(self) -> str:
        """What messages call the column."""
        return f"column '{self.name}' of {self.table_name}"

    @property
    def has_numbers(self) -> bool:
        """Whether its ids are whole numbers by type."""
        return bool(pa.types.is_int64(self.values.type))

    def first_missing(self) -> int | None:
        """The first row without an id, if there is one."""
        empty = np.flatnonzero(self.codes < 0)
        return int(empty[0]) if len(empty) else None


def read_ids(column: pa.ChunkedArray, name: str, table_name: str, notes: list[Note]) -> IdColumn:
    """A column of a table as ids."""
    found = IdColumn(name, table_name, pa.array([], pa.string()), np.empty(0, np.int32))
    plain = _plain(column, found, notes)
    if not pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_encode()  # all chunks share one dictionary
    elif plain.num_chunks > 1:
        plain = plain.unify_dictionaries()
    chunks = plain.chunks
    if not chunks:
        return found
    values = chunks[0].dictionary
    values = values.cast(pa.string()) if is_text(values.type) else values
    pieces = [_codes(chunk.indices.cast(pa.int32())) for chunk in chunks]
    codes = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return _drop_unused(replace(found, values=values, codes=codes))


def _codes(indices: pa.Array) -> NDArray[np.int32]:
    """Codes, -1 where there is none; only copied if one is missing."""
    full = indices.fill_null(-1) if indices.null_count else indices
    codes: NDArray[np.int32] = full.to_numpy()
    return codes


def _plain(column: pa.ChunkedArray, of: IdColumn, notes: list[Note]) -> pa.ChunkedArray:
    """The column as int64, text, or dictionary-encoded text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column if kind.value_type == pa.string() else _plain(decoded(column), of, notes)
    if is_text(kind):
        return column
    if pa.types.is_integer(kind):
        return _whole_or_text(column)
    if pa.types.is_floating(kind):
        whole = _whole_or_text(pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column))
        if pa.types.is_integer(whole.type):
            notes.append(Note.info("ids-whole-decimals", table=of.table_name, column=of.name))
        return whole
    is_other = pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    if pa.types.is_temporal(kind) or is_other:
        return column.cast(pa.string())
    raise InputError(
        f"The ids in {of.where} are of type {kind}; turn them into text or whole numbers."
    )


def _whole_or_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.string())


def _drop_unused(ids: IdColumn) -> IdColumn:
    """Without ids that occur in no row, as categories allow, and with empty text as missing."""
    keep = occurring(len(ids.values), ids.codes)
    if is_text(ids.values.type):
        filled = pc.not_equal(pc.fill_null(ids.values, ""), "")
        keep &= filled.to_numpy(zero_copy_only=False)
    if keep.all():
        return ids
    new = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1).astype(np.int32)
    return replace(ids, values=ids.values.filter(pa.array(keep)), codes=new[ids.codes])


def occurring(size: int, *codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the numbers below `size` occur; -1 is none of them."""
    occurs = np.zeros(size + 1, dtype=bool)
    for some in codes:
        for start in range(0, len(some), BATCH):
            occurs[some[start : start + BATCH]] = True
    return occurs[:size]


def as_numpy(values: pa.Array) -> NDArray[Any]:
    """Ids as a graph has them: int64, or NumPy's text, which is far smaller than Python's."""
    if not is_text(values.type):
        numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return numbers
    names = np.empty(len(values), dtype=np.dtypes.StringDType())
    for start in range(0, len(values), _STRING_BATCH):
        part = values.slice(start, _STRING_BATCH)
        names[start : start + _STRING_BATCH] = part.to_numpy(zero_copy_only=False)
    return names


def unify_types(columns: list[IdColumn], has_table: bool, notes: list[Note]) -> list[IdColumn]:
    """The columns with ids of one type: those of both ends, then those of the node table."""
    columns = _drop_point_zero(columns, notes)
    columns = _trim_if_needed(columns, has_table, notes)
    present = [column for column in columns if len(column.values)]
    is_whole = all(column.has_numbers or all_match(column.values, _WHOLE) for column in present)
    kind = pa.int64() if is_whole else pa.string()
    return [replace(column, values=column.values.cast(kind)) for column in columns]


def _drop_point_zero(columns: list[IdColumn], notes: list[Note]) -> list[IdColumn]:
    """12.0 as 12 where a whole column is like that and another is not.

    Pandas writes whole numbers so once a cell of the column was missing. Where another column has
    12.0 as well, that is the id.
    """
    ends_so = [not c.has_numbers and any_match(c.values, r"\.0$") for c in columns]
    if not any(ends_so) or not any(c.has_numbers or all_match(c.values, _WHOLE) for c in columns):
        return columns
    result = []
    for column in columns:
        others = [other.values for other in columns if other is not column]
        if (
            not column.has_numbers
            and all_match(column.values, _POINT_ZERO)
            and not any(count_in(column.values, other.cast(pa.string())) for other in others)
        ):
            shorter = pc.replace_substring_regex(column.values, r"\.0+$", "")
            column = replace(column, values=shorter)
            notes.append(Note.info("ids-point-zero", table=column.table_name, column=column.name))
        result.append(column)
    return result


def _trim_if_needed(columns: list[IdColumn], has_table: bool, notes: list[Note]) -> list[IdColumn]:
    """Ids without surrounding space, but only if they match only without it."""
    if all(column.has_numbers or _is_trimmed(column.values) for column in columns):
        return columns
    before = [column.values.cast(pa.string()) for column in columns]
    after = [pc.utf8_trim_whitespace(values) for values in before]
    if any(pc.any(pc.equal(values, "")).as_py() for values in after):  # an id made of space
        return columns
    matters = _matches_table if has_table else _matches_ends
    if not matters(before, after):
        return columns
    notes.append(Note.info("ids-trimmed"))
    return [replace(c, values=values) for c, values in zip(columns, after, strict=True)]


def _is_trimmed(values: pa.Array) -> bool:
    parts = (values.slice(start, BATCH) for start in range(0, len(values), BATCH))
    return all(pc.utf8_trim_whitespace(part).equals(part) for part in parts)


def _matches_table(before: list[pa.Array], after: list[pa.Array]) -> bool:
    """Whether without space more ends are in the node table, and its ids are still distinct."""
    if len(pc.unique(after[-1])) < len(after[-1]):
        return False
    found = [sum(count_in(ends, texts[-1]) for ends in texts[:-1]) for texts in (before, after)]
    return found[1] > found[0]


def _matches_ends(before: list[pa.Array], after: list[pa.Array]) -> bool:
    """Whether a whole column has space, as in `a, b`, and shares ids with the other without it."""
    is_padded = any(
        pc.all(pc.not_equal(a, b)).as_py() for a, b in zip(before, after, strict=True) if len(a)
    )
    return is_padded and count_in(*after) > count_in(*before)


def count_in(values: pa.Array, known: pa.Array) -> int:
    """How many of the values are among the known ones."""
    return pc.sum(pc.is_in(values, value_set=known)).as_py() or 0


def normalized(ids: pa.Array) -> pa.Array:
    """Ids without differences of spelling: capitals, space around, leading zeros, accents.

    Mail addresses differ in capitals between two systems, spreadsheets drop leading zeros, and
    accents have two encodings.
    """
    folded = pc.utf8_lower(pc.utf8_trim_whitespace(pc.utf8_normalize(ids, form="NFC")))
    return pc.replace_substring_regex(folded, r"^0+([0-9]+)$", r"\1")


def respelled(ids: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """For each of `ids` the position of the one of `known` that differs only in spelling, or -1.

    Where spelling distinguishes two of `known` it means something: all are -1.
    """
    if len(ids) and is_text(ids.type) and is_text(known.type):
        theirs = normalized(known)
        if pc.count_distinct(theirs).as_py() == len(known):
            places = pc.index_in(normalized(ids), value_set=theirs)
            return np.asarray(pc.fill_null(places, -1)).astype(np.int64)
    return np.full(len(ids), -1)


def comparable(*columns: IdColumn) -> pa.Array:
    """The distinct ids as text, without differences of spelling and a trailing .0."""
    text = pa.chunked_array([column.values.cast(pa.string()) for column in columns], pa.string())
    return pc.replace_substring_regex(normalized(text.combine_chunks()), r"^(-?\d+)\.0+$", r"\1")
