"""Numbers written as text: 12, 1e-3, 1,234.5, 12,5, 1 234,5, 1'234.5, 1.234.567, (12), 12-, 2K."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import SPACE, all_match, any_match, bare_cells, matches
from egoscore.read.marks import MINUSES, marks, unit_of, with_mark, without
from egoscore.read.ways import Parsed, Way, parse

_APOSTROPHE = "['\u2019]"
SPACED = rf"\d{SPACE}\d{{3}}"
_WITH_APOSTROPHE = rf"\d{_APOSTROPHE}\d{{3}}"
# Nobody who means twelve and a half by 12,500 writes these: two groups, a group and a dot, or a dot
# with other than three digits after it.
_SURE_GROUPS = r",\d{3}(,\d{3}|\.)|^[+-]?\d*\.(\d{1,2}|\d{4,})$"
# Nor does anybody who means thousands write these: other than three digits after the comma, more
# than three or a zero before it, groups with dots, powers of ten.
_SURE_DECIMALS = r"^[+-]?(\d*,(\d{1,2}|\d{4,})|(0\d*|\d{4,}),\d+)$|\.\d{3},|,\d+[eE][+-]?\d"
_SURE_DOTS = r"^[+-]?[1-9]\d{0,2}(\.\d{3}){2,}$"
_ADDRESS = r"^\d{1,3}(\.\d{1,3}){3}$"  # of a computer
_SHORT = r"^[+-]?\d{1,3}$"
# With such cells among them, what looks like numbers are codes.
_CODE = r"^0\d+\w*$"
_AS_WELL = "would fit as well"
# Thousands, millions and billions in letters.
_FACTORS = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9}
_LETTERS = rf"{SPACE}?(?:{'|'.join(_FACTORS)})$"


@dataclass(frozen=True)
class _Form:
    """How cells look, what stands `between` their thousands, whether the comma is a point.

    And whether letters may follow that stand for thousands, millions or billions.
    """

    pattern: str
    words: str = ""
    between: str = ""
    has_decimal_comma: bool = False
    has_letters: bool = False

    @property
    def way(self) -> Way:
        """The form as a way to write numbers."""
        return Way(partial(matches, pattern=self.pattern), self.read, self.words or None)

    def read(self, text: pa.Array) -> NDArray[np.float64]:
        """The numbers in text that looks so."""
        text = pc.replace_substring_regex(text, self.between, "") if self.between else text
        text = pc.replace_substring(text, ",", ".") if self.has_decimal_comma else text
        if self.has_letters:
            return _times_letters(text)
        numbers: NDArray[np.float64] = pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
        return numbers


def _times_letters(text: pa.Array) -> NDArray[np.float64]:
    """Numbers times what the letters behind them stand for, if there are any."""
    letters = pc.utf8_lower(pc.replace_substring_regex(text, r"^[^A-Za-z]*", ""))
    place = pc.fill_null(pc.index_in(letters, value_set=pa.array([*_FACTORS])), len(_FACTORS))
    places: NDArray[np.int32] = place.to_numpy(zero_copy_only=False)
    factors = np.array([*_FACTORS.values(), 1.0])[places]
    bare = pc.replace_substring_regex(text, rf"{SPACE}?[A-Za-z]*$", "")
    bases: NDArray[np.float64] = pc.cast(bare, pa.float64()).to_numpy(zero_copy_only=False)
    numbers: NDArray[np.float64] = bases * factors
    return numbers


_PLAIN = _Form(r"(?i)^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)$")
_POINT = replace(_PLAIN, words="a decimal point")
_COMMAS = _Form(
    r"^[+-]?(([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?|\.\d+)$",
    "commas between thousands",
    between=",",
)
_DOTS = _Form(r"^[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)$", "dots between thousands", between=r"\.")
_DECIMAL_COMMA = _Form(
    r"(?i)^[+-]?((\d{1,3}(\.\d{3})+|\d+)(,\d+)?|\d+(,\d+)?e[+-]?\d+)$",
    "a decimal comma",
    between=r"\.",
    has_decimal_comma=True,
)
SPACES = _Form(
    rf"^[+-]?([1-9]\d{{0,2}}({SPACE}\d{{3}})+|\d+)(\.\d+)?$",
    "spaces between thousands",
    between=SPACE,
)
_WITH_LETTERS = _Form(
    rf"(?i)^[+-]?(\d+\.?\d*|\.\d+)({_LETTERS.removesuffix('$')})?$",
    "K for thousands, M for millions, B for billions",
    has_letters=True,
)
_APOSTROPHES = _Form(
    SPACES.pattern.replace(SPACE, _APOSTROPHE),
    "apostrophes between thousands",
    between=_APOSTROPHE,
)


def _with_comma(form: _Form) -> _Form:
    """The same with a decimal comma in place of the point."""
    return replace(
        form,
        pattern=form.pattern.replace(r"\.", ","),
        words=f"{form.words} and a decimal comma",
        has_decimal_comma=True,
    )


@dataclass(frozen=True)
class Writing:
    """How the table at hand is written.

    `separator` stands between its cells, if anything does; `has_decimal_commas` says whether other
    columns show that the comma is the decimal point here.
    """

    separator: str = ""
    has_decimal_commas: bool = False


def parse_numbers(cells: pa.Array, writing: Writing) -> Parsed | None:
    """Text as numbers, NaN where nothing is there, and how it was taken if there was a choice.

    None if any cell is something else, or if all are empty.
    """
    return parse(cells, partial(number_ways, writing=writing))


def shows_decimal_commas(cells: pa.Array, separator: str) -> bool:
    """Whether these are numbers with decimal commas, and can be nothing else."""
    found = parse_numbers(cells, Writing(separator))
    how = "" if found is None else found[1] or ""
    return "a decimal comma" in how and _AS_WELL not in how


def shows_decimal_points(cells: pa.Array) -> bool:
    """Whether these are numbers some of which have a decimal point, and nothing else."""
    found = parse_numbers(cells, Writing())
    return found is not None and any_match(cells, r"^\s*[+-]?(\d*\.(\d{1,2}|\d{4,})|0\.\d+)\s*$")


def number_ways(text: pa.Array, writing: Writing) -> Iterator[Way]:
    """The ways in which numbers may be written here."""
    minus = next((minus for minus in MINUSES if minus.occurs(text)), None)
    if minus is None:
        yield from _signed_ways(text, writing)
        return
    for way in _signed_ways(minus.in_front(text), writing):
        yield minus.way(way)


def _signed_ways(text: pa.Array, writing: Writing) -> Iterator[Way]:
    """The ways in which numbers may be written that have a minus, if any, in front."""
    for form in _forms(text, writing):
        yield form.way
    for mark in marks(text):
        for form in _forms(without(text, mark), writing):
            yield with_mark(form.way, mark)


def are_padded(cells: pa.Array) -> bool:
    """Whether cells are all digits and some have zeros in front, as codes have and numbers not."""
    text, _ = bare_cells(cells)
    return len(text) > 0 and all_match(text, r"^\d+$") and any_match(text, r"^0\d")


def are_codes(text: pa.Array) -> bool:
    """Whether zeros in front show that these are no numbers, whatever they look like."""
    return any_match(text, _CODE)


def _forms(text: pa.Array, writing: Writing) -> Iterator[_Form]:
    """The forms that the text itself and how its table is written allow.

    Where commas separate cells, one within a cell stands between thousands, unless most cells can
    be nothing but decimals (12,5 in quotes). Elsewhere the column shows it or, if 1,234 may be
    either, it is a decimal comma where semicolons separate cells, as in files of programs that
    write 12,5, unless a cell is a number of at most three digits without a comma, as a number below
    a thousand would be; otherwise thousands.
    """
    separator = writing.separator
    has_dots = _has_dots(text)
    may_have_dots = any_match(text, r"\.") and all_match(text, _DOTS.pattern)
    if has_dots or (may_have_dots and writing.has_decimal_commas):
        yield _DOTS  # before the plain numbers: 10.300 is one of those as well
    yield _doubted(_POINT, _DOTS) if may_have_dots and separator == ";" else _PLAIN
    if any_match(text, rf"(?i)\d{_LETTERS}") and unit_of(text) is None:
        yield _WITH_LETTERS
        if separator != ",":
            yield _with_comma(_WITH_LETTERS)
    if any_match(text, SPACED):
        yield from (SPACES, _with_comma(SPACES))
    if any_match(text, _WITH_APOSTROPHE):
        yield from (_APOSTROPHES, _with_comma(_APOSTROPHES))
    if not any_match(text, ","):
        return
    groups, decimals = any_match(text, _SURE_GROUPS), any_match(text, _SURE_DECIMALS) or has_dots
    if groups or separator == ",":
        yield _COMMAS
    if decimals and (separator != "," or _mostly_decimals(text)):
        yield _DECIMAL_COMMA
    if not groups and not decimals and separator != ",":
        is_decimal = separator == ";" and not any_match(text, _SHORT)
        yield _doubted(*((_DECIMAL_COMMA, _COMMAS) if is_decimal else (_COMMAS, _DECIMAL_COMMA)))


def _has_dots(text: pa.Array) -> bool:
    """Whether dots stand between thousands; those of 192.168.100.101 do not."""
    return any_match(text, _SURE_DOTS) and bool(matches(text, _ADDRESS).mean() < 0.5)


def _mostly_decimals(text: pa.Array) -> bool:
    """Whether more cells with a comma are surely decimals than not."""
    return bool(2 * matches(text, _SURE_DECIMALS).sum() > matches(text, ",").sum())


def _doubted(form: _Form, other: _Form) -> _Form:
    return replace(form, words=f"{form.words} ({other.words} {_AS_WELL})")
