"""Do the neighbours of a node agree on another category of a column with many categories?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.tails import Tail
from egoscore.detectors.conditional.view import View
from egoscore.graph import AttributedGraph
from egoscore.graph.csr import Csr

_WEIGHTS = np.geomspace(0.05, 100.0, 12)
_LEAST_VOTES = 3  # neighbours with one category that are more than chance


@dataclass(frozen=True)
class Votes:
    """What the neighbours of every node have, (N,) each; 0 and -1 where nothing is known.

    Attributes: `known` how many have a category; `own` that of the node; `most` the most frequent
    one, and `other` its code.
    """

    known: NDArray[np.int64]
    own: NDArray[np.int64]
    most: NDArray[np.int64]
    other: NDArray[np.int64]

    @classmethod
    def of(cls, near: Csr, codes: NDArray[np.int32]) -> Votes:
        """Of all nodes of a graph."""
        size, kinds = len(codes), int(codes.max(initial=0)) + 1
        node, theirs = np.repeat(np.arange(size), near.degrees), codes[near.indices]
        node, theirs = node[theirs >= 0], theirs[theirs >= 0].astype(np.int64)
        known = np.bincount(node, minlength=size)
        own = np.bincount(node[theirs == codes[node]], minlength=size)
        pairs, counts = np.unique(node * kinds + theirs, return_counts=True)
        order = np.argsort(counts, kind="stable")  # so that the most frequent is written last
        most, other = np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64)
        voters = pairs[order] // kinds
        most[voters], other[voters] = counts[order], pairs[order] % kinds
        return cls(known, own, most, other)


@dataclass(frozen=True)
class Disagreement:
    """How much more the neighbours speak for another category than for the one that a node has.

    The neighbours give a probability to each category: the share of them that have it, where the
    shares among all nodes count as `weight` more neighbours (the Dirichlet-multinomial model).
    Compared are the probability of the category that most neighbours have, and by how much they
    change that of the node's own. So a rare category is not unusual by itself.
    """

    name: str
    weight: float
    tail: Tail

    @classmethod
    def fit(cls, view: View, name: str) -> Disagreement:
        """From all nodes of a graph."""
        votes, share = _votes(view.graph, name)
        has_one = (share > 0) & (votes.known > 0)
        own, known, mine = votes.own[has_one], votes.known[has_one], share[has_one]
        fits = [np.log((own + w * mine) / (known + w)).sum() for w in _WEIGHTS]
        weight = float(_WEIGHTS[int(np.argmax(fits))])
        return cls(name, weight, Tail.fit(_distances(votes, share, weight)))

    def measure(self, graph: AttributedGraph) -> tuple[Votes, Floats]:
        """The votes about all nodes of a graph with that column, and the surprises (N,)."""
        votes, share = _votes(graph, self.name)
        return votes, self.tail.of(_distances(votes, share, self.weight))


def _votes(graph: AttributedGraph, name: str) -> tuple[Votes, NDArray[np.float64]]:
    """The votes, and the share (N,) of all nodes that have the category of a node."""
    codes = graph.categories[name].codes
    counts = np.bincount(codes[codes >= 0], minlength=1)
    share = np.where(codes >= 0, counts[codes] / max(1, counts.sum()), 0.0)
    return Votes.of(graph.neighbours, codes), share


def _distances(votes: Votes, share: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Zero where too few neighbours agree, or the node with them."""
    lift = votes.own / np.maximum(share, 1e-9) + weight  # of the category that the node has
    found = votes.most / lift
    found[(share == 0) | (votes.most < _LEAST_VOTES) | (votes.own >= votes.most)] = 0.0
    return found
