"""Compressed sparse rows: how a network's edges are kept.

Compiled here and not taken from scipy: of millions of edges no more copies are made than needed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.keyed import compiled

_SHORT = 20


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
    indptr = np.zeros(size + 1, dtype=np.int64)
    indices = np.empty(len(sources), dtype=np.int32)
    _sort_by_source(sources, targets, indptr, indices)
    return _cut(indptr, indices, _tidy(indptr, indices))


def without_loops(csr: Csr) -> Csr:
    """The same without edges from a node to itself; what is given is used up."""
    return _cut(*csr, _drop_loops(*csr))


def both_ways(csr: Csr) -> Csr:
    """Every edge in both directions."""
    indptr = np.zeros(len(csr.indptr), dtype=np.int64)
    indices = np.empty(2 * len(csr.indices), dtype=np.int32)
    _turn_round(*csr, indptr, indices)
    return _cut(indptr, indices, _merge(*csr, indptr, indices))


def _cut(indptr: NDArray[np.int64], indices: NDArray[np.int32], count: int) -> Csr:
    """The first `count` of the indices; the rest of their memory is given back, nothing copied."""
    indices.resize(count, refcheck=False)
    return Csr(indptr, indices)


@compiled
def _starts(indptr):  # type: ignore[no-untyped-def]
    """From how many edges each node has, one place further on, to where they begin."""
    for node in range(1, len(indptr)):
        indptr[node] += indptr[node - 1]


@compiled
def _back(indptr):  # type: ignore[no-untyped-def]
    """From where the edges of every node end to where they begin."""
    for node in range(len(indptr) - 1, 0, -1):
        indptr[node] = indptr[node - 1]
    indptr[0] = 0


@compiled
def _sort_by_source(sources, targets, indptr, indices):  # type: ignore[no-untyped-def]
    """Fill `indptr` (N + 1,), zero before, and `indices` (E,), in the order given in every row."""
    for source in sources:
        indptr[source + 1] += 1
    _starts(indptr)
    for edge in range(len(sources)):
        source = sources[edge]
        indices[indptr[source]] = targets[edge]
        indptr[source] += 1
    _back(indptr)


@compiled
def _sort(row):  # type: ignore[no-untyped-def]
    """Sort in place; most rows are short, and insertion is the fastest for these."""
    if len(row) > _SHORT:
        row.sort()
        return
    for place in range(1, len(row)):
        value, gap = row[place], place
        while gap > 0 and row[gap - 1] > value:
            row[gap] = row[gap - 1]
            gap -= 1
        row[gap] = value


@compiled
def _tidy(indptr, indices):  # type: ignore[no-untyped-def]
    """Sort every row and leave out repeats, in place; returns how many are left."""
    count = 0
    for node in range(len(indptr) - 1):
        row = indices[indptr[node] : indptr[node + 1]]
        _sort(row)
        indptr[node] = count
        for place in range(len(row)):
            if place == 0 or row[place] != row[place - 1]:
                indices[count] = row[place]
                count += 1
    indptr[-1] = count
    return count


@compiled
def _drop_loops(indptr, indices):  # type: ignore[no-untyped-def]
    count, start = 0, 0
    for node in range(len(indptr) - 1):
        end = indptr[node + 1]
        for edge in range(start, end):
            if indices[edge] != node:
                indices[count] = indices[edge]
                count += 1
        start, indptr[node + 1] = end, count
    return count


@compiled
def _turn_round(indptr, indices, both, merged):  # type: ignore[no-untyped-def]
    """Rows of `merged` with room for edges of both directions, those turned round at their start.

    They are sorted, as sources come in order. `both` (N + 1,) is zero before.
    """
    for node in range(len(indptr) - 1):
        both[node + 1] += indptr[node + 1] - indptr[node]
    for target in indices:
        both[target + 1] += 1
    _starts(both)
    for source in range(len(indptr) - 1):
        for edge in range(indptr[source], indptr[source + 1]):
            target = indices[edge]
            merged[both[target]] = source
            both[target] += 1


@compiled
def _merge(indptr, indices, both, merged):  # type: ignore[no-untyped-def]
    """Merge the rows into those that were turned round, without repeats, all in place.

    `both` holds where what was turned round ends, and in the end where rows begin.
    """
    count, start = 0, 0
    for node in range(len(indptr) - 1):
        turned, own = both[node], indptr[node + 1]
        end = turned + own - indptr[node]
        # from the back, where there is room
        for place in range(end - 1, start - 1, -1):
            if own == indptr[node]:
                break
            if turned > start and merged[turned - 1] > indices[own - 1]:
                turned -= 1
                merged[place] = merged[turned]
            else:
                own -= 1
                merged[place] = indices[own]
        both[node] = count
        last = -1
        for place in range(start, end):
            if merged[place] != last:
                last = merged[place]
                merged[count] = last
                count += 1
        start = end
    both[-1] = count
    return count
