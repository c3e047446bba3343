"""Averages over a node's neighbours, one step away and two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.graph import AttributedGraph
from egoscore.jit import compiled

Floats = NDArray[np.float32]
Links = sparse.csr_array | sparse.csc_array
_LIMIT = 3.0  # deviations


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of every node, following edges both ways.

    Attributes:
        links: (N, N) ones. degree: (N,) how many neighbours. back: (N,) the chance that a random
            walk of two steps ends where it began. out: (N, N) ones, the links of a directed graph
            from rows to columns; None where links have no direction.
    """

    links: sparse.csr_array
    degree: Floats
    back: Floats
    out: sparse.csr_array | None = None

    @classmethod
    def of(cls, graph: AttributedGraph) -> Neighbours:
        """The neighbours of every node."""
        links = graph.neighbours.to_scipy()
        degree = graph.neighbours.degrees.astype(np.float32)
        share = _divided(np.ones_like(degree), degree)
        out = graph.adjacency.to_scipy() if graph.directed else None
        return cls(links, degree, share * (links @ share), out)

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
        return neighbour_mean(self.links, values, self.degree)

    def means(self, values: Floats) -> list[Floats]:
        """Means over neighbours of `values` (N, C) by which a node is predicted, (N, C) each.

        In a directed graph the second is by how much the mean of those that a node links to
        exceeds the mean of those that link to it; see `surplus`.
        """
        both = [self.mean(values)]
        return both if self.out is None else [*both, surplus(self.out, self.out.T, values)]

    def mean_two_steps(self, values: Floats) -> Floats:
        """Mean of `values` (N, C) where a walk of two steps ends, not counting the way back."""
        there = self.mean(self.mean(values)) - self.back[:, None] * values
        there[~self.has_two_steps] = 0.0
        return _divided(there, np.maximum(1.0 - self.back, 1e-4)[:, None])

    def clipped_means(self, own: Floats) -> tuple[Floats, Floats]:
        """Means over the neighbours of `own` (N, C) and of its squares, clipped for the node."""
        seen = clipped(own)
        first, second = self.mean(seen), self.mean(np.square(seen))
        _add_far(self.links.indptr, self.links.indices, own, _LIMIT, first, second)
        return first, second


def neighbour_mean(links: sparse.csr_array, values: Floats, degree: Floats | None = None) -> Floats:
    """Mean of `values` (M, C) over the neighbours in each row of `links` (n, M), zero if none."""
    if degree is None:
        degree = np.diff(links.indptr).astype(np.float32)
    return _divided(links @ values, degree[:, None])


def surplus(sent: Links, received: Links, values: Floats) -> Floats:
    """The mean of `values` (M, C) where links lead to, less that where they come from, (n, C).

    `sent` and `received` (n, M) are ones. A mean over no node is zero. Together with the mean over
    all neighbours this is as much as the means in both directions, but nothing is lost on nodes
    with links in one direction where direction does not matter.
    """
    means = (
        _divided(links @ values, links.sum(axis=1).astype(np.float32)[:, None])
        for links in (sent, received)
    )
    difference: Floats = np.subtract(*means)
    return difference


def clipped(values: Floats, own: Floats | None = None) -> Floats:
    """Values of unit deviation clipped at three deviations, as a node's neighbours use them.

    So one extreme node does not make all its neighbours abnormal. For a node that is more extreme
    itself, the limit is its `own` value: two extreme nodes are similar.
    """
    limit = _LIMIT if own is None else np.maximum(np.abs(own), _LIMIT)
    seen: Floats = np.clip(values, -limit, limit)
    return seen


@compiled
def _add_far(indptr, indices, own, lowest, first, second):  # type: ignore[no-untyped-def]
    """Correct the means of values and of squares for nodes whose own limit is higher."""
    for node in range(own.shape[0]):
        for column in range(own.shape[1]):
            limit = abs(own[node, column])
            if limit <= lowest:
                continue
            share = 1.0 / max(1, indptr[node + 1] - indptr[node])
            for edge in range(indptr[node], indptr[node + 1]):
                value = own[indices[edge], column]
                if abs(value) > lowest:
                    far = min(abs(value), limit)
                    first[node, column] += share * np.sign(value) * (far - lowest)
                    second[node, column] += share * (far * far - lowest * lowest)


def _divided(values: Floats, by: Floats) -> Floats:
    quotient: Floats = np.divide(values, by, out=np.zeros_like(values), where=by > 0)
    return quotient
