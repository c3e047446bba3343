"""Numbers and dates that probably stand for nothing: -999 among ages, 1900-01-01 among dates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.columns import FeatureColumn
from egoscore.numerals import counted
from egoscore.read.column import Column

_NINES = [float("9" * digits) for digits in range(2, 9)]
_USUAL = np.array([*_NINES, *(-number for number in _NINES), -1.0])
# days since 1970 of the first or last that programs know: 0001, 1753, 1899, 1900, 1970, 9999
_USUAL_DAYS = np.array([-719162, -79257, -25569, -25568, -25567, 0, 2932896], dtype=np.float64)
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
    usual, fewest = (_USUAL_DAYS, 1) if column.kind == "date" else (_USUAL, _FEWEST)
    for value in {float(known.min()), float(known.max())} & set(usual.tolist()):
        others = known[known != value]
        count = len(known) - len(others)
        if count >= fewest and len(others) > count and _stands_apart(column, value, others):
            is_date = column.kind == "date"
            shown = FeatureColumn(column.name, "date").show(value) if is_date else f"{value:g}"
            return (
                f"is {shown} in {counted(count, 'row')}, unlike all others: if that means that "
                "nothing is known, leave these cells empty and give --impute median."
            )
    return ""


def _stands_apart(column: Column, value: float, others: NDArray[np.float64]) -> bool:
    is_date = column.kind == "date"
    if not is_date and value < 0.0 <= others.min():
        return True
    if not is_date and value == -1.0:
        return False
    low, high = np.quantile(others, (0.25, 0.75))
    gap = min(abs(value - others.min()), abs(value - others.max()))
    return bool(gap > (1.0 if is_date else _FAR) * (high - low))
