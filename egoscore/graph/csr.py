"""Compressed sparse rows: how a network's edges are kept."""

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
    ones = np.ones(len(sources), dtype=np.int8)
    pairs = (sources.astype(np.int32), targets.astype(np.int32))
    # coo → csr sums repeats, so an int8 count may wrap to zero; only the pattern is used
    matrix = sparse.coo_array((ones, pairs), shape=(size, size)).tocsr()
    matrix.sum_duplicates()
    return Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32))


def merge(first: Csr, second: Csr) -> Csr:
    """The union of two sets of edges."""
    size = len(first.indptr) - 1
    rows = np.arange(size, dtype=np.int32)
    sources = np.concatenate([np.repeat(rows, first.degrees), np.repeat(rows, second.degrees)])
    return build_csr(sources, np.concatenate([first.indices, second.indices]), size)


def transpose(csr: Csr) -> Csr:
    """Every edge turned round."""
    size = len(csr.indptr) - 1
    rows = np.repeat(np.arange(size, dtype=np.int32), csr.degrees)
    return build_csr(csr.indices, rows, size)
