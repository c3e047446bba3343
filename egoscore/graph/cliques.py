"""How the neighbours of a node are linked to each other: strangers, cliques, groups it joins.

Edges are followed both ways. Everything comes from one pass over the triangles, whose cost is that
of `egoscore.graph.structure`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.bridges import joined_groups
from egoscore.graph.structure import core_numbers, oriented
from egoscore.jit import compiled

_CLOSED = 0.7  # share of a group that both ends of a closed edge know


@dataclass(frozen=True)
class Circles:
    """Counts per node, (N,) each.

    Attributes: `strangers` its neighbours that have other neighbours, none of them shared with it;
    `clique` the number of its neighbours in the largest clique that is closed: of the neighbours
    of a member that can be reached from the clique without passing that member, at least 70% are
    in the clique. So in the middle of a dense region there is none; `group` how many nodes it
    alone joins to the rest of the graph.
    """

    strangers: NDArray[np.int32]
    clique: NDArray[np.int32]
    group: NDArray[np.int32]

    def of_node(self, node: int) -> Circles:
        """Those of one node."""
        return Circles(**{name: counts[[node]] for name, counts in vars(self).items()})


def circles(graph: AttributedGraph) -> Circles:
    """The counts of every node of a graph with fewer than 2^30 edges."""
    near = graph.neighbours
    _, rank = core_numbers(near)
    starts, indices = oriented(*near, rank)
    del rank
    support = np.zeros(len(indices), dtype=np.int32)
    # both ends of every edge, as the other end sees them: the group of neighbours they belong to
    parent = np.arange(2 * len(indices), dtype=np.int32)
    unseen = np.full(graph.num_nodes, -1, dtype=np.int32)
    _join_groups(starts, indices, support, parent, unseen)
    size = np.zeros(len(parent), dtype=np.int32)
    _count_groups(parent, size)
    strangers = np.zeros(graph.num_nodes, dtype=np.int32)
    _count_strangers(starts, indices, support, near.degrees, strangers)
    largest = np.maximum(size[0::2], size[1::2])
    is_closed = (support > 0) & (support + 1 >= _CLOSED * largest)
    del parent, size, largest
    ends = np.flatnonzero(is_closed)
    first = np.searchsorted(starts, ends, side="right") - 1
    clique = _clique_sizes(first, indices[ends], support[ends], graph.num_nodes)
    return Circles(strangers, clique, joined_groups(near))


def _clique_sizes(
    first: NDArray[np.int64], second: NDArray[np.int32], support: NDArray[np.int32], size: int
) -> NDArray[np.int32]:
    """For every node the largest k such that k of its closed edges are in k - 1 triangles or more.

    But not in many more: the group of an edge with many shared neighbours is larger. `first`,
    `second` and `support` (n,) are the ends of the closed edges and their triangles.
    """
    node, known = np.concatenate([first, second]), np.tile(support, 2) + 1
    order = np.lexsort((-known, node))
    node, known = node[order], known[order]
    rank = np.arange(1, len(node) + 1) - np.searchsorted(node, node)
    found = np.zeros(size, dtype=np.int32)
    enough = (known >= rank) & (rank >= _CLOSED * known)
    np.maximum.at(found, node[enough], rank[enough].astype(np.int32))
    return found


@compiled
def _root(parent, item):  # type: ignore[no-untyped-def]
    while parent[item] != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


@compiled
def _join(parent, first, second):  # type: ignore[no-untyped-def]
    first, second = _root(parent, first), _root(parent, second)
    if first < second:
        parent[second] = first
    else:
        parent[first] = second


@compiled
def _join_groups(indptr, indices, support, parent, edge_to):  # type: ignore[no-untyped-def]
    """Count the triangles of every edge, and join neighbours of a node that are linked.

    The ends of an edge are numbered 2 e, the later as a neighbour of the earlier, and 2 e + 1.
    """
    for low in range(len(indptr) - 1):
        for edge in range(indptr[low], indptr[low + 1]):
            edge_to[indices[edge]] = edge
        for low_middle in range(indptr[low], indptr[low + 1]):
            middle = indices[low_middle]
            for middle_high in range(indptr[middle], indptr[middle + 1]):
                low_high = edge_to[indices[middle_high]]
                if low_high >= 0:
                    support[low_middle] += 1
                    support[middle_high] += 1
                    support[low_high] += 1
                    _join(parent, 2 * low_middle, 2 * low_high)
                    _join(parent, 2 * low_middle + 1, 2 * middle_high)
                    _join(parent, 2 * low_high + 1, 2 * middle_high + 1)
        for edge in range(indptr[low], indptr[low + 1]):
            edge_to[indices[edge]] = -1


@compiled
def _count_groups(parent, size):  # type: ignore[no-untyped-def]
    """The size of the group of every end of an edge, (2 E,)."""
    for item in range(len(parent)):
        size[_root(parent, item)] += 1
    for item in range(len(parent) - 1, -1, -1):  # roots come before the others
        size[item] = size[_root(parent, item)]


@compiled
def _count_strangers(indptr, indices, support, degrees, strangers):  # type: ignore[no-untyped-def]
    for low in range(len(indptr) - 1):
        for edge in range(indptr[low], indptr[low + 1]):
            if support[edge] == 0:
                high = indices[edge]
                strangers[low] += degrees[high] > 1
                strangers[high] += degrees[low] > 1
