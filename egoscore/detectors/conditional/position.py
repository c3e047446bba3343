"""Are the links of a node out of bounds?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.tails import Tail
from egoscore.detectors.conditional.view import View

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
        degrees, strangers, cliques = draft._distances(view)
        tails = tuple(map(Tail.fit, (degrees, strangers, _one_of_each(cliques))))
        return cls(draft.degree, share, tails)

    def surprises(self, view: View) -> dict[str, Floats]:
        """The surprises (N,) of all nodes, by the names of `POSITIONS`."""
        found = zip(POSITIONS, self.tails, self._distances(view), strict=True)
        return {name: tail.of(distances) for name, tail, distances in found}

    def expected_strangers(self, degree: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many of a node's neighbours are usually strangers."""
        return self.share * degree

    def _distances(self, view: View) -> tuple[NDArray[np.float64], ...]:
        degree = view.near.degree.astype(np.float64)
        found = view.circles
        expected = self.share * degree
        usual = np.sqrt(expected * (1.0 - self.share) + 1.0)  # of a binomial, and rounding
        strange = (found.strangers - expected) / usual
        return degree - self.degree, strange, found.clique.astype(np.float64)


def _one_of_each(cliques: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sizes (N,) with one node for each clique instead of all its members, others 0.

    A clique in which everybody has k neighbours has k + 1 members; which they are does not matter.
    One with many members counts as several, so that a few of that kind do not fill a list.
    """
    order = np.argsort(-cliques, kind="stable")
    members = np.minimum(cliques[order] + 1.0, _MOST_MEMBERS)
    number = np.floor(np.cumsum(1.0 / members) + 1e-9)
    is_last = np.diff(number, prepend=0.0) > 0
    return np.where(is_last & (cliques[order] > 0), cliques[order], 0.0)
