"""Which edges of a node surprise, and which are as expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Tie
from egoscore.graph import AttributedGraph
from egoscore.surprise.expect import scaled_features
from egoscore.surprise.model import SurpriseModel

_MOST_LOOKED_AT = 1000
_LEAST_SHARED = 2
_MISSED_SHOWN = 2


@dataclass(frozen=True)
class JudgedTies:
    """The edges of a node, and those it does not have but could.

    Attributes: `others` (n,) numbers of nodes; `names` theirs; `present` (n,) whether they are
    neighbours; `surprise` (n,) positive where the model would rather have it otherwise.
    """

    others: NDArray[np.int64]
    names: tuple[str, ...]
    present: NDArray[np.bool_]
    surprise: NDArray[np.float64]

    def surprising(self, most: int) -> tuple[Tie, ...]:
        """Edges that are there against expectation, the most surprising first."""
        return self._ties(self._places(self.present & (self.surprise > 0))[:most])

    def expected(self, most: int) -> tuple[Tie, ...]:
        """Edges that fit, the best first; then those that are missed, the most missed first."""
        fitting = self._places(self.present & (self.surprise < 0))[::-1]
        return self._ties([*fitting[:most], *self._missed()])

    def _missed(self) -> NDArray[np.int64]:
        return self._places(~self.present & (self.surprise > 0))[:_MISSED_SHOWN]

    def _places(self, which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Where `which` holds, by falling surprise."""
        places = np.flatnonzero(which)
        return places[np.argsort(-self.surprise[places], kind="stable")]

    def _ties(self, places: NDArray[np.int64] | list[int]) -> tuple[Tie, ...]:
        return tuple(
            Tie(self.names[p], round(float(self.surprise[p]), 3), bool(self.present[p]))
            for p in places
        )

    def shown(self, most: int) -> tuple[list[int], int]:
        """Which others to draw: missed ones, then half surprising and half fitting neighbours.

        And how many neighbours are left out.
        """
        by_surprise = self._places(self.present)
        missed = self._missed()
        room = most - len(missed)
        if len(by_surprise) > room:
            half = room // 2
            by_surprise = np.concatenate([by_surprise[:half], by_surprise[half - room :]])
        chosen = self.others[np.concatenate([by_surprise, missed])]
        return chosen.tolist(), int(self.present.sum()) - len(by_surprise)

    def is_surprising(self, other: int) -> bool:
        """Whether the edge to this node is there against expectation."""
        return bool((self.present & (self.surprise > 0))[self.others == other].any())

    def is_missed(self, other: int) -> bool:
        """Whether the edge to this node is not there against expectation."""
        return bool((~self.present & (self.surprise > 0))[self.others == other].any())


def judged_ties(model: SurpriseModel, graph: AttributedGraph, node: int) -> JudgedTies:
    """All edges of a node; and nodes that share several neighbours with it."""
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
    surprise = np.where(present, surprise, -surprise)  # what fits surprises by its absence
    return JudgedTies(others, tuple(str(graph.ids[other]) for other in others), present, surprise)


def _candidates(graph: AttributedGraph, node: int, near: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes that are no neighbours but share several with `node`, most shared first."""
    reached = [graph.neighbours_of(other)[:_MOST_LOOKED_AT] for other in near[:_MOST_LOOKED_AT]]
    if not reached:
        return near
    two_away, shared = np.unique(np.concatenate(reached), return_counts=True)
    fresh = (shared >= _LEAST_SHARED) & (two_away != node) & ~np.isin(two_away, near)
    order = np.argsort(-shared[fresh], kind="stable")[:_MOST_LOOKED_AT]
    found: NDArray[np.int64] = two_away[fresh][order]
    return found
