"""Numbers written as text: 12, 1e-3, 1,234.5, 12,5, 1 234,5, 1'234.5, 1.234.567, (12), 12-, 2K."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.load.cell_formats import (
    MINUSES,
    SPACE,
    Format,
    Parsed,
    Values,
    all_match,
    any_match,
    as_floats,
    matches,
    parse,
    present_cells,
    read_where,
    symbols_in,
    unit_of,
    with_symbol,
    without,
)

_APOSTROPHE = "['\u2019]"
_SPACED = rf"\d{SPACE}\d{{3}}"
_WITH_APOSTROPHE = rf"\d{_APOSTROPHE}\d{{3}}"
# These show that commas separate thousands: two groups, a group and a dot, or a dot with other than
# three digits after it.
_SURE_GROUPS = r",\d{3}(,\d{3}|\.)|^[+-]?\d*\.(\d{1,2}|\d{4,})$"
# These show that the comma is the decimal point: other than three digits after it, more than three
# or a zero before it, groups with dots, powers of ten.
_SURE_DECIMALS = r"^[+-]?(\d*,(\d{1,2}|\d{4,})|(0\d*|\d{4,}),\d+)$|\.\d{3},|,\d+[eE][+-]?\d"
_SURE_DOTS = r"^[+-]?[1-9]\d{0,2}(\.\d{3}){2,}$"
_ADDRESS = r"^\d{1,3}(\.\d{1,3}){3}$"  # IPv4
_SHORT = r"^[+-]?\d{1,3}$"
# A column with such cells holds codes, whatever the others look like.
_CODE = r"^0\d+\w*$"
# Thousands, millions and billions in letters.
_FACTORS = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9}
_LETTERS = rf"{SPACE}?(?:{'|'.join(_FACTORS)})$"


@dataclass(frozen=True)
class _Style:
    """A pattern of cells and how to read them.

    Attributes: the regular expression of the separator `between` thousands, whether the comma is
    the decimal point, and whether letters for thousands, millions or billions may follow.
    """

    pattern: str
    traits: tuple[str, ...] = ()
    between: str = ""
    has_decimal_comma: bool = False
    has_letters: bool = False

    @property
    def format(self) -> Format:
        """The style as a format of cells."""
        return Format(self._read, self.traits)

    def _read(self, text: pa.Array) -> Values:
        return read_where(matches(text, self.pattern), text, self._numbers)

    def _numbers(self, text: pa.Array) -> Values:
        text = pc.replace_substring_regex(text, self.between, "") if self.between else text
        text = pc.replace_substring(text, ",", ".") if self.has_decimal_comma else text
        return _times_letters(text) if self.has_letters else as_floats(text)


def _times_letters(text: pa.Array) -> Values:
    """Numbers times the factor of the letters behind them, if there are any."""
    letters = pc.utf8_lower(pc.replace_substring_regex(text, r"^[^A-Za-z]*", ""))
    place = pc.fill_null(pc.index_in(letters, value_set=pa.array([*_FACTORS])), len(_FACTORS))
    places: NDArray[np.int32] = place.to_numpy(zero_copy_only=False)
    factors = np.array([*_FACTORS.values(), 1.0])[places]
    bare = pc.replace_substring_regex(text, rf"{SPACE}?[A-Za-z]*$", "")
    numbers: Values = as_floats(bare) * factors
    return numbers


_PLAIN = _Style(r"(?i)^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?)$")
_POINT = replace(_PLAIN, traits=("decimal-point",))
_COMMAS = _Style(
    r"^[+-]?(([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?|\.\d+)$",
    ("thousands-commas",),
    between=",",
)
_DOTS = _Style(r"^[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)$", ("thousands-dots",), between=r"\.")
_DECIMAL_COMMA = _Style(
    r"(?i)^[+-]?((\d{1,3}(\.\d{3})+|\d+)(,\d+)?|\d+(,\d+)?e[+-]?\d+)$",
    ("decimal-comma",),
    between=r"\.",
    has_decimal_comma=True,
)
_SPACES = _Style(
    rf"^[+-]?([1-9]\d{{0,2}}({SPACE}\d{{3}})+|\d+)(\.\d+)?$",
    ("thousands-spaces",),
    between=SPACE,
)
_WITH_LETTERS = _Style(
    rf"(?i)^[+-]?(\d+\.?\d*|\.\d+)({_LETTERS.removesuffix('$')})?$",
    ("magnitude-letters",),
    has_letters=True,
)
_APOSTROPHES = _Style(
    _SPACES.pattern.replace(SPACE, _APOSTROPHE),
    ("thousands-apostrophes",),
    between=_APOSTROPHE,
)


def _with_comma(style: _Style) -> _Style:
    """The same with a decimal comma in place of the point."""
    return replace(
        style,
        pattern=style.pattern.replace(r"\.", ","),
        traits=(*style.traits, "decimal-comma"),
        has_decimal_comma=True,
    )


@dataclass(frozen=True)
class Notation:
    """How numbers are written in a table as a whole.

    `separator` is that of its cells, "" if there is none; `has_decimal_commas` says whether other
    columns show that the comma is the decimal point.
    """

    separator: str = ""
    has_decimal_commas: bool = False


def parse_numbers(cells: pa.Array, notation: Notation) -> Parsed | None:
    """Text as numbers, and the traits of their format where there was a choice.

    None if any cell is something else, or if all are missing.
    """
    return parse(cells, partial(number_formats, notation=notation))


def shows_decimal_commas(cells: pa.Array, separator: str) -> bool:
    """Whether these are numbers with unambiguous decimal commas."""
    found = parse_numbers(cells, Notation(separator))
    traits = () if found is None else found[1]
    return "decimal-comma" in traits and not any(trait.startswith("or:") for trait in traits)


def shows_decimal_points(cells: pa.Array) -> bool:
    """Whether these are all numbers, some of them with a decimal point."""
    found = parse_numbers(cells, Notation())
    return found is not None and any_match(cells, r"^\s*[+-]?(\d*\.(\d{1,2}|\d{4,})|0\.\d+)\s*$")


def number_formats(text: pa.Array, notation: Notation) -> Iterator[Format]:
    """The formats in which numbers may be written here."""
    minus = next((minus for minus in MINUSES if minus.occurs(text)), None)
    plain = text if minus is None else minus.in_front(text)
    for form in _signed_formats(plain, notation):
        yield form if minus is None else minus.format(form)


def _signed_formats(text: pa.Array, notation: Notation) -> Iterator[Format]:
    """The formats of numbers that have a minus, if any, in front."""
    for style in _styles(text, notation):
        yield style.format
    for symbol in symbols_in(text):
        for style in _styles(without(text, symbol), notation):
            yield with_symbol(style.format, symbol)


def are_padded(cells: pa.Array) -> bool:
    """Whether all cells are digits and some have leading zeros, as codes do."""
    text, _ = present_cells(cells)
    return len(text) > 0 and all_match(text, r"^\d+$") and any_match(text, r"^0\d")


def are_codes(text: pa.Array) -> bool:
    """Whether leading zeros show that these are codes, not numbers."""
    return any_match(text, _CODE)


def _styles(text: pa.Array, notation: Notation) -> Iterator[_Style]:
    """The styles that the text itself and its table allow.

    Where commas separate cells, one within a cell separates thousands, unless most cells can only
    be decimals (12,5 in quotes). Elsewhere the column itself decides. If 1,234 may be either, it is
    a decimal comma where semicolons separate cells, as in files of programs that write 12,5, unless
    a cell is a number of at most three digits without a comma, as numbers below a thousand would
    be; otherwise it separates thousands.
    """
    separator = notation.separator
    has_dots = _has_dots(text)
    may_have_dots = any_match(text, r"\.") and all_match(text, _DOTS.pattern)
    if has_dots or (may_have_dots and notation.has_decimal_commas):
        yield _DOTS  # before the plain numbers: 10.300 is one of those as well
    yield _ambiguous(_POINT, _DOTS) if may_have_dots and separator == ";" else _PLAIN
    if any_match(text, rf"(?i)\d{_LETTERS}") and unit_of(text) is None:
        yield _WITH_LETTERS
        if separator != ",":
            yield _with_comma(_WITH_LETTERS)
    if any_match(text, _SPACED):
        yield from (_SPACES, _with_comma(_SPACES))
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
        yield _ambiguous(*((_DECIMAL_COMMA, _COMMAS) if is_decimal else (_COMMAS, _DECIMAL_COMMA)))


def _has_dots(text: pa.Array) -> bool:
    """Whether dots separate thousands; those of 192.168.100.101 do not."""
    return any_match(text, _SURE_DOTS) and bool(matches(text, _ADDRESS).mean() < 0.5)


def _mostly_decimals(text: pa.Array) -> bool:
    """Whether more cells with a comma are surely decimals than not."""
    return bool(2 * matches(text, _SURE_DECIMALS).sum() > matches(text, ",").sum())


def _ambiguous(style: _Style, other: _Style) -> _Style:
    """The style where the other would fit as well."""
    return replace(style, traits=(*style.traits, f"or:{other.traits[0]}"))
