"""How the numbers of a column are written, decided once for the whole column: years, codes, counts.

A single value does not tell: 3020 may be a year that someone mistyped.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

YEAR, CODE, WHOLE = "year", "code", "whole"
_YEARS = (
    "year",
    "jahr",
    "années",
    "année",
    "annee",
    "anno",
    "año",
    "yr",
    "founded",
    "born",
    "built",
)
# Last words in the name of a column whose numbers are names.
_CODES = ("id", "code", "zip", "zipcode", "postcode", "postalcode", "plz")
_LIKELY_YEARS, _POSSIBLE_YEARS = (1500.0, 2200.0), (1000.0, 3000.0)
_NEARLY_ALL, _MOST = 0.95, 0.5
_MIN_ROWS = 5  # fewer may look like years by chance
_SAMPLE = 1024


def words_of(name: str) -> list[str]:
    """The words in the name of a column: birthDate, opened_on, AirportID."""
    return re.findall(r"[^\W\d_A-Z]+|[A-Z][^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])", name)


def last_word(name: str) -> str:
    """The last word in the name of a column, which says what it holds: home_zip, userID."""
    return words_of(name)[-1].casefold() if words_of(name) else ""


def is_code(name: str) -> bool:
    """Whether the name of a column suggests codes: AirportID, zip, post_code."""
    return last_word(name) in _CODES


def is_year(name: str) -> bool:
    """Whether the name of a column suggests years: birth_year, yearID, Baujahr."""
    words = [word.casefold() for word in words_of(name)]
    return any(word in _YEARS or word.endswith(_YEARS[:2]) for word in words)


def form_of(name: str, known: NDArray[np.floating]) -> str:
    """`YEAR`, `CODE`, `WHOLE` or "" for a column with this name and these values (n,), all known.

    Some values may be wrong: a column with most values in a plausible range holds years.
    """
    if not len(known):
        return ""
    if is_year(name) and _are_mostly_within(known, *_POSSIBLE_YEARS, _MOST):
        return YEAR
    if is_code(name) and is_whole(known):
        return CODE
    if len(known) >= _MIN_ROWS and _are_mostly_within(known, *_LIKELY_YEARS, _NEARLY_ALL):
        return YEAR
    return WHOLE if is_whole(known) else ""


def is_whole(values: NDArray[np.floating]) -> bool:
    """Whether all values are whole numbers."""
    return _share_whole(_some(values)) == 1.0 and _share_whole(values) == 1.0


def _are_mostly_within(
    values: NDArray[np.floating], least: float, most: float, share: float
) -> bool:
    """Whether at least a `share` of values are whole numbers between `least` and `most`."""
    for these in (_some(values), values):
        within = these[(these >= least) & (these <= most)]
        if _share_whole(within) * len(within) < share * len(these):
            return False
    return True


def _some(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Some of millions of values, which usually say that all of them are something else."""
    return values[:: max(1, len(values) // _SAMPLE)]


def _share_whole(values: NDArray[np.floating]) -> float:
    return float(np.mean(values == np.rint(values))) if len(values) else 0.0
