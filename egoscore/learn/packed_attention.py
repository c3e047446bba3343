"""Attention on packed ego-graphs, forward and backward: compiled code.

Queries and keys of a model are (h, R), see `packed.py`; what the kernels take first is
`Packing.how`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from egoscore.keyed import compiled
from egoscore.learn.lanes import (
    WIDTH,
    alike,
    every,
    load,
    minus,
    plus,
    store,
    tanh,
    times,
    times_plus,
    total,
)

_fused = partial(compiled, fused=True)


@_fused
def attend(  # type: ignore[no-untyped-def]
    sizes, starts, pair_starts, directed, width, num_heads, projected, maps, channel, seen
):
    """Mean over heads of tanh(QKᵀ/√h) at pairs, and over directions if they are one pair.

    Of what was projected, (T, 2 or more, h, R), the first are queries, the second keys. Means go
    to `channel` of what is seen at pairs, (T, channels, P); `maps` (T, R, heads, width) keeps
    what the gradient needs, if it is not empty.
    """
    hidden, stride = projected.shape[2:]
    depth, kept = hidden // num_heads, maps.reshape(-1)
    root = every(np.float32(1.0 / np.sqrt(hidden)))
    share = every(np.float32(1.0 / (num_heads * (1 if directed else 2))))
    row, row_below = np.empty(width, np.float32), np.empty(width, np.float32)
    keeps = maps.size > 0
    for model in range(len(projected)):
        queries, keys = projected[model, 0].reshape(-1), projected[model, 1].reshape(-1)
        means = seen[model, channel]
        for b in range(len(sizes)):
            size, start, pair = sizes[b], starts[b], pair_starts[b]
            for i in range(0, size, 2):  # two rows at a time: they share the keys
                for at in range(0, size, WIDTH):
                    found, found_below = every(np.float32(0.0)), every(np.float32(0.0))
                    for head in range(num_heads):
                        place = head * depth * stride + start
                        product, product_below = every(np.float32(0.0)), every(np.float32(0.0))
                        for _ in range(depth):
                            there = load(keys, place + at)
                            product = times_plus(alike(queries, place + i), there, product)
                            product_below = times_plus(
                                alike(queries, place + i + 1), there, product_below
                            )
                            place += stride
                        one, below = tanh(times(product, root)), tanh(times(product_below, root))
                        if keeps:
                            map_row = model * stride + start + i
                            map_row = (map_row * num_heads + head) * width + at
                            store(kept, map_row, one)
                            store(kept, map_row + num_heads * width, below)
                        found, found_below = plus(found, one), plus(found_below, below)
                    store(row, at, times(found, share))
                    store(row_below, at, times(found_below, share))
                _add_row(row, i, size, pair, directed, means)
                if i + 1 < size:
                    _add_row(row_below, i + 1, size, pair, directed, means)


@_fused
def _add_row(row, i, size, pair, directed, means):  # type: ignore[no-untyped-def]
    """Row i of a matrix to where its pairs are."""
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


@_fused
def _read_row(means, i, size, pair, directed, row):  # type: ignore[no-untyped-def]
    """The reverse; zero on the diagonal and behind the last node."""
    row[:] = np.float32(0.0)
    for j in range(i):
        place = i * (i - 1) // 2 + j
        row[j] = means[pair + 2 * place] if directed else means[pair + place]
    for j in range(i + 1, size):
        place = j * (j - 1) // 2 + i
        row[j] = means[pair + 2 * place + 1] if directed else means[pair + place]


@_fused
def attend_back(  # type: ignore[no-untyped-def]
    sizes, starts, pair_starts, directed, width, num_heads, projected, maps, channel, grads, on
):
    """The gradient of `attend`: from that of its means, `channel` of (T, channels, P).

    To that of queries and keys: `on` is shaped as what was projected.
    """
    hidden, stride = projected.shape[2:]
    depth, kept = hidden // num_heads, maps.reshape(-1)
    directions = 1 if directed else 2
    share = every(np.float32(1.0 / (num_heads * directions * np.sqrt(hidden))))
    row = np.empty(width, np.float32)
    through = np.empty(width, np.float32)
    on[:, 0, :, starts[-1] + sizes[-1] :] = np.float32(0.0)
    on[:, 1] = np.float32(0.0)
    for model in range(len(projected)):
        queries, keys = projected[model, 0].reshape(-1), projected[model, 1].reshape(-1)
        to_query, to_key = on[model, 0].reshape(-1), on[model, 1].reshape(-1)
        grad = grads[model, channel]
        for b in range(len(sizes)):
            size, start = sizes[b], starts[b]
            for i in range(size):
                _read_row(grad, i, size, pair_starts[b], directed, row)
                for head in range(num_heads):
                    map_row = ((model * stride + start + i) * num_heads + head) * width
                    for at in range(0, size, WIDTH):
                        one, arriving = load(kept, map_row + at), times(load(row, at), share)
                        store(through, at, minus(arriving, times(arriving, times(one, one))))
                    place = head * depth * stride + start
                    for _ in range(depth):
                        asked, found = alike(queries, place + i), every(np.float32(0.0))
                        for at in range(0, size, WIDTH):
                            passed = load(through, at)
                            there = load(to_key, place + at)
                            store(to_key, place + at, times_plus(passed, asked, there))
                            found = times_plus(passed, load(keys, place + at), found)
                        to_query[place + i] = total(found)
                        place += stride
