"""Attention on packed ego-graphs, forward and backward: compiled code.

Queries and keys are (h, R), see `packed.py`; what the kernels take first is `Packing.layout`.
"""

from __future__ import annotations

import numpy as np

from egoscore.detectors.paper.kernels.simd import (
    WIDTH,
    add,
    fma,
    horizontal_sum,
    load,
    multiply,
    splat,
    splat_at,
    store,
    subtract,
    tanh,
)
from egoscore.jit import fused


@fused
def attend(sizes, starts, pair_starts, directed, width, num_heads, query, key, maps, means):  # type: ignore[no-untyped-def]
    """Mean over heads of tanh(QKᵀ/√h) at pairs (P,), and over directions if they are one pair.

    Queries and keys are (h, R); `maps` (R, heads, width) keeps what the gradient needs, if it is
    not empty.
    """
    stride, depth = query.shape[1], query.shape[0] // num_heads
    queries, keys, kept = query.reshape(-1), key.reshape(-1), maps.reshape(-1)
    root = splat(np.float32(1.0 / np.sqrt(query.shape[0])))
    share = splat(np.float32(1.0 / (num_heads * (1 if directed else 2))))
    row, row_below = np.empty(width, np.float32), np.empty(width, np.float32)
    keeps = maps.size > 0
    for b in range(len(sizes)):
        size, start, pair = sizes[b], starts[b], pair_starts[b]
        for i in range(0, size, 2):  # two rows at a time: they share the keys
            for at in range(0, size, WIDTH):
                found, found_below = splat(np.float32(0.0)), splat(np.float32(0.0))
                for head in range(num_heads):
                    place = head * depth * stride + start
                    product, product_below = splat(np.float32(0.0)), splat(np.float32(0.0))
                    for _ in range(depth):
                        block = load(keys, place + at)
                        product = fma(splat_at(queries, place + i), block, product)
                        product_below = fma(splat_at(queries, place + i + 1), block, product_below)
                        place += stride
                    one, below = tanh(multiply(product, root)), tanh(multiply(product_below, root))
                    if keeps:
                        map_row = ((start + i) * num_heads + head) * width + at
                        store(kept, map_row, one)
                        store(kept, map_row + num_heads * width, below)
                    found, found_below = add(found, one), add(found_below, below)
                store(row, at, multiply(found, share))
                store(row_below, at, multiply(found_below, share))
            _add_row(row, i, size, pair, directed, means)
            if i + 1 < size:
                _add_row(row_below, i + 1, size, pair, directed, means)


@fused
def _add_row(row, i, size, pair, directed, means):  # type: ignore[no-untyped-def]
    """Write row i of a matrix to its pairs."""
    for j in range(i):
        place = i * (i - 1) // 2 + j
        if directed:
            means[pair + 2 * place] = row[j]
        else:
            means[pair + place] += row[j]  # the other direction came first
    for j in range(i + 1, size):
        place = j * (j - 1) // 2 + i
        if directed:
            means[pair + 2 * place + 1] = row[j]
        else:
            means[pair + place] = row[j]


@fused
def _read_row(means, i, size, pair, directed, row):  # type: ignore[no-untyped-def]
    """Read row i from its pairs, with zeros on the diagonal and after the last node."""
    row[:] = np.float32(0.0)
    for j in range(i):
        place = i * (i - 1) // 2 + j
        row[j] = means[pair + 2 * place] if directed else means[pair + place]
    for j in range(i + 1, size):
        place = j * (j - 1) // 2 + i
        row[j] = means[pair + 2 * place + 1] if directed else means[pair + place]


@fused
def attend_backward(  # type: ignore[no-untyped-def]
    sizes, starts, pair_starts, directed, width, num_heads, query, key, maps, grad, on_query, on_key
):
    """The gradient of `attend`: from that of the means (P,) to that of queries and keys (h, R)."""
    stride, depth = query.shape[1], query.shape[0] // num_heads
    queries, keys, kept = query.reshape(-1), key.reshape(-1), maps.reshape(-1)
    to_query, to_key = on_query.reshape(-1), on_key.reshape(-1)
    directions = 1 if directed else 2
    share = splat(np.float32(1.0 / (num_heads * directions * np.sqrt(query.shape[0]))))
    row = np.empty(width, np.float32)
    through = np.empty(width, np.float32)
    to_key[:] = np.float32(0.0)
    on_query[:, starts[-1] + sizes[-1] :] = np.float32(0.0)
    for b in range(len(sizes)):
        size, start = sizes[b], starts[b]
        for i in range(size):
            _read_row(grad, i, size, pair_starts[b], directed, row)
            for head in range(num_heads):
                map_row = ((start + i) * num_heads + head) * width
                for at in range(0, size, WIDTH):
                    one, incoming = load(kept, map_row + at), multiply(load(row, at), share)
                    store(through, at, subtract(incoming, multiply(incoming, multiply(one, one))))
                place = head * depth * stride + start
                for _ in range(depth):
                    own, found = splat_at(queries, place + i), splat(np.float32(0.0))
                    for at in range(0, size, WIDTH):
                        passed = load(through, at)
                        block = load(to_key, place + at)
                        store(to_key, place + at, fma(passed, own, block))
                        found = fma(passed, load(keys, place + at), found)
                    to_query[place + i] = horizontal_sum(found)
                    place += stride
