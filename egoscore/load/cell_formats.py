"""Cells of text: which are missing, and the format that all or most of the others share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_BATCH = 1 << 16
_PROBE = 100  # cells that distinguish most text from numbers
SPACE = "[ \u00a0\u202f]"
EXPORTED = r"\N"  # what only databases write, for a missing value
# What missing cells contain where the others hold numbers, dates or yes and no.
MISSING = (
    *("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "-", "--", "?"),
    *("k.a.", "missing", "not available", "unknown", EXPORTED.lower()),
)
# How numbers and dates of every format begin: a digit or infinity, after signs, points, spaces and
# an opening parenthesis, a currency or percent sign or three capitals at most, or else the name of
# a month. It only saves work: a cell with another beginning fits no format.
_BEFORE = r"[-+.( \x{a0}\x{202f}]*"
_BEGINNING = (
    rf"^{_BEFORE}(?:(?:\p{{Sc}}|%|[A-Z]{{3}}){_BEFORE})?(?:\d|(?i:inf))"
    "|^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)

Values = NDArray[np.float64]
# The numbers of cells, NaN where the cell is missing, and the traits of their format.
Parsed = tuple[Values, tuple[str, ...]]


@dataclass(frozen=True)
class Format:
    """One way to write numbers or dates.

    Attributes:
        read: the numbers in cells of text, NaN in those that are not written so.
        traits: what the user should know of it, as codes such as "decimal-comma".
    """

    read: Callable[[pa.Array], Values]
    traits: tuple[str, ...] = ()


Formats = Callable[[pa.Array], Iterable[Format]]


def present_cells(cells: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """The cells that are not missing, without space around them, and which (N,) are missing.

    In batches, and without a copy if nothing changes: there may be millions.
    """
    starts = range(0, max(len(cells), 1), _BATCH)
    parts, are_missing = zip(*(_present(cells.slice(s, _BATCH)) for s in starts), strict=True)
    is_unchanged = all(part is None for part in parts)
    pairs = zip(starts, parts, strict=True)
    held = (cells.slice(s, _BATCH) if part is None else part for s, part in pairs)
    return cells if is_unchanged else pa.concat_arrays(held), np.concatenate(are_missing)


def _present(cells: pa.Array) -> tuple[pa.Array | None, NDArray[np.bool_]]:
    """The same for one batch; None if nothing changes."""
    trimmed = pc.utf8_trim_whitespace(cells)
    tokens = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING))
    is_missing = pc.or_(tokens, pc.is_null(trimmed)).to_numpy(zero_copy_only=False)
    if not is_missing.any() and trimmed.equals(cells):
        return None, is_missing
    return trimmed.filter(pa.array(~is_missing)), is_missing


def matches(text: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Which cells match; none may be missing."""
    found: Any = pc.match_substring_regex(text, pattern)
    which: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return which


def all_match(text: pa.Array, pattern: str) -> bool:
    """Whether there are cells and all of them match."""
    return len(text) > 0 and all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py()
        for part in (text.slice(0, _PROBE), text)
    )


def any_match(text: pa.Array, pattern: str) -> bool:
    """Whether any cell matches."""
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def parse(cells: pa.Array, formats: Formats) -> Parsed | None:
    """The numbers in cells that are all written in one format.

    None if they are not, or if all of them are missing.
    """
    present, is_missing = present_cells(cells)
    start = present.slice(0, _PROBE)
    if not all_match(start, _BEGINNING):
        return None
    for form in formats(present):
        if np.isnan(form.read(start)).any():
            continue
        values = form.read(present)
        if not np.isnan(values).any():
            return scattered(values, ~is_missing), form.traits
    return None


