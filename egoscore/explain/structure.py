"""What is unusual about a node's place, in plain words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.graph.structure import describe_structure
from egoscore.surprise.place import Place


def unusual_place(place: Place, structure: NDArray[np.float64], node: int) -> tuple[Deviation, ...]:
    """What a node's place is like beside what one expects, furthest off first.

    Of the number of neighbours the mean is expected, of the rest what that number lets one expect.
    """
    observed, expected, sizes = place.compared(structure[node])
    columns = describe_structure()
    found = []
    for j in np.argsort(-np.abs(sizes), kind="stable"):
        is_, ought = columns[j].show_both(float(observed[j]), float(expected[j]))
        found.append(Deviation(columns[j].title, is_, ought, round(float(sizes[j]), 2)))
    return tuple(found)
