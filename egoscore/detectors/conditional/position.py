"""Are the links of a node out of bounds?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.tails import Tail
from egoscore.detectors.conditional.view import View
from egoscore.graph.cliques import Circles

_MOST_MEMBERS = 10  # of a clique that counts as one case
POSITIONS = ("degree", "strangers", "clique")


@dataclass(frozen=True)
class Position:
    """What is usual for the number of neighbours, of strangers among them, and for cliques.

    Attributes: `degree` its median; `share` of the strangers among all neighbours; `tails` of each
    of `POSITIONS`.
    """

    degree: float
    share: float
    tails: tuple[Tail, ...]

    @classmethod
    def fit(cls, view: View) -> Position:
        """From all nodes of a graph."""
        degree = view.near.degree.astype(np.float64)
        found = view.circles
        share = float(found.strangers.sum()) / max(1.0, float(degree.sum()))
        draft = cls(float(np.median(degree)), share, ())
        degrees, strangers, cliques = draft._distances(degree, found)
        # one with many members counts as several, so that a few of that kind do not fill a list
        members = np.minimum(cliques + 1.0, _MOST_MEMBERS)
        tails = Tail.fit(degrees), Tail.fit(strangers), Tail.fit(cliques, members)
        return cls(draft.degree, share, tails)

    def surprises(self, view: View) -> dict[str, Floats]:
        """The surprises (N,) of all nodes, by the names of `POSITIONS`."""
        return self.surprises_of(view.near.degree, view.circles)

    def surprises_of(self, degree: NDArray[np.floating], around: Circles) -> dict[str, Floats]:
        """The same of nodes with some degrees (n,) and neighbours linked as in `around`."""
        found = zip(POSITIONS, self.tails, self._distances(degree, around), strict=True)
        return {name: tail.of(distances) for name, tail, distances in found}

    def _distances(
        self, degrees: NDArray[np.floating], around: Circles
    ) -> tuple[NDArray[np.float64], ...]:
        degree = np.asarray(degrees, dtype=np.float64)
        expected = self.share * degree
        usual = np.sqrt(expected * (1.0 - self.share) + 1.0)  # of a binomial, and rounding
        strange: NDArray[np.float64] = (around.strangers - expected) / usual
        return degree - self.degree, strange, around.clique.astype(np.float64)
