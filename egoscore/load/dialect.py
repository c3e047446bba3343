"""How a text file is written: its encoding, separator and header, detected from its first lines."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest

from egoscore.errors import InputError, ParameterError
from egoscore.load.cell_formats import MISSING
from egoscore.load.column_names import folded, known_pair, names_columns
from egoscore.notes import Note
from egoscore.runtime import ProcessWide
from egoscore.text import are, counted, option, quoted

SPACES = "  "  # stands for runs of spaces and tabs, which no parser takes as a separator
_SEPARATORS = ("\t", ";", "|", ",", " ")
_SAMPLE_ROWS = 300
_MAX_CELL = 1 << 25
_COMMENT = ("#", "%")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ].*)?")
_YEAR = r"(19|20)\d\d"
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1f]")
_NOT_TABLES = {
    b"{": "JSON",
    b"[": "JSON",
    b"<": "a web page or XML",
    b"%PDF": "a PDF",
    b"{\\rtf": "a text document",
}
# Python knows them as encodings of text, but no file is written in them.
_NOT_OF_FILES = ("punycode", "idna", "unicode-escape", "raw-unicode-escape", "undefined")


class TooShortError(InputError):
    """There is no complete row yet; more of the file may have one."""


@dataclass(frozen=True)
class Dialect:
    """How to read a file: `skip` lines and, if there is one, the header come first.

    Attributes: `names` of the columns, "column 1" and so on where there are none, and which are
    `nameless`; `rows`, the first ones below the header, as a sample.
    """

    separator: str
    encoding: str
    skip: int
    has_header: bool
    names: tuple[str, ...]
    nameless: frozenset[str]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[Note, ...]

    @property
    def is_numbered(self) -> bool:
        """Whether no column has a name."""
        return any(note.code == "no-header" for note in self.notes)


@dataclass(frozen=True)
class Hints:
    """What the user says about a text file, and what it is for.

    Attributes:
        expected: names of columns that identify a header.
        encoding: None to detect it.
        columns: the names of all columns, if there is no header.
        are_edges: whether it should be a list of edges, so that two columns are their ends.
    """

    expected: Sequence[str] = ()
    encoding: str | None = None
    columns: Sequence[str] = ()
    are_edges: bool = False


_NO_HINTS = Hints()


def detect_dialect(head: bytes, is_whole: bool, where: str, hints: Hints = _NO_HINTS) -> Dialect:
    """The dialect of a file that begins with `head`.

    Unless `head` is the whole file, it must hold two rows, or else it is too short.
    """
    encoding = hints.encoding
    if encoding is None:
        encoding, notes = detect_encoding(head, where)
    else:
        notes = [Note.info("encoding-given", table=where, encoding=encoding)]
    try:
        lines = _lines(head, encoding, is_whole)
    except UnicodeError as error:  # UTF-16 and UTF-32 without a byte order mark
        raise wrong_encoding(where, encoding) from error
    skip = _preface(lines)
    if skip == len(lines):
        raise TooShortError(f"{where} holds no table; it needs a header and rows below it.")
    declared = re.fullmatch(r"sep=(.)", lines[skip].strip())  # Excel's own first line
    separator = declared[1] if declared else _find_separator(lines[skip:], is_whole)
    skip += 1 if declared else 0
    rows = _rows(lines[skip:], separator, is_whole)
    if len(rows) < (1 if is_whole else 2):
        raise TooShortError(f"{where} has no rows; a table needs some.")
    comment = _last_comment(lines[:skip], separator)
    names, has_header, more = _names(rows, comment, hints, where)
    if separator != ",":
        shown = " " if separator == SPACES else separator
        notes.append(Note.info("separator", table=where, separator=shown))
    notes += more
    below = tuple(tuple(row) for row in rows[1 if has_header else 0 :])
    by_place = tuple(name or f"column {place}" for place, name in enumerate(names, 1))
    nameless = frozenset(by_place) - frozenset(names)
    return Dialect(separator, encoding, skip, has_header, by_place, nameless, below, tuple(notes))


def known_encoding(name: str) -> str:
    """Python's name for an encoding of text files."""
    try:
        b"a".decode(name, "replace")
        known = codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError):
        known = "undefined"
    if known in _NOT_OF_FILES:
        rule = "the name of an encoding, such as 'cp1251' or 'shift_jis'"
        raise ParameterError("encoding", rule, name, "Options")
    return known


