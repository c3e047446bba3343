"""Compressed sparse rows: how a graph's edges are stored.

Our own code sorts them, not scipy, because it makes fewer copies of millions of edges. It is
imported on first use, so that commands that only list data sets start fast.
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

    @property
    def in_degrees(self) -> NDArray[np.int64]:
        """How many rows have every node among their neighbours, shape (num_nodes,)."""
        from egoscore.graph.edge_sorting import count_targets

        counts = np.zeros(len(self.indptr) - 1, dtype=np.int64)
        count_targets(self.indices, counts)
        return counts

    def to_scipy(self) -> sparse.csr_array:
        """The same as a scipy matrix of ones."""
        size = len(self.indptr) - 1
        ones = np.ones(len(self.indices), dtype=np.float32)
        return sparse.csr_array((ones, self.indices, self.indptr), shape=(size, size))


def build_csr(sources: NDArray[np.integer], targets: NDArray[np.integer], size: int) -> Csr:
    """Rows of `targets` by `sources`; repeated pairs are kept once."""
    from egoscore.graph.edge_sorting import sort_by_source, sort_rows

    indptr = np.zeros(size + 1, dtype=np.int64)
    indices = np.empty(len(sources), dtype=np.int32)
    sort_by_source(sources, targets, indptr, indices)
    return _shrunk(indptr, indices, sort_rows(indptr, indices))


def without_loops(csr: Csr) -> Csr:
    """The same without edges from a node to itself; the arrays of `csr` are reused."""
    from egoscore.graph.edge_sorting import drop_loops

    return _shrunk(*csr, drop_loops(*csr))


def both_ways(csr: Csr) -> Csr:
    """Every edge in both directions."""
    from egoscore.graph.edge_sorting import merge_rows, reverse_edges

    indptr = np.zeros(len(csr.indptr), dtype=np.int64)
    indices = np.empty(2 * len(csr.indices), dtype=np.int32)
    reverse_edges(*csr, indptr, indices)
    return _shrunk(indptr, indices, merge_rows(*csr, indptr, indices))


def _shrunk(indptr: NDArray[np.int64], indices: NDArray[np.int32], count: int) -> Csr:
    """Keep the first `count` indices and free the memory of the others, without a copy."""
    indices.resize(count, refcheck=False)
    return Csr(indptr, indices)
