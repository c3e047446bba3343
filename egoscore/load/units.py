"""Symbols beside numbers: currencies, per cent, units, and a minus that is not in front."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.load.cell_formats import (
    SPACE,
    Format,
    Values,
    all_match,
    any_match,
    matches,
    present_cells,
)

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
    """The signs, codes and units that many cells have first: a column has one of them."""
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
    """The letters behind the number in all cells, as in 12 km and 5 km.

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
    """Whether letters right before whole numbers, as in CAD-100 and EUR7, are part of names."""
    if any_match(text, rf"{code}(-\d|0\d)"):
        return True
    return any_match(text, rf"{code}\d") and not any_match(text, "[.,'\u2019]")


def without(text: pa.Array, symbol: str) -> pa.Array:
    """Cells without a symbol in front, after a sign perhaps, or else behind."""
    sign = re.escape(symbol)
    pattern = rf"^([+-]?){SPACE}*{sign}{SPACE}*|{SPACE}*{sign}$"
    return pc.replace_substring_regex(text, pattern, r"\1", max_replacements=1)


def with_symbol(form: Format, symbol: str) -> Format:
    """The format in cells that all have a symbol before or after the number."""

    def fits(text: pa.Array) -> NDArray[np.bool_]:
        return _is_beside(text, symbol) & form.fits(without(text, symbol))

    def read(text: pa.Array) -> Values | None:
        return form.read(without(text, symbol))

    return Format(fits, read, (f"unit:{symbol}", *form.traits))


def _is_beside(text: pa.Array, symbol: str) -> NDArray[np.bool_]:
    sign = re.escape(symbol)
    return matches(text, rf"^[+-]?{SPACE}*{sign}|{sign}$")


def around_numbers(cells: pa.Array) -> tuple[str, str]:
    """The text before and after the numbers in cells of one format, as in the first of them."""
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
    """A minus that is not in front.

    Attributes: `pattern` of cells that have it, their `replacement`, and the `trait` it adds.
    """

    pattern: str
    replacement: str
    trait: str

    def occurs(self, text: pa.Array) -> bool:
        """Whether some numbers have it, not all."""
        return any_match(text, self.pattern) and not all_match(text, self.pattern)

    def in_front(self, text: pa.Array) -> pa.Array:
        """Cells with the minus in front."""
        if not any_match(text, self.pattern):
            return text
        return pc.replace_substring_regex(text, self.pattern, self.replacement)

    def format(self, form: Format) -> Format:
        """The format in cells of which some have it."""

        def fits(text: pa.Array) -> NDArray[np.bool_]:
            return form.fits(self.in_front(text))

        def read(text: pa.Array) -> Values | None:
            return form.read(self.in_front(text))

        return Format(fits, read, (self.trait, *form.traits))


# (12) is -12, as accountants write it, and so is $(12), which becomes -$12 here.
_PARENTHESES = Minus(
    rf"^{_BESIDE}{SPACE}*\({SPACE}*([^()]*\d[^()]*?){SPACE}*\){SPACE}*{_BESIDE}$",
    r"-\1\2\3",
    "minus-parentheses",
)
# 12- is -12, as SAP writes it, and 5K- is -5K.
_BEHIND = Minus(rf"^([^-+()]*\d[A-Za-z]{{0,3}})-{SPACE}*{_BESIDE}$", r"-\1\2", "minus-behind")
MINUSES = (_PARENTHESES, _BEHIND)
