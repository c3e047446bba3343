"""What stands beside numbers: currencies, per cent, units, a minus that is not in front."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.read.cells import SPACE, all_match, any_match, bare_cells, matches
from egoscore.read.currencies import CURRENCIES
from egoscore.read.ways import Way

_SIGN = r"\p{Sc}|%"  # Sc: any currency
_MARK = rf"(?P<sign>{_SIGN})|(?:^|[^A-Za-z])(?P<code>{CURRENCIES})(?:[^A-Za-z]|$)"
_BESIDE = rf"((?:{_SIGN}|{CURRENCIES})?)"
_UNIT = rf"\d{SPACE}?(?P<unit>[\p{{L}}\x{{b0}}][\p{{L}}/\x{{b2}}\x{{b3}}]{{0,5}})$"
_MANY, _NEARLY = 0.1, 0.9


def marks(text: pa.Array) -> list[str]:
    """The signs and codes that many cells have first: a column has one of them."""
    parts = pc.extract_regex(text.filter(pc.match_substring_regex(text, _MARK)), _MARK)
    names = pc.binary_join_element_wise(*(pc.struct_field(parts, p) for p in ("sign", "code")), "")
    many = [
        found for found in pc.value_counts(names) if found["counts"].as_py() >= _MANY * len(text)
    ]
    found = (str(one["values"]) for one in many)
    known = sorted(mark for mark in found if not (mark.isalpha() and _names_things(text, mark)))
    unit = unit_of(text)
    return known if unit is None or unit in known else [*known, unit]


def unit_of(text: pa.Array) -> str | None:
    """The letters that stand behind the number in all cells, as in 12 km and 5 km.

    Or in nearly all, where none is a number without letters; not behind codes such as 0012A.
    """
    has_one = matches(text, _UNIT)
    if not len(text) or has_one.mean() < _NEARLY:
        return None
    if any_match(text, r"^[+-]?[\d.,]+$") or any_match(text, r"^0\d+\w*$"):
        return None
    found = pc.extract_regex(text.filter(pa.array(has_one)), _UNIT)
    units = pc.unique(pc.struct_field(found, "unit"))
    return str(units[0]) if len(units) == 1 else None


def _names_things(text: pa.Array, code: str) -> bool:
    """Whether letters right before whole numbers, as in CAD-100 and EUR7, name something else."""
    if any_match(text, rf"{code}(-\d|0\d)"):
        return True
    return any_match(text, rf"{code}\d") and not any_match(text, "[.,'\u2019]")


def without(text: pa.Array, mark: str) -> pa.Array:
    """Cells without a mark in front, after a sign perhaps, or else behind."""
    sign = re.escape(mark)
    pattern = rf"^([+-]?){SPACE}*{sign}{SPACE}*|{SPACE}*{sign}$"
    return pc.replace_substring_regex(text, pattern, r"\1", max_replacements=1)


def with_mark(way: Way, mark: str) -> Way:
    """The way in cells that all have a mark before or after the number."""

    def fits(text: pa.Array) -> NDArray[np.bool_]:
        return _stands_beside(text, mark) & way.fits(without(text, mark))

    return _of_other_text(way, fits, lambda text: without(text, mark), f"{mark} left off")


def _stands_beside(text: pa.Array, mark: str) -> NDArray[np.bool_]:
    sign = re.escape(mark)
    return matches(text, rf"^[+-]?{SPACE}*{sign}|{sign}$")


def around_numbers(cells: pa.Array) -> tuple[str, str]:
    """What stands before and after the numbers in cells of one way, as in the first of them."""
    text, _ = bare_cells(cells)
    for minus in MINUSES:
        text = minus.in_front(text)
    beside = (mark for mark in marks(text) if _stands_beside(text, mark).all())
    mark = next(beside, "")
    if not mark:
        return "", ""
    cell, sign = str(text[0]), re.escape(mark)
    space = " " if re.search(rf"{SPACE}{sign}$|{sign}{SPACE}", cell) else ""
    return ("", space + mark) if cell.endswith(mark) else (mark + space, "")


def _of_other_text(
    way: Way,
    fits: Callable[[pa.Array], NDArray[np.bool_]],
    change: Callable[[pa.Array], pa.Array],
    words: str,
) -> Way:
    """The way once cells are changed, and these words about it."""

    def read(text: pa.Array) -> NDArray[np.float64] | None:
        return way.read(change(text))

    if way.how is None:
        return Way(fits, read, words)
    between = ", " if " and " in way.how else " and "
    return Way(fits, read, f"{words}{between}{way.how}")


@dataclass(frozen=True)
class Minus:
    """A minus that stands elsewhere than in front.

    Attributes: `pattern` of cells that have it, what comes `instead`, and the words about it.
    """

    pattern: str
    instead: str
    words: str

    def occurs(self, text: pa.Array) -> bool:
        """Whether some numbers have it, not all."""
        return any_match(text, self.pattern) and not all_match(text, self.pattern)

    def in_front(self, text: pa.Array) -> pa.Array:
        """Cells with a minus in front in its place."""
        if not any_match(text, self.pattern):
            return text
        return pc.replace_substring_regex(text, self.pattern, self.instead)

    def way(self, way: Way) -> Way:
        """The way in cells of which some have it."""

        def fits(text: pa.Array) -> NDArray[np.bool_]:
            return way.fits(self.in_front(text))

        return _of_other_text(way, fits, self.in_front, self.words)


# (12) is -12, as accountants write it, and so is $(12), which becomes -$12 here.
_PARENTHESES = Minus(
    rf"^{_BESIDE}{SPACE}*\({SPACE}*([^()]*\d[^()]*?){SPACE}*\){SPACE}*{_BESIDE}$",
    r"-\1\2\3",
    "parentheses as minus",
)
# 12- is -12, as SAP writes it, and 5K- is -5K.
_BEHIND = Minus(
    rf"^([^-+()]*\d[A-Za-z]{{0,3}})-{SPACE}*{_BESIDE}$", r"-\1\2", "a minus behind the number"
)
MINUSES = (_PARENTHESES, _BEHIND)