def detect_encoding(head: bytes, where: str) -> tuple[str, list[Note]]:
    """The encoding of a text that begins with `head`; anything but text is refused."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", [Note.info("encoding-detected", table=where, encoding="UTF-16")]
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((name for start, name in _NOT_TABLES.items() if text.startswith(start)), None)
    if kind is not None or b"\x00" in head:
        raise not_a_table(where, kind)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        if _CONTROL.search(head):
            raise not_a_table(where) from None
        return _western(head), [guessed_encoding(where)]
    return "utf-8", []


def not_a_table(where: str, kind: str | None = None) -> InputError:
    """The error for a file that is something else."""
    or_encoding = "" if kind else f", or name its encoding with {option('encoding', 'utf-16-le')}"
    return InputError(
        f"{where} is {kind or 'not a text file'}, not a table; save the table as CSV or Parquet "
        f"and pass that{or_encoding}."
    )


def wrong_encoding(where: str, encoding: str) -> InputError:
    """The error for a file that is not in the encoding the user named."""
    return InputError(
        f"{where} is not text in the encoding {encoding}; name another with {option('encoding')}, "
        "such as utf-16-le, or omit it to have it detected."
    )


def guessed_encoding(where: str) -> Note:
    """The note that text that is not UTF-8 is read as Western European."""
    return Note.warning("encoding-guessed", table=where, encoding="Windows-1252")


def _western(head: bytes) -> str:
    """The encoding of Western European files; Windows-1252 does not define all bytes."""
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _lines(head: bytes, encoding: str, is_whole: bool) -> list[str]:
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head, is_whole)
    text = text.removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > 1 and (not is_whole or not lines[-1]):
        lines.pop()
    return lines


def _preface(lines: list[str]) -> int:
    """How many lines precede the table: blank ones and comments (SNAP, KONECT)."""
    for number, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith(_COMMENT):
            return number
    return len(lines)


def _rows(lines: list[str], separator: str, is_whole: bool) -> list[list[str]]:
    if separator == SPACES:
        return [line.split() for line in lines[:_SAMPLE_ROWS] if line.strip()]
    try:
        with _long_cells():
            reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator)
            rows = [row for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False) if row]
    except csv.Error:  # a cell longer than any name or id
        return []
    # the last row may continue beyond the sample
    return rows if is_whole or len(rows) == 1 else rows[:-1]


@ProcessWide
@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the csv module read longer cells than by default."""
    before = csv.field_size_limit(_MAX_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _find_separator(lines: list[str], is_whole: bool) -> str:
    """The separator that gives all rows the same number of cells, or comes closest to that."""
    split = {separator: _rows(lines, separator, is_whole) for separator in (*_SEPARATORS, SPACES)}
    if not is_whole and len(split[SPACES]) > 1:
        split[SPACES].pop()
    even = {separator: rows for separator, rows in split.items() if _is_even(rows)}
    if SPACES in even and _needs_runs(even):
        return SPACES
    if even:
        return next(iter(even))
    shares = {
        separator: sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        for separator, rows in split.items()
        if rows and len(rows[0]) > 1 and separator != SPACES
    }
    return max(shares, key=lambda separator: shares[separator], default=",")


def _is_even(rows: list[list[str]]) -> bool:
    """Whether all rows have the same number of cells, more than one."""
    return bool(rows) and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)


def _needs_runs(even: dict[str, list[list[str]]]) -> bool:
    """Whether single spaces or tabs do not separate: empty cells between, or tabs and spaces."""
    first = next(iter(even))
    if first == " ":
        return not all(cell for row in even[" "] for cell in row)
    cells = [cell for row in even[SPACES] for cell in row]
    more = len(even[SPACES][0]) > len(even[first][0])
    return first == "\t" and more and all(_NUMBER.fullmatch(cell) for cell in cells)


