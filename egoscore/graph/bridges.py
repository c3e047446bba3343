"""Nodes that hold a graph together: how large a group of others one alone joins to the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.csr import Csr
from egoscore.jit import compiled


def joined_groups(near: Csr) -> NDArray[np.int32]:
    """The size of the second largest part into which its component falls without a node, (N,).

    Without most nodes it stays in one part: 0.
    """
    size = len(near.indptr) - 1
    largest, second, total = np.zeros((3, size), dtype=np.int32)
    component = np.full(size, -1, dtype=np.int32)
    _search(near.indptr, near.indices, largest, second, total, component)
    sizes = np.bincount(component, minlength=size)[component]
    # what a search does not reach below a node lies on the other side of it
    rest = (sizes - 1 - total).astype(np.int32)
    return np.where(rest >= largest, largest, np.maximum(rest, second))


@compiled
def _search(indptr, indices, largest, second, total, component):  # type: ignore[no-untyped-def]
    """A depth-first search from the first node of every component.

    It finds the size of the `largest` and the `second` part that only a node joins to where the
    search came from, and the `total` of all such parts (Hopcroft & Tarjan,
    "Efficient algorithms for graph manipulation", 1973).
    """
    size = len(indptr) - 1
    order = np.full(size, -1, dtype=np.int32)
    low, below = np.empty(size, dtype=np.int32), np.ones(size, dtype=np.int32)
    parent, path = np.full(size, -1, dtype=np.int32), np.empty(size, dtype=np.int32)
    next_edge = indptr[:-1].copy()
    count = 0
    for root in range(size):
        if order[root] >= 0:
            continue
        path[0], depth = root, 1
        order[root] = low[root] = count
        component[root] = root
        count += 1
        while depth:
            node = path[depth - 1]
            if next_edge[node] < indptr[node + 1]:
                other = indices[next_edge[node]]
                next_edge[node] += 1
                if order[other] < 0:
                    parent[other] = node
                    component[other] = root
                    order[other] = low[other] = count
                    count += 1
                    path[depth] = other
                    depth += 1
                elif other != parent[node] and order[other] < low[node]:
                    low[node] = order[other]
                continue
            depth -= 1
            above = parent[node]
            if above < 0:
                continue
            below[above] += below[node]
            low[above] = min(low[above], low[node])
            if low[node] >= order[above]:
                second[above] = max(second[above], min(largest[above], below[node]))
                largest[above] = max(largest[above], below[node])
                total[above] += below[node]