def parse_most(
    cells: pa.Array, counts: NDArray[np.int64], least: int, share: float, formats: Formats
) -> Parsed | None:
    """The numbers in cells most of which are written in one format, NaN in the others.

    `counts` (cells,) says how often each occurs. None unless more than `least` distinct cells
    fit, and a `share` of all occurrences of cells that are not missing.
    """
    present, is_missing = present_cells(cells)
    weights = counts[~is_missing]
    most = share * weights.sum()
    if weights[matches(present, _BEGINNING)].sum() < most:
        return None
    best = None
    for form in formats(present):
        values = form.read(present)
        fits = ~np.isnan(values)
        occurrences = int(weights[fits].sum())
        if occurrences >= most and np.count_nonzero(fits) > least:
            best, most = (values, form.traits), occurrences + 1  # of equals the first
    return None if best is None else (scattered(best[0], ~is_missing), best[1])


def as_floats(cells: pa.Array) -> Values:
    """Numbers, or text that is all plain numbers, as floats, NaN where a cell is missing."""
    values: Values = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
    return values


def scattered(values: Values, places: NDArray[np.bool_]) -> Values:
    """The values at those places, NaN at the others."""
    if places.all():
        return values
    result = np.full(len(places), np.nan)
    result[places] = values
    return result


def read_where(
    fits: NDArray[np.bool_], text: pa.Array, read: Callable[[pa.Array], Values]
) -> Values:
    """The numbers in the text that fits, NaN in the rest."""
    return scattered(read(text if fits.all() else text.filter(pa.array(fits))), fits)


# Currency codes (ISO 4217) distinguish EUR 12 from other words of three capitals; those that are
# English words themselves, as in TOP 10, are left out.
_CURRENCIES = (
    "AED|AFN|AMD|ANG|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|"
    "BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|CRC|CUP|CVE|CZK|DEM|DJF|DKK|DOP|DZD|EGP|ERN|ESP|ETB|"
    "EUR|FJD|FKP|FRF|GBP|GHS|GIP|GMD|GNF|GTQ|GYD|HKD|HNL|HRK|HTG|HUF|IDR|ILS|INR|IQD|IRR|"
    "ISK|ITL|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|LAK|LBP|LKR|LRD|LSL|LYD|MDL|"
    "MGA|MKD|MMK|MNT|MRU|MUR|MVR|MWK|MXN|MYR|MZN|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PGK|"
    "PHP|PKR|PLN|PYG|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SLL|SOS|SRD|SSP|STN|"
    "SVC|SYP|SZL|THB|TJS|TMT|TND|TTD|TWD|TZS|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|"
    "XAF|XCD|XOF|XPF|YER|ZAR|ZMW|ZWL"
)
_SIGN = r"\p{Sc}|%"  # Sc: any currency
_SYMBOL = rf"(?P<sign>{_SIGN})|(?:^|[^A-Za-z])(?P<code>{_CURRENCIES})(?:[^A-Za-z]|$)"
_BESIDE = rf"((?:{_SIGN}|{_CURRENCIES})?)"
_UNIT = rf"\d{SPACE}?(?P<unit>[\p{{L}}\x{{b0}}][\p{{L}}/\x{{b2}}\x{{b3}}]{{0,5}})$"
_MANY, _NEARLY_ALL = 0.1, 0.9


def symbols_in(text: pa.Array) -> list[str]:
    """The currency signs, codes and units that many cells have."""
    parts = pc.extract_regex(text.filter(pc.match_substring_regex(text, _SYMBOL)), _SYMBOL)
    names = pc.binary_join_element_wise(*(pc.struct_field(parts, p) for p in ("sign", "code")), "")
    many = [
        found for found in pc.value_counts(names) if found["counts"].as_py() >= _MANY * len(text)
    ]
    found = (str(one["values"]) for one in many)
    known = sorted(one for one in found if not (one.isalpha() and _is_identifier(text, one)))
    unit = unit_of(text)
    return known if unit is None or unit in known else [*known, unit]


