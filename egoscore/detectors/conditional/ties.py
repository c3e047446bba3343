"""Which edges of a node are unexpected, and which are expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.expectation import scaled_features
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.explain.explanation import Tie
from egoscore.graph import AttributedGraph

_MOST_NEIGHBOURS = 1000
_LEAST_SHARED = 2
_MISSED_SHOWN = 2


@dataclass(frozen=True)
class ScoredTies:
    """The edges of a node, and edges it lacks to nodes with shared neighbours.

    Attributes: `others` (n,) numbers of nodes; `ids` theirs; `present` (n,) whether they are
    neighbours; `surprise` (n,) positive where that is unexpected; `names` under which they are
    shown, () for the ids.
    """

    others: NDArray[np.int64]
    ids: tuple[str, ...]
    present: NDArray[np.bool_]
    surprise: NDArray[np.float64]
    names: tuple[str, ...] = ()

    def surprising(self, most: int) -> tuple[Tie, ...]:
        """Edges that are unexpected, most surprising first."""
        return self._ties(self._places(self.present & (self.surprise > 0))[:most])

    def expected(self, most: int) -> tuple[Tie, ...]:
        """Expected edges, best fit first; then expected edges that are missing."""
        fitting = self._places(self.present & (self.surprise < 0))[::-1]
        return self._ties([*fitting[:most], *self._missed()])

    def _missed(self) -> NDArray[np.int64]:
        return self._places(~self.present & (self.surprise > 0))[:_MISSED_SHOWN]

    def _places(self, which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Where `which` holds, in descending order of surprise."""
        places = np.flatnonzero(which)
        return places[np.argsort(-self.surprise[places], kind="stable")]

    def _ties(self, places: NDArray[np.int64] | list[int]) -> tuple[Tie, ...]:
        parts = [(self.ids[p], float(self.surprise[p]), bool(self.present[p])) for p in places]
        names = [self.names[p] if self.names else None for p in places]
        pairs = zip(parts, names, strict=True)
        return tuple(Tie(node, round(s, 3), there, name) for (node, s, there), name in pairs)

    def shown(self, most: int) -> tuple[list[int], int]:
        """Which nodes to draw, half of them unexpected neighbours, and how many are left out."""
        by_surprise = self._places(self.present)
        missed = self._missed()
        room = most - len(missed)
        if len(by_surprise) > room:
            half = room // 2
            by_surprise = np.concatenate([by_surprise[:half], by_surprise[half - room :]])
        chosen = self.others[np.concatenate([by_surprise, missed])]
        return chosen.tolist(), int(self.present.sum()) - len(by_surprise)

    def is_surprising(self, other: int) -> bool:
        """Whether the edge to this node is unexpected."""
        return bool((self.present & (self.surprise > 0))[self.others == other].any())

    def is_missed(self, other: int) -> bool:
        """Whether an edge to this node is expected but missing."""
        return bool((~self.present & (self.surprise > 0))[self.others == other].any())


def score_ties(model: ConditionalModel, graph: AttributedGraph, node: int) -> ScoredTies:
    """All edges of a node, and its missing edges to nodes that share neighbours with it."""
    near = graph.neighbours_of(node)
    others = np.concatenate([near, _candidates(graph, node, near)])
    present = np.arange(len(others)) < len(near)
    surprise = np.zeros(len(others))
    if len(others) and model.next_to.strength.any():
        own, theirs = (
            model.whitening.apply(scaled_features(model, graph, some))
            for some in (np.array([node]), others)
        )
        surprise = model.next_to.mismatch_of_pairs(own, theirs)
    surprise = np.where(present, surprise, -surprise)
    ids = tuple(str(graph.ids[other]) for other in others)
    names = () if graph.names is None else tuple(map(graph.shown, others))
    return ScoredTies(others, ids, present, surprise, names)


def _candidates(graph: AttributedGraph, node: int, near: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes that are not neighbours but share several with `node`, most shared first."""
    reached = [graph.neighbours_of(other)[:_MOST_NEIGHBOURS] for other in near[:_MOST_NEIGHBOURS]]
    if not reached:
        return near
    two_away, shared = np.unique(np.concatenate(reached), return_counts=True)
    fresh = (shared >= _LEAST_SHARED) & (two_away != node) & ~np.isin(two_away, near)
    order = np.argsort(-shared[fresh], kind="stable")[:_MOST_NEIGHBOURS]
    found: NDArray[np.int64] = two_away[fresh][order]
    return found
