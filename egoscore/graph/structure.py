"""The position of a node in a graph, as numbers that mean the same in any graph.

Edges are followed both ways. All of it is counted, nothing estimated: cost is linear in the edges
but for the triangles, which take at most the largest core number of steps per edge.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.csr import Csr
from egoscore.graph.feature_column import LOGARITHM, FeatureColumn
from egoscore.jit import compiled
from egoscore.progress import Bars, no_bars
from egoscore.runtime import release_memory

STRUCTURE = (
    "log_degree",
    "clustering",
    "common_neighbours",
    "neighbours_degree",
    "return_2",
    "return_3",
    "core",
)
_NODES_AT_ONCE = 1 << 16


# Names for readers; those in _LOGARITHMS are stored as log(1 + value).
NAMES = {
    "log_degree": "number of neighbours",
    "clustering": "clustering coefficient",
    "common_neighbours": "neighbours shared with each neighbour",
    "neighbours_degree": "average degree of its neighbours",
    "return_2": "share of its neighbours' links that go to it",
    "return_3": "three-step return probability",
    "core": "core number",
}
_LOGARITHMS = ("log_degree", "common_neighbours", "neighbours_degree", "core")


def describe_structure() -> tuple[FeatureColumn, ...]:
    """What every column of `STRUCTURE` is to a reader."""
    details = (LOGARITHM if name in _LOGARITHMS else "" for name in STRUCTURE)
    titles = (NAMES[name] for name in STRUCTURE)
    return tuple(FeatureColumn(t, "structure", d) for t, d in zip(titles, details, strict=True))


def structure(graph: AttributedGraph) -> NDArray[np.float64]:
    """The columns of `STRUCTURE`, (N, 7); an isolated node's are all zero."""
    found = np.empty((graph.num_nodes, len(STRUCTURE)))
    fill_structure(graph, found)
    return found


def fill_structure(
    graph: AttributedGraph, found: NDArray[np.floating], bars: Bars = no_bars
) -> None:
    """The same in a given array (N, 7), with as little memory beside it as can be.

    log_degree: log(1 + d), with d neighbours.
    clustering: the share of the pairs of neighbours that are neighbours; 0 without a pair.
    common_neighbours: log(1 + how many neighbours are shared with a neighbour, on average).
    neighbours_degree: the mean log(1 + d) of the neighbours.
    return_2, return_3: the chance that a random walk is back after 2 and after 3 steps.
    core: log(1 + core number).
    """
    near = graph.neighbours
    inverse = np.empty(graph.num_nodes)
    for part, _, divisor in _parts(near):
        inverse[part] = 1.0 / divisor
    core, place = peel(near)
    release_memory()
    triangles, products = _through_triangles(near, place, inverse, bars)
    del place
    release_memory()
    for part, degrees, divisor in _parts(near):
        found[part, 1] = 2.0 * triangles[part] / np.maximum(degrees * (degrees - 1), 1)
        found[part, 2] = np.log1p(2.0 * triangles[part] / divisor)
        found[part, 5] = 2.0 * products[part] / divisor  # a triangle can be walked round either way
        found[part, 6] = np.log1p(core[part])
    del triangles, products, core
    sums = _sums(*near, inverse)
    for part, _, divisor in _parts(near):
        found[part, 4] = sums[part] / divisor
    del sums
    log_degree = inverse  # in its place
    for part, degrees, _ in _parts(near):
        found[part, 0] = log_degree[part] = np.log1p(degrees)
    sums = _sums(*near, log_degree)
    for part, _, divisor in _parts(near):
        found[part, 3] = sums[part] / divisor


def _parts(near: Csr) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Some nodes at a time, with their degrees (n,) and by what their sums are divided."""
    for start in range(0, len(near.indptr) - 1, _NODES_AT_ONCE):
        degrees = np.diff(near.indptr[start : start + _NODES_AT_ONCE + 1])
        # where it is not the degree, what is divided is zero
        yield slice(start, start + _NODES_AT_ONCE), degrees, np.maximum(degrees, 1)


@compiled
def _sums(indptr, indices, values):  # type: ignore[no-untyped-def]
    """The sum over every node's neighbours; a product of matrices would copy all edges."""
    sums = np.zeros(len(indptr) - 1)
    for node in range(len(sums)):
        for edge in range(indptr[node], indptr[node + 1]):
            sums[node] += values[indices[edge]]
    return sums


