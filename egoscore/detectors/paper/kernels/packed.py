"""Ego-graphs stored one after the other without padding, and compiled code that propagates in them.

The nodes of a batch are rows (R,) and its node pairs a vector (P,), graph after graph, pairs in the
order of `PairOrder`. Matrices exist only while a graph is processed. There are eight spare rows
after the last node, so that eight can always be loaded at once; their values are meaningless.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
)
from egoscore.jit import fused

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Packing:
    """Positions of the nodes and pairs of B graphs: `sizes`, `starts`, `pair_starts`, (B,) each."""

    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    pair_starts: NDArray[np.int64]
    num_rows: int
    num_pairs: int
    directed: bool

    @classmethod
    def of(cls, sizes: NDArray[np.int64], directed: bool) -> Packing:
        """Graphs of these sizes."""
        pairs = sizes * (sizes - 1) // (1 if directed else 2)
        ends, pair_ends = np.cumsum(sizes), np.cumsum(pairs)
        room = int(ends[-1]) + WIDTH
        return cls(sizes, ends - sizes, pair_ends - pairs, room, int(pair_ends[-1]), directed)

    @property
    def layout(self) -> tuple[Any, ...]:
        """The first arguments of the kernels."""
        return self.sizes, self.starts, self.pair_starts, self.directed, self.width

    @property
    def end(self) -> int:
        """The number of rows without the eight spare ones."""
        return self.num_rows - WIDTH

    @property
    def width(self) -> int:
        """The largest size, as a multiple of eight."""
        return -(-int(self.sizes.max()) // WIDTH) * WIDTH


@lru_cache(maxsize=16)  # few are needed at a time, and they can be large
def same_sizes(count: int, size: int, directed: bool) -> Packing:
    """The packing of graphs of equal size."""
    return Packing.of(np.full(count, size, dtype=np.int64), directed)


@fused
def pack_nodes(sizes, starts, clean, noise, keep, spread, rows, columns, drawn):  # type: ignore[no-untyped-def]
    """Real nodes, noised, from clean values (B, N, C) and noise (B, N, F) on the first of them.

    They go into rows (R, C) and columns (C, R), the noise into drawn (F, R).
    """
    for b in range(len(sizes)):
        for i in range(sizes[b]):
            row = starts[b] + i
            for f in range(clean.shape[2]):
                value = clean[b, i, f]
                if f < noise.shape[2]:
                    value = keep[b] * value + spread[b] * noise[b, i, f]
                    drawn[f, row] = noise[b, i, f]
                rows[row, f] = value
                columns[f, row] = value


@fused
def pack_pairs(sizes, pair_starts, clean, noise, keep, spread, directed, pairs, drawn):  # type: ignore[no-untyped-def]
    """Noised pairs (P,) and their noise, from clean matrices (B, N, N) and noise (B, pairs)."""
    for b in range(len(sizes)):
        start, position = pair_starts[b], 0
        for i in range(sizes[b]):
            for j in range(i):
                z = noise[b, position]
                pairs[start + position] = keep[b] * clean[b, i, j] + spread[b] * z
                drawn[start + position] = z
                position += 1
                if directed:
                    z = noise[b, position]
                    pairs[start + position] = keep[b] * clean[b, j, i] + spread[b] * z
                    drawn[start + position] = z
                    position += 1


@fused
def _unpack(pairs, start, size, width, directed, matrix):  # type: ignore[no-untyped-def]
    """Pairs of one graph to its matrix, flat, with rows of `width`; zero elsewhere."""
    matrix[: size * width] = np.float32(0.0)
    position = start
    for i in range(size):
        for j in range(i):
            matrix[i * width + j] = pairs[position]
            position += directed
            matrix[j * width + i] = pairs[position]
            position += 1


@fused
def _pack(matrix, start, size, width, directed, pairs):  # type: ignore[no-untyped-def]
    """The reverse of `_unpack`; undirected pairs come from the lower triangle."""
    position = start
    for i in range(size):
        for j in range(i):
            pairs[position] = matrix[i * width + j]
            position += 1
            if directed:
                pairs[position] = matrix[j * width + i]
                position += 1


@fused
def _square(matrix, size, width, squared):  # type: ignore[no-untyped-def]
    for i in range(0, size, 2):
        upper, lower = i * width, (i + 1) * width
        for at in range(0, size, WIDTH):
            first, other = splat(np.float32(0.0)), splat(np.float32(0.0))
            for k in range(size):
                block = load(matrix, k * width + at)
                first = fma(splat_at(matrix, upper + k), block, first)
                other = fma(splat_at(matrix, lower + k), block, other)
            store(squared, upper + at, first)
            store(squared, lower + at, other)


@fused
def _propagation(matrix, size, width, scale):  # type: ignore[no-untyped-def]
    """D^(-1/2) Ã D^(-1/2) in place; `layers.propagation` is the readable version.

    The diagonal is written last: a number just written is slow to load with its neighbours.
    """
    for i in range(size):
        found = load(matrix, i * width)
        for at in range(WIDTH, size, WIDTH):
            found = add(found, load(matrix, i * width + at))
        degree = horizontal_sum(found) - matrix[i * width + i] + np.float32(1.0)
        scale[i] = np.float32(1.0) / np.sqrt(max(degree, np.float32(1.0)))
    for i in range(size):
        own = splat(scale[i])
        for at in range(0, size, WIDTH):
            block = multiply(load(matrix, i * width + at), own)
            store(matrix, i * width + at, multiply(block, load(scale, at)))
        matrix[i * width + i] = scale[i] * scale[i]


@fused
def propagate(sizes, starts, pair_starts, directed, width, pairs, rows, propagated, squared):  # type: ignore[no-untyped-def]
    """P·X of A and of A² from rows (R, C) into propagated (2, R, C), A² itself into pairs (P,).

    Rows are written in ascending order, so that what overflows into the next row is overwritten.
    """
    count = rows.shape[1]
    flat, out = rows.reshape(-1), propagated.reshape(-1)
    second = propagated.shape[1] * count
    matrix, power = np.empty(width * width, np.float32), np.empty(width * width, np.float32)
    scale = np.zeros(width, np.float32)
    for b in range(len(sizes)):
        size, start = sizes[b], starts[b]
        _unpack(pairs, pair_starts[b], size, width, directed, matrix)
        _square(matrix, size, width, power)
        _pack(power, pair_starts[b], size, width, directed, squared)
        _propagation(matrix, size, width, scale)
        _propagation(power, size, width, scale)
        for i in range(size):
            place = (start + i) * count
            for at in range(0, count, WIDTH):
                first, other = splat(np.float32(0.0)), splat(np.float32(0.0))
                for j in range(size):
                    x = load(flat, (start + j) * count + at)
                    first = fma(splat_at(matrix, i * width + j), x, first)
                    other = fma(splat_at(power, i * width + j), x, other)
                store(out, place + at, first)
                store(out, second + place + at, other)
    end = starts[-1] + sizes[-1]
    propagated[:, end:] = np.float32(0.0)
