"""Inputs on one scale: ranks among the nodes of the training graph, fitted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.inputs import InputBlock
from egoscore.graph import AttributedGraph
from egoscore.review.ranks import mid_ranks

Floats = NDArray[np.float32]
FARTHEST = 3.0  # deviations
_LEVELS = 1024
_MOST_COLUMNS = 64  # of a block
_ROUNDING = 1e-6  # of a large value: what differs by less is equal
_CONSTANT = 1e-6
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Standard:
    """Zero mean and unit deviation, clipped at three: `mean` and `factor` (C,)."""

    mean: Floats
    factor: Floats

    @classmethod
    def fit(cls, values: Floats) -> Standard:
        """From values (N, C); a constant column becomes zero."""
        mean = values.mean(axis=0, dtype=np.float64)
        deviation = values.std(axis=0, dtype=np.float64)
        varies = deviation > _CONSTANT
        factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
        return cls(mean.astype(np.float32), factor.astype(np.float32))

    def apply(self, values: Floats) -> Floats:
        """Values (n, C), in place."""
        values -= self.mean
        values *= self.factor
        return np.clip(values, -FARTHEST, FARTHEST, out=values)


@dataclass(frozen=True)
class BlockScale:
    """How the columns of one block become inputs.

    Attributes: `width` of the block; `kept` (C,) the columns that are used; `grid` (G, C) their
    values at evenly spaced ranks; `rounding` (C,); `own`, `squares` and `around`, the scales of the
    ranks, of their squares and of their means over the neighbours.
    """

    width: int
    kept: NDArray[np.int64]
    grid: Floats
    rounding: Floats
    own: Standard
    squares: Standard
    around: Standard

    @classmethod
    def fit(
        cls, values: NDArray[np.floating], graph: AttributedGraph
    ) -> tuple[BlockScale, Floats, Floats]:
        """From values (N, F); of many columns, those whose values differ most between nodes.

        Also returns what `apply` would.
        """
        draft = cls._draft(values)
        ranks = draft._ranks(draft.grid, range(len(draft.kept)))
        spread = ranks.std(axis=0, dtype=np.float64)
        order = np.argsort(-spread.round(6), kind="stable")[:_MOST_COLUMNS]
        kept = np.sort(order[spread[order] > _CONSTANT])
        own = Standard.fit(ranks[:, kept])
        squares = Standard.fit(np.square(own.apply(ranks[:, kept])))
        grid, rounding = draft.grid[:, kept], draft.rounding[kept]
        draft = replace(draft, kept=kept, grid=grid, rounding=rounding, own=own, squares=squares)
        ranks, means = draft._unscaled(values, graph)
        scale = replace(draft, around=Standard.fit(means))
        return scale, ranks, scale.around.apply(means)

    @classmethod
    def _draft(cls, values: NDArray[np.floating]) -> BlockScale:
        """The grids of all columns."""
        size, width = values.shape
        places = ((np.arange(min(size, _LEVELS)) + 0.5) / min(size, _LEVELS) * size).astype(int)
        grid = np.empty((len(places), width), dtype=np.float32)
        for column in range(width):
            grid[:, column] = np.sort(values[:, column].astype(np.float32))[places]
        rounding = _ROUNDING * np.quantile(np.abs(grid), 0.9, axis=0)
        none = Standard(np.zeros(0, np.float32), np.zeros(0, np.float32))
        kept = np.arange(width)
        return cls(width, kept, grid, rounding.astype(np.float32), none, none, none)

    def _ranks(self, values: NDArray[np.floating], columns: Iterable[int]) -> Floats:
        """The ranks (n, C) of some columns of values, from 0 to 1; equal values share a rank."""
        found = np.empty((len(values), len(self.kept)), dtype=np.float32)
        for number, column in enumerate(columns):
            grid = np.ascontiguousarray(self.grid[:, number])
            own = values[:, column].astype(np.float32)
            found[:, number] = mid_ranks(grid, self.rounding[number], own)
        return found

    def apply(self, values: NDArray[np.floating], graph: AttributedGraph) -> tuple[Floats, Floats]:
        """The scaled ranks (N, C), and their scaled means over the neighbours (N, C)."""
        ranks, means = self._unscaled(values, graph)
        return ranks, self.around.apply(means)

    def _unscaled(
        self, values: NDArray[np.floating], graph: AttributedGraph
    ) -> tuple[Floats, Floats]:
        ranks = self.own.apply(self._ranks(values, self.kept.tolist()))
        return ranks, neighbour_mean(graph, ranks)


def neighbour_mean(graph: AttributedGraph, values: Floats) -> Floats:
    """Means (N, C) over the neighbours, zero where there are none."""
    links = graph.neighbours.to_scipy()
    degree = np.maximum(graph.neighbours.degrees, 1).astype(np.float32)
    means: Floats = np.divide(links @ values, degree[:, None], dtype=np.float32)
    return means


@dataclass(frozen=True)
class InputScale:
    """How the blocks that a detector gives become inputs, fitted on the training graph.

    Attributes: `blocks` by name; `names` and `kinds` (C,) of all columns used, in this order.
    """

    blocks: dict[str, BlockScale]
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def fit(cls, given: Sequence[InputBlock], graph: AttributedGraph) -> Inputs:
        """The inputs of the training graph, with the scale that was fitted to them."""
        fitted = {one.name: BlockScale.fit(one.values, graph) for one in given}
        blocks = {name: scale for name, (scale, _, _) in fitted.items()}
        used = [one.columns[int(c)] for one in given for c in blocks[one.name].kept]
        names = tuple(column.title for column in used)
        kinds = tuple("yes/no" if column.is_yes_or_no else column.kind for column in used)
        parts = [(ranks, around) for _, ranks, around in fitted.values()]
        return cls(blocks, names, kinds)._joined(parts)

    def apply(self, given: Sequence[InputBlock], graph: AttributedGraph) -> Inputs:
        """The inputs of a graph, which may be a new one."""
        return self._joined([self.blocks[one.name].apply(one.values, graph) for one in given])

    def _joined(self, parts: Sequence[tuple[Floats, Floats]]) -> Inputs:
        return Inputs(self, np.hstack([p[0] for p in parts]), np.hstack([p[1] for p in parts]))

    @property
    def squares(self) -> Standard:
        """The scale of the squares of all columns."""
        parts = [block.squares for block in self.blocks.values()]
        mean = np.concatenate([part.mean for part in parts])
        return Standard(mean, np.concatenate([part.factor for part in parts]))

    @property
    def weight(self) -> Floats:
        """By how much each column is multiplied, (C,): so that blocks have the same norm."""
        sizes = [len(block.kept) for block in self.blocks.values()]
        return np.repeat([max(1, size) ** -0.5 for size in sizes], sizes).astype(np.float32)


@dataclass(frozen=True)
class Inputs:
    """The inputs of all nodes: ranks and neighbour means (N, C); squares are made when needed."""

    scale: InputScale
    ranks: Floats
    around: Floats

    def rows(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The inputs of some nodes, (n, 3C): ranks, their squares, means over the neighbours."""
        return self._all(slice(None), nodes).astype(np.float64)

    def _all(self, rows: slice, nodes: NDArray[np.int64] | None = None) -> Floats:
        ranks, around = self.ranks[rows], self.around[rows]
        if nodes is not None:
            ranks, around = ranks[nodes], around[nodes]
        squares = self.scale.squares.apply(ranks * ranks)
        return np.hstack([ranks, squares, around]) * np.tile(self.scale.weight, 3)

    def dot(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The products (N,) of the inputs of all nodes with weights (3C,)."""
        own, squared, near = np.split((weights * np.tile(self.scale.weight, 3)), 3)
        standard, found = self.scale.squares, np.empty(len(self.ranks))
        used = np.flatnonzero(squared)
        for start in range(0, len(found), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            part = self.ranks[rows] @ own.astype(np.float32)
            part += self.around[rows] @ near.astype(np.float32)
            if len(used):
                squares = standard.apply(np.square(self.ranks[rows]))
                part += squares @ squared.astype(np.float32)
            found[rows] = part
        return found
