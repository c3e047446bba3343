"""The position of a node in a graph, as numbers that mean the same in any graph.

Edges are followed both ways; `DIRECTION` says more about a directed graph. Everything is exact.
Cost is linear in the number of edges, times the largest core number for triangles.
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
DIRECTION = ("log_out_degree", "log_in_degree", "reciprocity")
_NODES_AT_ONCE = 1 << 16


# For readers; quantities in _LOGARITHMS are stored as log(1 + value).
NAMES = {
    "log_degree": "number of neighbours",
    "clustering": "clustering coefficient",
    "common_neighbours": "neighbours shared with each neighbour",
    "neighbours_degree": "average degree of its neighbours",
    "return_2": "share of its neighbours' links that go to it",
    "return_3": "three-step return probability",
    "core": "core number",
    "log_out_degree": "number of nodes it links to",
    "log_in_degree": "number of nodes that link to it",
    "reciprocity": "share of its neighbours linked to it in both directions",
}
_LOGARITHMS = (
    *("log_degree", "common_neighbours", "neighbours_degree", "core"),
    *("log_out_degree", "log_in_degree"),
)


def describe_structure(directed: bool = False) -> tuple[FeatureColumn, ...]:
    """A description for readers of the columns of `STRUCTURE` and, if `directed`, `DIRECTION`."""
    names = (*STRUCTURE, *DIRECTION) if directed else STRUCTURE
    details = (LOGARITHM if name in _LOGARITHMS else "" for name in names)
    titles = (NAMES[name] for name in names)
    return tuple(FeatureColumn(t, "structure", d) for t, d in zip(titles, details, strict=True))


def structure_and_direction(graph: AttributedGraph) -> NDArray[np.float64]:
    """The columns of `STRUCTURE`, (N, 7), and of a directed graph those of `DIRECTION`, (N, 10)."""
    if not graph.directed:
        return structure(graph)
    found = np.empty((graph.num_nodes, len(STRUCTURE) + len(DIRECTION)))
    fill_structure(graph, found)
    fill_direction(graph, found[:, len(STRUCTURE) :])
    return found


def structure(graph: AttributedGraph) -> NDArray[np.float64]:
    """The columns of `STRUCTURE`, (N, 7); an isolated node's are all zero."""
    found = np.empty((graph.num_nodes, len(STRUCTURE)))
    fill_structure(graph, found)
    return found


def fill_structure(
    graph: AttributedGraph, found: NDArray[np.floating], bars: Bars = no_bars
) -> None:
    """Write the columns of `STRUCTURE` to an array (N, 7 or more), with little further memory.

    log_degree: log(1 + d), with d neighbours.
    clustering: the share of the pairs of neighbours that are neighbours; 0 without a pair.
    common_neighbours: log(1 + how many neighbours are shared with a neighbour, on average).
    neighbours_degree: the mean log(1 + d) of the neighbours.
    return_2, return_3: the probability that a random walk is back after 2 and after 3 steps.
    core: log(1 + core number).
    """
    near = graph.neighbours
    inverse = np.empty(graph.num_nodes)
    for part, _, divisor in _parts(near):
        inverse[part] = 1.0 / divisor
    core, rank = core_numbers(near)
    release_memory()
    triangles, products = _count_triangles(near, rank, inverse, bars)
    del rank
    release_memory()
    for part, degrees, divisor in _parts(near):
        found[part, 1] = 2.0 * triangles[part] / np.maximum(degrees * (degrees - 1), 1)
        found[part, 2] = np.log1p(2.0 * triangles[part] / divisor)
        found[part, 5] = 2.0 * products[part] / divisor  # in either direction
        found[part, 6] = np.log1p(core[part])
    del triangles, products, core
    sums = _sums(*near, inverse)
    for part, _, divisor in _parts(near):
        found[part, 4] = sums[part] / divisor
    del sums
    log_degree = inverse  # reuses its memory
    for part, degrees, _ in _parts(near):
        found[part, 0] = log_degree[part] = np.log1p(degrees)
    sums = _sums(*near, log_degree)
    for part, _, divisor in _parts(near):
        found[part, 3] = sums[part] / divisor


