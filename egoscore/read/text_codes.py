"""Text that comes in blocks as codes: every different text is kept once, and the rows are numbers.

Arrow encodes only what is in memory as a whole; here no more than a block of the text ever is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.keyed import compiled

_FEWEST = 1 << 10
_MOST_FULL = 0.75  # share of the places of a hash table that are taken
_AT_ONCE = 1 << 10  # rows whose texts are compared together
_MOST_ROWS = 1 << 16  # for which room is made at a time
_MOST_LETTERS = 2**31 - 1  # of all ids together, as Arrow has them
_MOST_CODES = 2**31 - 2


class TextCodes:
    """The different texts so far, in the order they came: the number of each is its code.

    A place of the hash table holds the hash of a text above, its code plus one below, and zero
    where no text is.
    """

    def __init__(self) -> None:
        self._places = np.zeros(_FEWEST, dtype=np.uint64)
        self._starts = np.zeros(_FEWEST, dtype=np.int32)
        self._known = np.empty(_FEWEST, dtype=np.uint8)
        self._count = 0

    def encode(self, text: pa.Array, codes: NDArray[np.int32]) -> None:
        """Fill `codes` (rows,) with those of the rows; what is missing counts as empty."""
        for start in range(0, len(text), _MOST_ROWS):
            self._encode(text.slice(start, _MOST_ROWS), codes[start : start + _MOST_ROWS])

    def _encode(self, text: pa.Array, codes: NDArray[np.int32]) -> None:
        letters, ends = _bytes(text)
        self._make_room(len(text), int(ends[-1] - ends[0]))
        hashes = np.empty(len(text), dtype=np.uint64)
        _hash(letters, ends, hashes)
        _look_up(hashes, self._places, codes)
        _verify(letters, ends, self._starts, self._known, codes)
        table = self._places, self._starts, self._known, self._count
        self._count = _add(letters, ends, hashes, *table, codes)

    def _make_room(self, rows: int, letters: int) -> None:
        """For a block of which every row is new."""
        most = self._count + rows
        if most > _MOST_CODES:
            raise InputError(f"At most {_MOST_CODES:,} different ids are supported.")
        if int(self._starts[self._count]) + letters > _MOST_LETTERS:
            raise InputError(
                f"At most {_MOST_LETTERS + 1 >> 30} GB of different ids are supported."
            )
        self._starts = _grown(self._starts, most + 1)
        self._known = _grown(self._known, int(self._starts[self._count]) + letters)
        while most > _MOST_FULL * len(self._places):
            larger = np.zeros(2 * len(self._places), dtype=np.uint64)
            _move(self._places, larger)
            self._places = larger

    def values(self) -> pa.Array:
        """The different texts. After that no more can be encoded."""
        self._places = np.zeros(0, dtype=np.uint64)  # its memory may be needed now
        starts = pa.py_buffer(self._starts[: self._count + 1])
        known = pa.py_buffer(self._known[: self._starts[self._count]])
        return pa.StringArray.from_buffers(self._count, starts, known)


class CodedColumn:
    """The codes of a column of text that comes in blocks; several may share their `texts`."""

    def __init__(self, texts: TextCodes) -> None:
        self._texts = texts
        self._codes = np.empty(_FEWEST, dtype=np.int32)
        self._rows = 0

    def add(self, text: pa.Array) -> None:
        """Encode the next rows; what is missing counts as empty."""
        start, self._rows = self._rows, self._rows + len(text)
        self._codes = _grown(self._codes, self._rows)
        self._texts.encode(text, self._codes[start : self._rows])

    def codes(self) -> NDArray[np.int32]:
        """Those of all rows."""
        return self._codes[: self._rows]


def in_order(texts: TextCodes, columns: Sequence[CodedColumn]) -> list[pa.ChunkedArray]:
    """The columns by code, in one chunk each; they and their `texts` are used up.

    The texts of the first column come first, in the order of its rows, then what else the next one
    has: an order that does not depend on how rows came in blocks.
    """
    values = texts.values()
    numbers, counts = np.full(len(values), -1, dtype=np.int32), [0]
    for column in columns:
        counts.append(_renumber(column.codes(), numbers, counts[-1]))
    if len(columns) > 1:
        order = np.empty_like(numbers)
        order[numbers] = np.arange(len(numbers), dtype=np.int32)
        values = values.take(pa.array(order))
    return [
        pa.chunked_array([pa.DictionaryArray.from_arrays(column.codes(), values.slice(0, count))])
        for column, count in zip(columns, counts[1:], strict=True)
    ]


def _bytes(text: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of an array of text, and where in them every row begins and the last one ends."""
    full = text.cast(pa.large_string())
    full = full.fill_null("") if full.null_count else full
    _, offsets, letters = full.buffers()
    ends = np.frombuffer(offsets, np.int64)[full.offset : full.offset + len(full) + 1]
    return np.frombuffer(letters or b"", np.uint8), ends


