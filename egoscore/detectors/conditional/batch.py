"""Some nodes with their neighbours, as single values are judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.neighbours import clipped, neighbour_mean
from egoscore.detectors.conditional.preprocess import Scale, preprocess
from egoscore.detectors.conditional.view import View
from egoscore.graph import AttributedGraph

_ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Batch:
    """n nodes and the M nodes around them.

    Attributes: `raw` (n, F) features as the graph has them; `filled` (n, F) the same scaled,
    bounded, without gaps; `links` (n, M) to their neighbours; `around` (M, F) the raw features of
    these, `seen` (M, F) scaled and bounded as their neighbours use them.
    """

    raw: Floats
    filled: Floats
    links: sparse.csr_array
    around: Floats
    seen: Floats

    @classmethod
    def all_of(cls, view: View) -> Iterator[tuple[slice, Batch]]:
        """All nodes of a graph, some at a time."""
        raw, seen = view.graph.features, clipped(view.features)
        for start in range(0, len(raw), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            own = raw[rows], view.features[rows], view.near.links[rows]
            yield rows, cls(*own, raw, seen)

    @classmethod
    def some_of(cls, view: View, rows: NDArray[np.int64]) -> Batch:
        """Some nodes of a graph that has been prepared."""
        raw, seen = view.graph.features, clipped(view.features)
        own = raw[rows], view.features[rows], view.near.links[rows]
        return cls(*own, raw, seen)

    @classmethod
    def of_nodes(cls, graph: AttributedGraph, scaling: Scale, nodes: NDArray[np.int64]) -> Batch:
        """Some nodes of a graph, of which only their neighbours are read."""
        links = graph.neighbours.to_scipy()[nodes]
        others = np.unique(links.indices)
        own = graph.features[nodes], preprocess(scaling, graph, nodes), links[:, others]
        seen = clipped(preprocess(scaling, graph, others))
        return cls(*own, graph.features[others], seen)

    @property
    def degree(self) -> Floats:
        """The number of neighbours, (n,)."""
        return np.diff(self.links.indptr).astype(np.float32)

    @property
    def theirs(self) -> Floats:
        """The mean of the neighbours' features, (n, F)."""
        return neighbour_mean(self.links, self.seen, self.degree)

    def shares(self, features: NDArray[np.int64]) -> Floats:
        """Which of several categories the nodes have, (n, k + 1); the last is none of the k."""
        return with_none(self.raw[:, features])

    def counts(self, features: NDArray[np.int64]) -> Floats:
        """How many neighbours have each category, (n, k + 1)."""
        found = self.links @ self.around[:, features]
        return np.column_stack([found, self.degree - found.sum(axis=1)])


def with_none(categories: Floats) -> Floats:
    """Ones and zeros (n, k), with a column of ones for the rows that have none of them."""
    return np.column_stack([categories, 1.0 - categories.sum(axis=1, keepdims=True)])