def unit_of(text: pa.Array) -> str | None:
    """The letters after the number in all cells, as in 12 km and 5 km.

    Or in nearly all, if none is a number without letters; not behind codes such as 0012A.
    """
    has_one = matches(text, _UNIT)
    if not len(text) or has_one.mean() < _NEARLY_ALL:
        return None
    if any_match(text, r"^[+-]?[\d.,]+$") or any_match(text, r"^0\d+\w*$"):
        return None
    found = pc.extract_regex(text.filter(pa.array(has_one)), _UNIT)
    units = pc.unique(pc.struct_field(found, "unit"))
    return str(units[0]) if len(units) == 1 else None


def _is_identifier(text: pa.Array, code: str) -> bool:
    """Whether letters before whole numbers belong to identifiers, as in CAD-100 and EUR7."""
    if any_match(text, rf"{code}(-\d|0\d)"):
        return True
    return any_match(text, rf"{code}\d") and not any_match(text, "[.,'\u2019]")


def without(text: pa.Array, symbol: str) -> pa.Array:
    """Cells without a leading symbol, perhaps after a sign, or else without a trailing one."""
    sign = re.escape(symbol)
    pattern = rf"^([+-]?){SPACE}*{sign}{SPACE}*|{SPACE}*{sign}$"
    return pc.replace_substring_regex(text, pattern, r"\1", max_replacements=1)


def with_symbol(form: Format, symbol: str) -> Format:
    """The format with a symbol before or after every number."""

    def read(text: pa.Array) -> Values:
        return np.where(_is_beside(text, symbol), form.read(without(text, symbol)), np.nan)

    return Format(read, (f"unit:{symbol}", *form.traits))


def _is_beside(text: pa.Array, symbol: str) -> NDArray[np.bool_]:
    sign = re.escape(symbol)
    return matches(text, rf"^[+-]?{SPACE}*{sign}|{sign}$")


def around_numbers(cells: pa.Array) -> tuple[str, str]:
    """The text before and after the numbers, as in the first cell."""
    text, _ = present_cells(cells)
    for minus in MINUSES:
        text = minus.in_front(text)
    beside = (symbol for symbol in symbols_in(text) if _is_beside(text, symbol).all())
    symbol = next(beside, "")
    if not symbol:
        return "", ""
    cell, sign = str(text[0]), re.escape(symbol)
    space = " " if re.search(rf"{SPACE}{sign}$|{sign}{SPACE}", cell) else ""
    return ("", space + symbol) if cell.endswith(symbol) else (symbol + space, "")


@dataclass(frozen=True)
class Minus:
    """A minus that is not the first character.

    Attributes: `pattern` of cells that have it, their `replacement`, and the `trait` it adds.
    """

    pattern: str
    replacement: str
    trait: str

    def occurs(self, text: pa.Array) -> bool:
        """Whether some numbers have it, but not all."""
        return any_match(text, self.pattern) and not all_match(text, self.pattern)

    def in_front(self, text: pa.Array) -> pa.Array:
        """Cells with the minus in front."""
        if not any_match(text, self.pattern):
            return text
        return pc.replace_substring_regex(text, self.pattern, self.replacement)

    def format(self, form: Format) -> Format:
        """The format where some cells have it."""
        return Format(lambda text: form.read(self.in_front(text)), (self.trait, *form.traits))


# (12) is -12, as accountants write it, and so is $(12), which becomes -$12 here.
_PARENTHESES = Minus(
    rf"^{_BESIDE}{SPACE}*\({SPACE}*([^()]*\d[^()]*?){SPACE}*\){SPACE}*{_BESIDE}$",
    r"-\1\2\3",
    "minus-parentheses",
)
# 12- is -12, as SAP writes it, and 5K- is -5K.
_BEHIND = Minus(rf"^([^-+()]*\d[A-Za-z]{{0,3}})-{SPACE}*{_BESIDE}$", r"-\1\2", "minus-behind")
MINUSES = (_PARENTHESES, _BEHIND)