def peel(near: Csr) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Core numbers (N,), and when a node is taken away, (N,) a permutation.

    At most as many neighbours as its core number are taken away after a node.
    """
    left = near.degrees.astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(left))])
    order, place = np.empty_like(left), np.empty_like(left)
    _sort_by_degree(left, starts[:-1].copy(), order, place)
    _peel(near.indptr, near.indices, left, starts, order, place)
    return left, place


@compiled
def _sort_by_degree(degrees, starts, order, place):  # type: ignore[no-untyped-def]
    """Fill `order` with the nodes and `place` with where they are; `starts` is used up."""
    for node in range(len(degrees)):
        place[node] = starts[degrees[node]]
        order[place[node]] = node
        starts[degrees[node]] += 1


@compiled
def _peel(indptr, indices, left, starts, order, place):  # type: ignore[no-untyped-def]
    """Take away a node with the fewest neighbours left, again and again, all in linear time.

    Batagelj & Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003. `left`
    (N,) holds degrees on entry, core numbers in the end; `order` stays sorted by it, and those
    with k neighbours left begin at `starts[k]`.
    """
    for step in range(len(order)):
        node = order[step]
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if left[other] > left[node]:
                # swap with the first of those with as many left, who then begin one later
                start = starts[left[other]]
                first = order[start]
                order[place[other]] = first
                place[first] = place[other]
                order[start] = other
                place[other] = start
                starts[left[other]] += 1
                left[other] -= 1


def _through_triangles(
    near: Csr, place: NDArray[np.int32], inverse: NDArray[np.float64], bars: Bars
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Of every node's triangles the number, and the sum of the others' product of `inverse`."""
    starts, indices = later_neighbours(near.indptr, near.indices, place)
    number, products = np.zeros(len(place), dtype=np.int64), np.zeros(len(place))
    reached_from = np.full(len(place), -1, dtype=np.int32)
    with bars("Looking for triangles", len(indices), "edges") as advance:
        for first in range(0, len(place), _NODES_AT_ONCE):
            last = min(first + _NODES_AT_ONCE, len(place))
            _add_triangles(first, last, starts, indices, inverse, reached_from, number, products)
            advance(int(starts[last] - starts[first]))
    return number, products


@compiled
def later_neighbours(indptr, indices, place):  # type: ignore[no-untyped-def]
    """The edges from nodes to such as are taken away after them, which is half of all."""
    starts = np.zeros_like(indptr)
    kept = np.empty(len(indices) // 2, dtype=indices.dtype)
    count = 0
    for node in range(len(place)):
        for edge in range(indptr[node], indptr[node + 1]):
            if place[node] < place[indices[edge]]:
                kept[count] = indices[edge]
                count += 1
        starts[node + 1] = count
    return starts, kept


@compiled
def _add_triangles(first, last, indptr, indices, inverse, reached_from, number, products):  # type: ignore[no-untyped-def]
    """Every triangle once, from its lowest corner; edges go upward only, so no list is long.

    Of corners from `first` up to `last`; `reached_from` (N,) is -1 before the first of them.

    Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", 2008.
    """
    for low in range(first, last):
        for edge in range(indptr[low], indptr[low + 1]):
            reached_from[indices[edge]] = low
        for low_middle in range(indptr[low], indptr[low + 1]):
            middle = indices[low_middle]
            closed, highs = 0, 0.0
            for edge in range(indptr[middle], indptr[middle + 1]):
                high = indices[edge]
                if reached_from[high] == low:
                    closed += 1
                    highs += inverse[high]
                    number[high] += 1
                    products[high] += inverse[low] * inverse[middle]
            number[low] += closed
            number[middle] += closed
            products[low] += inverse[middle] * highs
            products[middle] += inverse[low] * highs
