"""Cut ego-graphs out of compressed sparse rows; compiled, and without listing a hub's neighbours.

`slot` is scratch memory, one int32 per node, all zero between calls; it marks visited nodes.
"""

from __future__ import annotations

import numpy as np

from egoscore.jit import compiled
from egoscore.random import Purpose, philox

_SUBSAMPLE = int(Purpose.SUBSAMPLE)


@compiled
def _walk(indptr, indices, centre, hops, limit, slot, found):  # type: ignore[no-untyped-def]
    """Breadth-first from the centre; stops early once `limit` nodes are found."""
    found[0] = centre
    slot[centre] = 1
    count = 1
    start = 0
    for _ in range(hops):
        end = count
        for position in range(start, end):
            node = found[position]
            for edge in range(indptr[node], indptr[node + 1]):
                if slot[indices[edge]] == 0:
                    if count == limit:
                        return count
                    slot[indices[edge]] = 1
                    found[count] = indices[edge]
                    count += 1
        start = end
    return count


@compiled
def _reach(indptr, indices, centre, hops, limit, slot, found):  # type: ignore[no-untyped-def]
    """Write the nodes within `hops` of the centre to `found`, the centre first; their number."""
    count = _walk(indptr, indices, centre, hops, limit, slot, found)
    for position in range(count):
        slot[found[position]] = 0
    return count


@compiled
def count_reached(indptr, indices, hops, limit, slot, found, out):  # type: ignore[no-untyped-def]
    """The number of nodes within `hops` of every node, itself included, up to `limit`."""
    for centre in range(len(out)):
        out[centre] = _reach(indptr, indices, centre, hops, limit, slot, found)


@compiled
def _position(ascending, value):  # type: ignore[no-untyped-def]
    """The position of `value` in a sorted array, by bisection; numpy's compiles slowly."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _sample(total, wanted, centre, k0, k1, chosen):  # type: ignore[no-untyped-def]
    """A uniformly random subset of `wanted` numbers below `total`, in ascending order.

    Floyd's algorithm (Bentley & Floyd, 1987): its cost depends on `wanted` only.
    """
    task = np.uint32(_SUBSAMPLE << 24)
    for count in range(wanted):
        top = total - wanted + count
        word = philox(np.uint32(count), np.uint32(centre), np.uint32(0), task, k0, k1)[0]
        pick = np.int64((np.uint64(word) * np.uint64(top + 1)) >> np.uint64(32))
        place = _position(chosen[:count], pick)
        if place < count and chosen[place] == pick:
            pick = np.int64(top)  # larger than all before it
            place = count
        for position in range(count, place, -1):
            chosen[position] = chosen[position - 1]
        chosen[place] = pick


@compiled
def _has_edge(indptr, indices, node, other):  # type: ignore[no-untyped-def]
    row = indices[indptr[node] : indptr[node + 1]]
    place = _position(row, other)
    return place < len(row) and row[place] == other


@compiled
def _connect(indptr, indices, members, size, slot, adj):  # type: ignore[no-untyped-def]
    """Write the edges among members to `adj`, row by row in the cheaper of two ways."""
    for row in range(size):
        slot[members[row]] = row + 1
    for row in range(size):
        node = members[row]
        degree = indptr[node + 1] - indptr[node]
        if degree <= 16 * size:
            for edge in range(indptr[node], indptr[node + 1]):
                column = slot[indices[edge]]
                if column > 0:
                    adj[row, column - 1] = 1.0
        else:
            for column in range(size):
                if _has_edge(indptr, indices, node, members[column]):
                    adj[row, column] = 1.0
    for row in range(size):
        slot[members[row]] = 0


@compiled
def cut(  # type: ignore[no-untyped-def]
    indptr, indices, near_ptr, near, centres, hops, max_nodes, seed, slot, found, members, adj
):
    """Fill `members` (B, N), -1 where padded, and `adj` (B, N, N), which is zero on entry."""
    k0 = np.uint32(seed & np.uint64(0xFFFFFFFF))
    k1 = np.uint32(seed >> np.uint64(32))
    wanted = max_nodes - 1
    chosen = np.empty(max(wanted, 1), dtype=np.int64)
    for row in range(len(centres)):
        centre = centres[row]
        if hops == 1:
            others = near[near_ptr[centre] : near_ptr[centre + 1]]
        else:
            total = _reach(near_ptr, near, centre, hops, len(slot), slot, found)
            others = found[1:total]
        size = 1 + min(len(others), wanted)
        everyone = len(others) <= wanted
        if not everyone:
            _sample(len(others), wanted, centre, k0, k1, chosen)
        members[row, 0] = centre
        for position in range(members.shape[1] - 1):
            if position >= size - 1:
                members[row, 1 + position] = -1
            else:
                source = position if everyone else chosen[position]
                members[row, 1 + position] = others[source]
        _connect(indptr, indices, members[row], size, slot, adj[row])
