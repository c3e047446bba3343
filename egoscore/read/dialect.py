"""How a text file writes its table down, found out from its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from egoscore.errors import InputError
from egoscore.read.encoding import find_encoding
from egoscore.read.names import is_header, known_pair

RUNS = "  "  # stands for runs of spaces and tabs, which no reader takes as a separator
_SEPARATORS = ("\t", ";", "|", ",", " ")
_WORDS = {"\t": "tabs", ";": "semicolons", "|": "bars", " ": "spaces", RUNS: "spaces"}
_MOST_ROWS = 300
_LONGEST_CELL = 1 << 25
_PREFACE = ("#", "%")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")


class TooShortError(InputError):
    """There is no row to be seen; where the file goes on, more of it may have one."""


@dataclass(frozen=True)
class Dialect:
    """How to read a file: `skip` lines and, if there is one, the row of names come first.

    Attributes: `names` of the columns, by place where there is none, and which are `nameless`;
    `rows`, the first ones below the names, to look at.
    """

    separator: str
    encoding: str
    skip: int
    has_header: bool
    names: tuple[str, ...]
    nameless: frozenset[str]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def sniff(
    head: bytes,
    is_whole: bool,
    where: str,
    given: Sequence[str] = (),
    known_encoding: str | None = None,
) -> Dialect:
    """The dialect of a file that begins with `head`; `given` are names the user expects in it.

    Unless `head` is the whole file, two rows must be in it, or else it is too short.
    """
    if known_encoding is None:
        encoding, notes = find_encoding(head, where)
    else:
        encoding, notes = known_encoding, [f"{where}: read as {known_encoding}, as you say."]
    lines = _lines(head, encoding, is_whole)
    skip = _preface(lines)
    if skip == len(lines):
        raise TooShortError(f"{where} holds no table; it needs a row of names and rows below.")
    told = re.fullmatch(r"sep=(.)", lines[skip].strip())  # Excel's own first line
    separator = told[1] if told else _find_separator(lines[skip:], is_whole)
    skip += 1 if told else 0
    rows = _rows(lines[skip:], separator, is_whole)
    if len(rows) < (1 if is_whole else 2):
        raise TooShortError(f"{where} has no rows; a table needs some.")
    names, has_header = _names(rows, _last_comment(lines[:skip], separator), given)
    if separator != ",":
        notes.append(f"{where}: cells are separated by {_WORDS.get(separator, repr(separator))}.")
    if not has_header and names[0] == "column 1":
        notes.append(
            f"{where}: the first line is taken as data, not as names; columns are called "
            "'column 1', 'column 2' and so on."
        )
    below = tuple(tuple(row) for row in rows[1 if has_header else 0 :])
    by_place = [name or f"column {place}" for place, name in enumerate(names, 1)]
    nameless = frozenset(by_place) - frozenset(names)
    return Dialect(
        separator, encoding, skip, has_header, tuple(by_place), nameless, below, tuple(notes)
    )


def _lines(head: bytes, encoding: str, is_whole: bool) -> list[str]:
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head, is_whole)
    text = text.removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > 1 and (not is_whole or not lines[-1]):
        lines.pop()
    return lines


def _preface(lines: list[str]) -> int:
    """How many lines stand before the table: blank ones and comments (SNAP, KONECT)."""
    for number, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith(_PREFACE):
            return number
    return len(lines)


def _rows(lines: list[str], separator: str, is_whole: bool) -> list[list[str]]:
    if separator == RUNS:
        return [line.split() for line in lines[:_MOST_ROWS] if line.strip()]
    try:
        with _long_cells():
            reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator)
            rows = [row for row, _ in zip(reader, range(_MOST_ROWS), strict=False) if row]
    except csv.Error:  # a cell longer than any name or id
        return []
    # the last row may go on where the sample ends
    return rows if is_whole or len(rows) == 1 else rows[:-1]


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the csv module read longer cells than it usually does."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _find_separator(lines: list[str], is_whole: bool) -> str:
    """The separator that gives every row as many cells, or else the one that comes closest."""
    split = {separator: _rows(lines, separator, is_whole) for separator in (*_SEPARATORS, RUNS)}
    if not is_whole and len(split[RUNS]) > 1:
        split[RUNS].pop()
    even = {separator: rows for separator, rows in split.items() if _is_even(rows)}
    if RUNS in even and _is_made_of_runs(even):
        return RUNS
    if even:
        return next(iter(even))
    shares = {
        separator: sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        for separator, rows in split.items()
        if rows and len(rows[0]) > 1 and separator != RUNS
    }
    return max(shares, key=lambda separator: shares[separator], default=",")


def _is_even(rows: list[list[str]]) -> bool:
    """Whether there are several cells in a row, as many in every row."""
    return bool(rows) and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)


def _is_made_of_runs(even: dict[str, list[list[str]]]) -> bool:
    """Whether one space or tab is not enough: empty cells between, or tabs beside spaces."""
    first = next(iter(even))
    if first == " ":
        return not all(cell for row in even[" "] for cell in row)
    cells = [cell for row in even[RUNS] for cell in row]
    more = len(even[RUNS][0]) > len(even[first][0])
    return first == "\t" and more and all(_NUMBER.fullmatch(cell) for cell in cells)


def _last_comment(preface: list[str], separator: str) -> list[str]:
    """The cells of the comment right above the table, which may hold the names."""
    comments = [line for line in preface if line.strip()]
    rows = _rows([comments[-1].strip().lstrip("#% ")], separator, True) if comments else []
    return rows[0] if rows else []


def _names(
    rows: list[list[str]], comment: list[str], given: Sequence[str]
) -> tuple[list[str], bool]:
    """The names of the columns, and whether the first row is made of them."""
    first = [cell.strip() for cell in rows[0]]
    if is_header(first, given) or not _is_data(rows):
        return first, True
    if len(comment) == len(first) and known_pair(comment) is not None:
        return [cell.strip() for cell in comment], False
    return [f"column {number}" for number in range(1, len(first) + 1)], False


def _is_data(rows: list[list[str]]) -> bool:
    """Whether the first row is like the ones below: both ids numbers, or of the same shape."""
    ends = [cell for cell in rows[0][:2] if cell.strip()]
    if ends and all(_NUMBER.fullmatch(cell) for cell in ends):
        return True
    below = [row[:2] for row in rows[1:]]
    shapes = {_shape(cell) for row in below for cell in row}
    return any(_shape(cell) in shapes for cell in ends)


def _shape(cell: str) -> str:
    """What ids of one kind have in common; words are only like themselves, as names are words."""
    if "@" in cell or "://" in cell:
        return "an address"
    if not re.search(r"\d", cell) or re.fullmatch(r"(19|20)\d\d", cell):  # a year names a column
        return f"the word {cell}"
    return re.sub(r"\w+", "a", cell) if len(cell) >= 16 else re.sub(r"\d+", "0", cell)
