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
    pairs = tuple(end.astype(np.int32, copy=False) for end in (sources, targets))
    # coo → csr sums repeats, so an int8 count may wrap to zero; only the pattern is used
    matrix = sparse.coo_array((ones, pairs), shape=(size, size)).tocsr()
    matrix.sum_duplicates()
    return _pattern(matrix)


def merge(first: Csr, second: Csr) -> Csr:
    """The union of two sets of edges."""
    return _pattern(_counts(first) + _counts(second))


def transpose(csr: Csr) -> Csr:
    """Every edge turned round."""
    return _pattern(_counts(csr).T.tocsr())


def _counts(csr: Csr) -> sparse.csr_array:
    """One for every edge, in as few bytes as can be."""
    size = len(csr.indptr) - 1
    ones = np.ones(len(csr.indices), dtype=np.int8)
    # scipy would copy the indices to the type of indptr
    fits = len(csr.indices) <= np.iinfo(np.int32).max
    indptr = csr.indptr.astype(np.int32) if fits else csr.indptr
    matrix = sparse.csr_array((ones, csr.indices, indptr), shape=(size, size))
    matrix.has_canonical_format = True
    return matrix


def _pattern(matrix: sparse.csr_array) -> Csr:
    indptr, indices = (matrix.indptr, matrix.indices)
    return Csr(indptr.astype(np.int64, copy=False), indices.astype(np.int32, copy=False))
