"""Averages over a node's neighbours, one step away and two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.graph import AttributedGraph

Floats = NDArray[np.float32]
_LOUDEST = 3.0  # deviations


@dataclass(frozen=True)
class Neighbours:
    """Who is next to whom, following edges both ways.

    Attributes:
        links: (N, N) ones. degree: (N,) how many neighbours. back: (N,) the chance that a random
            walk of two steps ends where it began.
    """

    links: sparse.csr_array
    degree: Floats
    back: Floats

    @classmethod
    def of(cls, graph: AttributedGraph) -> Neighbours:
        """The neighbours of every node."""
        links = graph.neighbours.to_scipy()
        degree = graph.neighbours.degrees.astype(np.float32)
        share = _divided(np.ones_like(degree), degree)
        return cls(links, degree, share * (links @ share))

    @property
    def has_one_step(self) -> NDArray[np.bool_]:
        """(N,) whether a node has neighbours."""
        return self.degree > 0

    @property
    def has_two_steps(self) -> NDArray[np.bool_]:
        """(N,) whether two steps lead anywhere else than back."""
        return self.has_one_step & (self.back < 1.0 - 1e-4)

    def mean(self, values: Floats) -> Floats:
        """Mean over the neighbours of `values` (N, C), zero where there are none."""
        return _divided(self.links @ values, self.degree[:, None])

    def mean_two_steps(self, values: Floats) -> Floats:
        """Mean of `values` (N, C) where a walk of two steps ends, not counting the way back."""
        there = self.mean(self.mean(values)) - self.back[:, None] * values
        there[~self.has_two_steps] = 0.0
        return _divided(there, np.maximum(1.0 - self.back, 1e-4)[:, None])


def as_seen_by_others(values: Floats) -> Floats:
    """Values of unit deviation as they count for a node's neighbours: no farther out than three.

    So one node out of all bounds does not make all that are next to it look abnormal.
    """
    seen: Floats = np.clip(values, -_LOUDEST, _LOUDEST)
    return seen


def _divided(values: Floats, by: Floats) -> Floats:
    quotient: Floats = np.divide(values, by, out=np.zeros_like(values), where=by > 0)
    return quotient
