"""Ego-graphs one after the other, without padding: what only compiled code does well.

All nodes of a batch are rows (R,), all pairs of nodes a vector (P,), graph after graph, pairs in
the order of the noise (`egoscore.learn.pairs`). Matrices exist only while a graph is at work.
Behind the last node there is room for eight more, so that eight may always be read at once; what
is computed for them means nothing. All this T times, once for each model of a stack: their graphs
have equal sizes. Of graphs that are not packed yet, number g is that of model g mod T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.keyed import compiled
from egoscore.learn.lanes import WIDTH, alike, every, load, plus, store, times, times_plus, total

Floats = NDArray[np.float32]
_fused = partial(compiled, fused=True)


@dataclass(frozen=True)
class Packing:
    """Where the nodes and pairs of B graphs are: `sizes`, `starts`, `pair_starts`, (B,) each.

    The last node ends at `end`, the last pair at `num_pairs`.
    """

    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    pair_starts: NDArray[np.int64]
    end: int
    num_pairs: int
    directed: bool

    @classmethod
    def of(cls, sizes: NDArray[np.int64], directed: bool) -> Packing:
        """Graphs of these sizes."""
        pairs = sizes * (sizes - 1) // (1 if directed else 2)
        ends, pair_ends = np.cumsum(sizes), np.cumsum(pairs)
        last = int(ends[-1]), int(pair_ends[-1])
        return cls(sizes, ends - sizes, pair_ends - pairs, *last, directed)

    @property
    def how(self) -> tuple[Any, ...]:
        """What the kernels want to know."""
        return self.sizes, self.starts, self.pair_starts, self.directed, self.width

    @property
    def num_rows(self) -> int:
        """Nodes, and room for eight more."""
        return self.end + WIDTH

    @property
    def width(self) -> int:
        """The largest size, as a multiple of eight."""
        return -(-int(self.sizes.max()) // WIDTH) * WIDTH


@lru_cache(maxsize=16)  # few are needed at a time, and they may be long
def same_sizes(count: int, size: int, directed: bool) -> Packing:
    """The packing of graphs of equal size."""
    return Packing.of(np.full(count, size, dtype=np.int64), directed)


@_fused
def pack_nodes(sizes, starts, clean, noise, keep, spread, rows, columns, drawn):  # type: ignore[no-untyped-def]
    """Real nodes, noised, from clean values (B·T, N, C) and noise (B·T, N, F) on the first of them.

    They go into rows (T, R, C) and columns (T, C, R), the noise into drawn (T, F, R).
    """
    count = len(rows)
    for g in range(len(clean)):
        b, model = g // count, g % count
        for i in range(sizes[b]):
            row = starts[b] + i
            for f in range(clean.shape[2]):
                value = clean[g, i, f]
                if f < noise.shape[2]:
                    value = keep[g] * value + spread[g] * noise[g, i, f]
                    drawn[model, f, row] = noise[g, i, f]
                rows[model, row, f] = value
                columns[model, f, row] = value


@_fused
def pack_pairs(sizes, pair_starts, clean, noise, keep, spread, directed, pairs, drawn):  # type: ignore[no-untyped-def]
    """Noised pairs (T, P), their noise, from clean matrices (B·T, N, N) and noise (B·T, pairs)."""
    count = len(pairs)
    for g in range(len(clean)):
        b, model = g // count, g % count
        place, position = pair_starts[b], 0
        for i in range(sizes[b]):
            for j in range(i):
                z = noise[g, position]
                pairs[model, place + position] = keep[g] * clean[g, i, j] + spread[g] * z
                drawn[model, place + position] = z
                position += 1
                if directed:
                    z = noise[g, position]
                    pairs[model, place + position] = keep[g] * clean[g, j, i] + spread[g] * z
                    drawn[model, place + position] = z
                    position += 1


@_fused
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


@_fused
def _pack(matrix, start, size, width, directed, pairs):  # type: ignore[no-untyped-def]
    """The reverse, from the lower triangle where graphs are undirected."""
    position = start
    for i in range(size):
        for j in range(i):
            pairs[position] = matrix[i * width + j]
            position += 1
            if directed:
                pairs[position] = matrix[j * width + i]
                position += 1


@_fused
def _square(matrix, size, width, squared):  # type: ignore[no-untyped-def]
    for i in range(0, size, 2):
        upper, lower = i * width, (i + 1) * width
        for at in range(0, size, WIDTH):
            first, other = every(np.float32(0.0)), every(np.float32(0.0))
            for k in range(size):
                there = load(matrix, k * width + at)
                first = times_plus(alike(matrix, upper + k), there, first)
                other = times_plus(alike(matrix, lower + k), there, other)
            store(squared, upper + at, first)
            store(squared, lower + at, other)


@_fused
def _propagation(matrix, size, width, scale):  # type: ignore[no-untyped-def]
    """D^(-1/2) Ã D^(-1/2) in place, as `egoscore.learn.layers.propagation` has it.

    The ones on the diagonal come last: a number just written is slow to load with its neighbours.
    """
    for i in range(size):
        found = load(matrix, i * width)
        for at in range(WIDTH, size, WIDTH):
            found = plus(found, load(matrix, i * width + at))
        degree = total(found) - matrix[i * width + i] + np.float32(1.0)
        scale[i] = np.float32(1.0) / np.sqrt(max(degree, np.float32(1.0)))
    for i in range(size):
        own = every(scale[i])
        for at in range(0, size, WIDTH):
            there = times(load(matrix, i * width + at), own)
            store(matrix, i * width + at, times(there, load(scale, at)))
        matrix[i * width + i] = scale[i] * scale[i]


@_fused
def look_around(sizes, starts, pair_starts, directed, width, rows, around, seen):  # type: ignore[no-untyped-def]
    """P·X of A and of A² from rows (T, R, C) into around (2, T, R, C).

    Of what is seen at pairs, (T, 4 or more, P), number 2 is A; A² goes to number 3. Rows are
    written in ascending order: what spills from one into the next is overwritten.
    """
    num_rows, count = rows.shape[1:]
    flat, out = rows.reshape(-1), around.reshape(-1)
    second = rows.size
    matrix, power = np.empty(width * width, np.float32), np.empty(width * width, np.float32)
    scale = np.zeros(width, np.float32)
    for model in range(len(rows)):
        pairs, squared = seen[model, 2], seen[model, 3]
        for b in range(len(sizes)):
            size, start = sizes[b], model * num_rows + starts[b]
            _unpack(pairs, pair_starts[b], size, width, directed, matrix)
            _square(matrix, size, width, power)
            _pack(power, pair_starts[b], size, width, directed, squared)
            _propagation(matrix, size, width, scale)
            _propagation(power, size, width, scale)
            for i in range(size):
                place = (start + i) * count
                for at in range(0, count, WIDTH):
                    first, other = every(np.float32(0.0)), every(np.float32(0.0))
                    for j in range(size):
                        x = load(flat, (start + j) * count + at)
                        first = times_plus(alike(matrix, i * width + j), x, first)
                        other = times_plus(alike(power, i * width + j), x, other)
                    store(out, place + at, first)
                    store(out, second + place + at, other)
    end = starts[-1] + sizes[-1]
    around[:, :, end:] = np.float32(0.0)
