"""Numbers that probably stand for nothing: -999 where all others are ages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.numerals import counted
from egoscore.read.column import Column

_NINES = [float("9" * digits) for digits in range(2, 9)]
_USUAL = np.array([*_NINES, *(-number for number in _NINES), -1.0])
_FEWEST = 3  # rows: fewer may be what somebody really has
_FAR = 3.0  # times the distance between the quartiles of the others


def placeholder_words(column: Column) -> str:
    """What is to be said of a value that looks as if it stood for nothing; empty if none does.

    It is one of the values that are used so, the smallest or the largest of its column, there
    several times, and far from all others (one below zero only needs to be the only one there).
    """
    known = column.parts[0][~column.is_missing].astype(np.float64) + column.offset
    if not len(known):
        return ""
    for value in {float(known.min()), float(known.max())} & set(_USUAL.tolist()):
        others = known[known != value]
        count = len(known) - len(others)
        if count >= _FEWEST and len(others) > count and _stands_apart(value, others):
            return (
                f"is {value:g} in {counted(count, 'row')}, unlike all others: if that means that "
                "nothing is known, leave these cells empty and give --impute median."
            )
    return ""


def _stands_apart(value: float, others: NDArray[np.float64]) -> bool:
    if value < 0.0 <= others.min():
        return True
    if value == -1.0:
        return False
    low, high = np.quantile(others, (0.25, 0.75))
    gap = min(abs(value - others.min()), abs(value - others.max()))
    return bool(gap > _FAR * (high - low))
