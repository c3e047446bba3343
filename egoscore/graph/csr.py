"""Compressed sparse rows: how a graph's edges are kept.

They are sorted by code of our own and not by scipy: of millions of edges no more copies are made
than needed. It is loaded when it is first needed, so that names of data sets are known at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Csr(NamedTuple):
    """The neighbours of node v are `indices[indptr[v]:indptr[v + 1]]`, sorted, without repeats."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of every node, shape (num_nodes,)."""
        return np.diff(self.indptr)

    def to_scipy(self) -> sparse.csr_array:
        """The same as a scipy matrix of ones."""
        size = len(self.indptr) - 1
        ones = np.ones(len(self.indices), dtype=np.float32)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=(size, size))


def build_csr(sources: NDArray[np.integer], targets: NDArray[np.integer], size: int) -> Csr:
    """Rows of `targets` by `sources`; repeated pairs are kept once."""
    from egoscore.graph.edge_sorting import sort_by_source, tidy

    indptr = np.zeros(size + 1, dtype=np.int64)
    indices = np.empty(len(sources), dtype=np.int32)
    sort_by_source(sources, targets, indptr, indices)
    return _cut(indptr, indices, tidy(indptr, indices))


def without_loops(csr: Csr) -> Csr:
    """The same without edges from a node to itself; what is given is used up."""
    from egoscore.graph.edge_sorting import drop_loops

    return _cut(*csr, drop_loops(*csr))


def both_ways(csr: Csr) -> Csr:
    """Every edge in both directions."""
    from egoscore.graph.edge_sorting import merge, turn_round

    indptr = np.zeros(len(csr.indptr), dtype=np.int64)
    indices = np.empty(2 * len(csr.indices), dtype=np.int32)
    turn_round(*csr, indptr, indices)
    return _cut(indptr, indices, merge(*csr, indptr, indices))


def _cut(indptr: NDArray[np.int64], indices: NDArray[np.int32], count: int) -> Csr:
    """The first `count` of the indices; the rest of their memory is given back, nothing copied."""
    indices.resize(count, refcheck=False)
    return Csr(indptr, indices)
