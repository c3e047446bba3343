"""What is unusual about a node's place, in plain words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.graph.structure import STRUCTURE
from egoscore.surprise.place import Place

# what a column of `structure` is called, and whether it is kept as the logarithm of one plus it
_NAMES = {
    "log_degree": ("number of neighbours", True),
    "clustering": ("share of its neighbours that are neighbours of each other", False),
    "common_neighbours": ("neighbours it shares with a neighbour", True),
    "neighbours_degree": ("number of neighbours its neighbours have", True),
    "return_2": (
        "how far its neighbours depend on it (chance that a walk of two steps comes back)",
        False,
    ),
    "return_3": (
        "how closed its circle is (chance that a walk of three steps comes back)",
        False,
    ),
    "core": ("core number", True),
}


def unusual_place(place: Place, structure: NDArray[np.float64], node: int) -> tuple[Deviation, ...]:
    """What a node's place is like beside what its degree lets one expect, furthest off first."""
    observed, expected, sizes = place.compared(structure[node])
    names = [name for name in STRUCTURE if name != "log_degree"]
    order = np.argsort(-np.abs(sizes), kind="stable")
    return tuple(
        Deviation(
            _NAMES[names[j]][0],
            _shown(names[j], observed[j]),
            _shown(names[j], max(0.0, expected[j])),
            round(float(sizes[j]), 2),
        )
        for j in order
    )


def _shown(name: str, value: float) -> str:
    return f"{np.expm1(value) if _NAMES[name][1] else value:.3g}"