def _last_comment(preface: list[str], separator: str) -> list[str]:
    """The cells of the comment right above the table, which may be the header."""
    comments = [line for line in preface if line.strip()]
    rows = _rows([comments[-1].strip().lstrip("#% ")], separator, True) if comments else []
    return rows[0] if rows else []


def _names_given(
    rows: list[list[str]], hints: Hints, where: str
) -> tuple[list[str], bool, list[Note]]:
    """The same as `_names` where the user names all columns; there may still be a header."""
    first, columns = [cell.strip() for cell in rows[0]], list(hints.columns)
    if len(columns) != len(first):
        raise InputError(
            f"{where} has {counted(len(first), 'column')}, and {counted(len(columns), 'name')} "
            f"{are(len(columns))} given for them ({quoted(columns)}); name every column."
        )
    is_same = [folded(cell) for cell in first] == [folded(name) for name in columns]
    has_header = is_same or names_columns(first, hints.expected) or _has_text_above_numbers(rows)
    note = Note.info("columns-given", table=where, columns=columns, header=has_header)
    return columns, has_header, [note]


def _names(
    rows: list[list[str]], comment: list[str], hints: Hints, where: str
) -> tuple[list[str], bool, list[Note]]:
    """The names of the columns, whether the first row is the header, and notes on that."""
    if hints.columns:
        return _names_given(rows, hints, where)
    first = [cell.strip() for cell in rows[0]]
    if names_columns(first, hints.expected) or not _is_data(rows):
        return first, True, []
    if len(comment) == len(first) and known_pair(comment) is not None:
        return [cell.strip() for cell in comment], False, []
    names = [f"column {number}" for number in range(1, len(first) + 1)]
    if hints.are_edges and len(first) == 2:
        names = ["source", "target"]
    note = Note.info("no-header", table=where, columns=names, edges=hints.are_edges)
    return names, False, [note]


def _is_data(rows: list[list[str]]) -> bool:
    """Whether the first row is like the ones below: its ids are numbers or have their shape."""
    ends = [cell for cell in rows[0][:2] if cell.strip()]
    if ends and all(_NUMBER.fullmatch(cell) for cell in ends):
        return True
    below = [row[:2] for row in rows[1:]]
    shapes = {_shape(cell) for row in below for cell in row}
    return any(_shape(cell) in shapes for cell in ends) or _has_measurements(rows)


def _has_measurements(rows: list[list[str]]) -> bool:
    """Whether the first row has numbers or dates where all others have them, and no names."""
    columns = [column for column in zip_longest(*rows, fillvalue="") if not _is_empty(column[0])]
    numbers = [
        first.strip()
        for first, *below in columns
        if all(map(_is_measured, (first, *below))) and not all(map(_is_empty, below))
    ]
    names = [cell for cell in numbers if re.fullmatch(_YEAR, cell)]  # of columns, perhaps
    if numbers in (
        [str(i) for i in range(len(numbers))],
        [str(i + 1) for i in range(len(numbers))],
    ):
        names = numbers
    return len(names) < len(numbers) and not _has_text_above_numbers(rows)


def _has_text_above_numbers(rows: list[list[str]]) -> bool:
    """Whether a column has nothing but numbers or dates below its first cell."""
    for first, *below in zip_longest(*rows, fillvalue=""):
        cells = [cell for cell in below if not _is_empty(cell)]
        if (
            cells
            and not (_is_empty(first) or _is_measured(first))
            and all(map(_is_measured, cells))
        ):
            return True
    return False


def _is_measured(cell: str) -> bool:
    """Whether a cell holds a number or a date, or nothing."""
    return _is_empty(cell) or any(form.fullmatch(cell.strip()) for form in (_NUMBER, _DATE))


def _is_empty(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def _shape(cell: str) -> str:
    """What ids of one kind have in common; words only match themselves, as they may be names."""
    if "@" in cell or "://" in cell:
        return "an address"
    if not re.search(r"\d", cell) or re.fullmatch(_YEAR, cell):  # a year names a column
        return f"the word {cell}"
    return re.sub(r"\w+", "a", cell) if len(cell) >= 16 else re.sub(r"\d+", "0", cell)