def fill_direction(graph: AttributedGraph, found: NDArray[np.floating]) -> None:
    """Write the columns of `DIRECTION` to an array (N, 3).

    log_out_degree, log_in_degree: log(1 + how many nodes it links to, and that link to it).
    reciprocity: the share of its neighbours for which both are true.
    """
    sent, received = graph.adjacency.degrees, graph.adjacency.in_degrees
    np.log1p(sent, out=found[:, 0])
    np.log1p(received, out=found[:, 1])
    degrees = graph.neighbours.degrees
    found[:, 2] = (sent + received - degrees) / np.maximum(degrees, 1)


def _parts(near: Csr) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Slices of the nodes, with their degrees (n,) and the divisors (n,) of their means."""
    for start in range(0, len(near.indptr) - 1, _NODES_AT_ONCE):
        degrees = np.diff(near.indptr[start : start + _NODES_AT_ONCE + 1])
        # the sums of isolated nodes are zero, whatever they are divided by
        yield slice(start, start + _NODES_AT_ONCE), degrees, np.maximum(degrees, 1)


@compiled
def _sums(indptr, indices, values):  # type: ignore[no-untyped-def]
    """The sum over every node's neighbours; a matrix product would copy all edges."""
    sums = np.zeros(len(indptr) - 1)
    for node in range(len(sums)):
        for edge in range(indptr[node], indptr[node + 1]):
            sums[node] += values[indices[edge]]
    return sums


def core_numbers(near: Csr) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Core numbers (N,), and the order (N,) in which nodes are removed to find them.

    No more of a node's neighbours than its core number are removed after it.
    """
    left = near.degrees.astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(left))])
    order, place = np.empty_like(left), np.empty_like(left)
    _sort_by_degree(left, starts[:-1].copy(), order, place)
    _peel(near.indptr, near.indices, left, starts, order, place)
    return left, place


@compiled
def _sort_by_degree(degrees, starts, order, place):  # type: ignore[no-untyped-def]
    """Fill `order` with the nodes and `position` with their positions in it; changes `starts`."""
    for node in range(len(degrees)):
        place[node] = starts[degrees[node]]
        order[place[node]] = node
        starts[degrees[node]] += 1


@compiled
def _peel(indptr, indices, left, starts, order, place):  # type: ignore[no-untyped-def]
    """Remove a node with the fewest neighbours left, again and again, in linear time.

    Batagelj & Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003. `left`
    (N,) holds degrees on entry and core numbers on return; `order` stays sorted by it, and nodes
    with k neighbours left begin at `starts[k]`.
    """
    for step in range(len(order)):
        node = order[step]
        for edge in range(indptr[node], indptr[node + 1]):
            other = indices[edge]
            if left[other] > left[node]:
                # swap with the first node with as many left; these nodes then begin one later
                start = starts[left[other]]
                first = order[start]
                order[place[other]] = first
                place[first] = place[other]
                order[start] = other
                place[other] = start
                starts[left[other]] += 1
                left[other] -= 1


def _count_triangles(
    near: Csr, rank: NDArray[np.int32], inverse: NDArray[np.float64], bars: Bars
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For every node its number of triangles, and the sum over them of 1/(d·e).

    d and e are the degrees of the other two nodes, whose reciprocals are in `inverse`.
    """
    starts, indices = oriented(near.indptr, near.indices, rank)
    number, products = np.zeros(len(rank), dtype=np.int64), np.zeros(len(rank))
    reached_from = np.full(len(rank), -1, dtype=np.int32)
    with bars("Looking for triangles", len(indices), "edges") as advance:
        for first in range(0, len(rank), _NODES_AT_ONCE):
            last = min(first + _NODES_AT_ONCE, len(rank))
            _add_triangles(first, last, starts, indices, inverse, reached_from, number, products)
            advance(int(starts[last] - starts[first]))
    return number, products


@compiled
def oriented(indptr, indices, rank):  # type: ignore[no-untyped-def]
    """The half of the edges that lead to a node of higher rank."""
    starts = np.zeros_like(indptr)
    kept = np.empty(len(indices) // 2, dtype=indices.dtype)
    count = 0
    for node in range(len(rank)):
        for edge in range(indptr[node], indptr[node + 1]):
            if rank[node] < rank[indices[edge]]:
                kept[count] = indices[edge]
                count += 1
        starts[node + 1] = count
    return starts, kept


@compiled
def _add_triangles(first, last, indptr, indices, inverse, reached_from, number, products):  # type: ignore[no-untyped-def]
    """Add every triangle whose lowest node is in [first, last).

    Edges lead to nodes of higher rank only, so that no row is long. `reached_from` (N,) is -1
    before the first call.

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
