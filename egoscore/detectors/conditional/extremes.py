"""Is a single value, category or count of links impossible for a node?"""

from __future__ import annotations

from dataclasses import dataclass

from egoscore.detectors.conditional.categories import Categories
from egoscore.detectors.conditional.numbers import Numbers
from egoscore.detectors.conditional.position import Position
from egoscore.detectors.conditional.view import View


@dataclass(frozen=True)
class Extremes:
    """What is usual for every single quantity, so that one that is not can be told."""

    numbers: Numbers
    categories: Categories
    position: Position

    @classmethod
    def fit(cls, view: View, seed: int) -> Extremes:
        """From all nodes of a graph."""
        return cls(Numbers.fit(view, seed), Categories.fit(view, seed), Position.fit(view))