def _grown(array: NDArray[Any], least: int) -> NDArray[Any]:
    """The array with room for as many, and for more, lest it grow often."""
    if least <= len(array):
        return array
    larger = np.empty(max(least, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def _hash(letters, ends, hashes):  # type: ignore[no-untyped-def]
    """FNV-1a, its upper half stirred once more: 32 bits for every row."""
    for row in range(len(hashes)):
        mixed = np.uint64(14695981039346656037)
        for letter in range(ends[row], ends[row + 1]):
            mixed = (mixed ^ np.uint64(letters[letter])) * np.uint64(1099511628211)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        hashes[row] = mixed >> np.uint64(32)


@compiled
def _look_up(hashes, places, codes):  # type: ignore[no-untyped-def]
    """The first text with the hash of a row, -1 if there is none.

    A loop of its own: the processor then waits for many places of the table at a time.
    """
    last = np.uint64(len(places) - 1)
    for row in range(len(hashes)):
        place = hashes[row] & last
        while places[place] != 0 and places[place] >> np.uint64(32) != hashes[row]:
            place = (place + np.uint64(1)) & last
        codes[row] = np.int64(places[place] & np.uint64(0xFFFFFFFF)) - 1


@compiled
def _is_same(letters, begin, length, known, starts, code):  # type: ignore[no-untyped-def]
    """Whether a row has the text of a code."""
    start = starts[code]
    if starts[code + 1] - start != length:
        return False
    same = True
    for letter in range(length):  # to the end: that takes less than to ask whether to go on
        same &= letters[begin + letter] == known[start + letter]
    return same


@compiled
def _verify(letters, ends, starts, known, codes):  # type: ignore[no-untyped-def]
    """Take back the codes of other texts that have the same hash.

    What is needed is fetched in loops before: the processor then waits for many at a time.
    """
    where = np.empty(_AT_ONCE, dtype=np.int64)
    for first in range(0, len(codes), _AT_ONCE):
        rows = range(first, min(first + _AT_ONCE, len(codes)))
        touched = np.uint8(0)
        for row in rows:
            where[row - first] = starts[max(codes[row], 0)]
        for row in rows:
            touched |= known[min(where[row - first], len(known) - 1)]  # empty text may be beyond
        for row in rows:
            begin, start = ends[row], where[row - first]
            length = ends[row + 1] - begin
            same = start + length <= len(known)
            if same:
                for letter in range(length):  # to the end: that takes less than to ask each time
                    same &= letters[begin + letter] == known[start + letter]
            if codes[row] >= 0 and not (same and starts[codes[row] + 1] - start == length):
                codes[row] = -1
    return touched


@compiled
def _add(letters, ends, hashes, places, starts, known, count, codes):  # type: ignore[no-untyped-def]
    """Codes for rows that have none yet, new ones where needed; returns how many there are."""
    last = np.uint64(len(places) - 1)
    for row in range(len(codes)):
        if codes[row] >= 0:
            continue
        begin, length = ends[row], ends[row + 1] - ends[row]
        place = hashes[row] & last
        while places[place] != 0:
            code = np.int64(places[place] & np.uint64(0xFFFFFFFF)) - 1
            is_near = places[place] >> np.uint64(32) == hashes[row]
            if is_near and _is_same(letters, begin, length, known, starts, code):
                break
            place = (place + np.uint64(1)) & last
        if places[place] == 0:
            code = count
            for letter in range(length):
                known[starts[code] + letter] = letters[begin + letter]
            count += 1
            starts[count] = starts[code] + length
            places[place] = (hashes[row] << np.uint64(32)) | np.uint64(count)
        codes[row] = code
    return count


@compiled
def _move(places, larger):  # type: ignore[no-untyped-def]
    """Fill a larger hash table with what is in a smaller one."""
    last = np.uint64(len(larger) - 1)
    for found in places:
        if found != 0:
            place = (found >> np.uint64(32)) & last
            while larger[place] != 0:
                place = (place + np.uint64(1)) & last
            larger[place] = found


@compiled
def _renumber(codes, numbers, count):  # type: ignore[no-untyped-def]
    """Number codes in the order they come, from `count` on; -1 has none yet. How many have one."""
    for row in range(len(codes)):
        code = codes[row]
        if numbers[code] < 0:
            numbers[code] = count
            count += 1
        codes[row] = numbers[code]
    return count
