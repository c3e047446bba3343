"""Are the links of a node out of bounds?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.tails import Tail
from egoscore.detectors.conditional.view import View
from egoscore.graph import AttributedGraph
from egoscore.graph.cliques import Circles

_MOST_MEMBERS = 10  # of a clique that counts as one case
_LEAST_CLIQUE = 4  # neighbours in it: smaller ones come about by chance
_LEAST_GROUP = 4  # nodes that one joins to the rest: smaller ones hang at many graphs
_LEAST_STRANGE = 3.0  # deviations of a binomial
LINKS = ("degree", "sent", "received")  # the latter in a directed graph


@dataclass(frozen=True)
class Links:
    """The number of neighbours of n nodes; in a directed graph also of those linked to and from."""

    degree: NDArray[np.int64]
    sent: NDArray[np.int64] | None = None
    received: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, graph: AttributedGraph) -> Links:
        """Of all nodes."""
        degree = graph.neighbours.degrees
        if not graph.directed:
            return cls(degree)
        return cls(degree, graph.adjacency.degrees, graph.adjacency.in_degrees)

    def of_node(self, node: int) -> Links:
        """Of one node."""
        return Links(**{name: counts[[node]] for name, counts in self.by_name.items()})

    def towards(self, direction: str) -> NDArray[np.int64]:
        """The number of links "sent" or "received", or of all neighbours."""
        return self.by_name.get(direction, self.degree)

    @property
    def by_name(self) -> dict[str, NDArray[np.int64]]:
        """Those that there are, by their names in `LINKS`."""
        return {name: one for name, one in vars(self).items() if one is not None}


@dataclass(frozen=True)
class Position:
    """What is usual for the number of neighbours, for strangers among them, cliques and bridges.

    Attributes: `degree` its median; `share` of the strangers among all neighbours; `tails` of all
    of these; `sent` and `received`, medians of the links in each direction in a directed graph.
    """

    degree: float
    share: float
    tails: tuple[Tail, ...]
    sent: float = 0.0
    received: float = 0.0

    @classmethod
    def fit(cls, view: View) -> Position:
        """From all nodes of a graph."""
        links, found = Links.of(view.graph), view.circles
        share = float(found.strangers.sum()) / max(1.0, float(links.degree.sum()))
        usual = {name: float(np.median(counts)) for name, counts in links.by_name.items()}
        draft = cls(**usual, share=share, tails=())
        # one with many members counts as several, so that a few of that kind do not fill a list
        members = np.minimum(found.clique + 1.0, _MOST_MEMBERS)
        fitted = (
            Tail.fit(distances, members) if name == "clique" else Tail.fit(distances)
            for name, distances in draft._distances(links, found).items()
        )
        return replace(draft, tails=tuple(fitted))

    def surprises(self, view: View) -> dict[str, Floats]:
        """The surprises (N,) of all nodes, by name as in `_distances`."""
        return self.surprises_of(Links.of(view.graph), view.circles)

    def surprises_of(self, links: Links, around: Circles) -> dict[str, Floats]:
        """The same of n nodes with some `links` and neighbours linked as in `around`."""
        found = zip(self.tails, self._distances(links, around).items(), strict=True)
        return {name: tail.of(distances) for tail, (name, distances) in found}

    def _distances(self, links: Links, around: Circles) -> dict[str, NDArray[np.float64]]:
        """Distances (n,) by name: `LINKS`, strangers, cliques and bridges."""
        expected = self.share * links.degree
        usual = np.sqrt(expected * (1.0 - self.share) + 1.0)  # of a binomial, and rounding
        strange = (around.strangers - expected) / usual
        found = {
            "degree": links.degree - self.degree,
            "strangers": np.where(strange >= _LEAST_STRANGE, strange, 0.0),
            "clique": np.where(around.clique >= _LEAST_CLIQUE, around.clique, 0).astype(np.float64),
            "bridge": np.where(around.group >= _LEAST_GROUP, around.group, 0).astype(np.float64),
        }
        if links.sent is not None and links.received is not None:
            found |= {"sent": links.sent - self.sent, "received": links.received - self.received}
        return found

    @staticmethod
    def most_links(surprises: dict[str, Floats]) -> Floats:
        """The largest surprise (n,) about how many links there are, in either direction or both."""
        found = [one for name, one in surprises.items() if name in LINKS]
        most: Floats = np.maximum.reduce(found)
        return most
