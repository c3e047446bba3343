"""A network seen as a collection of ego-graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.ego import extract
from egoscore.graph import AttributedGraph
from egoscore.keyed import Seeds, as_seeds

LARGEST_DEFAULT = 50


@dataclass(frozen=True)
class EgoBatch:
    """Ego-graphs of nearly equal size, padded to the largest.

    Attributes:
        x: (B, N, F) features; adj: (B, N, N) adjacency, zero diagonal; both zero where padded.
        mask: (B, N) 1 for a real node, 0 for padding; carried along, never inferred from edges.
        node: (B,) the centre's number in the network; the centre is always row 0.
        positions: (B, N, P) what is known of the nodes and stays clean; P is 0 without.
    """

    x: Tensor
    adj: Tensor
    mask: Tensor
    node: NDArray[np.int64]
    positions: Tensor

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Real number of nodes of every ego-graph, shape (B,)."""
        sizes: NDArray[np.int64] = self.mask.sum(dim=1).cpu().numpy().astype(np.int64)
        return sizes


class EgoGraphs:
    """The ego-graphs of a network, cut when they are asked for, never all in memory.

    Args:
        graph: the network, with features as the model should see them.
        num_hops: how far from the centre the neighbourhood reaches, following edges both ways.
        max_nodes: largest ego-graph; from a larger neighbourhood the centre and a uniform sample
            of the rest are kept. None: min(50, the 95% quantile of the sizes).
        seed: with the node's number it determines that sample. With several seeds every centre
            has as many ego-graphs in a batch, one for each, side by side.
        device: where batches are put.
    """

    def __init__(
        self,
        graph: AttributedGraph,
        num_hops: int = 1,
        max_nodes: int | None = None,
        seed: Seeds = 0,
        device: torch.device | None = None,
    ) -> None:
        self.graph = graph
        self.num_hops = num_hops
        self.seeds = as_seeds(seed)
        self.device = device or torch.device("cpu")
        self._slot = np.zeros(graph.num_nodes, dtype=np.int32)
        self._found = np.empty(graph.num_nodes if num_hops > 1 else 0, dtype=np.int32)
        # one more than is kept tells which ego-graphs are samples
        full_sizes = self._count((LARGEST_DEFAULT if max_nodes is None else max_nodes) + 1)
        if max_nodes is None:
            # a size that occurs, so that counting may stop at the largest default
            quantile = np.quantile(full_sizes, 0.95, method="lower")
            max_nodes = min(LARGEST_DEFAULT, int(quantile))
        self.max_nodes = max_nodes
        self.sizes: NDArray[np.int64] = np.minimum(full_sizes, max_nodes)
        self._is_sampled = full_sizes > max_nodes

    def _count(self, limit: int) -> NDArray[np.int64]:
        """Sizes of all ego-graphs, (N,); where counting takes work, no further than `limit`."""
        near = self.graph.neighbours
        if self.num_hops == 1:
            return near.degrees + 1
        sizes = np.empty(self.graph.num_nodes, dtype=np.int64)
        extract.count_reached(
            near.indptr, near.indices, self.num_hops, limit, self._slot, self._found, sizes
        )
        return sizes

    def __len__(self) -> int:
        return self.graph.num_nodes

    def members(self, centres: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Node numbers (B, N), -1 where padded, and adjacency (B, N, N) of the ego-graphs.

        With T seeds ego-graph number b is that of seed b mod T. What no seed has a say in is cut
        once for all of them.
        """
        width, count = int(self.sizes[centres].max()), len(self.seeds)
        members, adj = self._cut(centres, self.seeds[0], width)
        if count == 1:
            return members, adj
        members, adj = np.repeat(members, count, axis=0), np.repeat(adj, count, axis=0)
        sampled = np.flatnonzero(self._is_sampled[centres])
        for number, seed in enumerate(self.seeds[1:] if len(sampled) else (), start=1):
            places = sampled * count + number
            members[places], adj[places] = self._cut(centres[sampled], seed, width)
        return members, adj

    def _cut(
        self, centres: NDArray[np.int64], seed: np.uint64, width: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        members = np.empty((len(centres), width), dtype=np.int32)
        adj = np.zeros((len(centres), width, width), dtype=np.float32)
        edges, near = self.graph.adjacency, self.graph.neighbours
        extract.cut(
            *edges, *near, centres, self.num_hops, self.max_nodes, seed,
            self._slot, self._found, members, adj,
        )  # fmt: skip
        return members, adj

    def batch(self, centres: NDArray[np.int64]) -> EgoBatch:
        """The ego-graphs around `centres` (B,) as one batch, of each one for every seed."""
        members, adj = self.members(centres)
        real = members >= 0
        x = self._of_members(self.graph.features, members)
        mask = torch.from_numpy(real.astype(np.float32)).to(self.device)
        known = self.graph.positions
        positions = mask.new_empty(*members.shape, 0)
        if known is not None:
            positions = self._of_members(known, members)
        node = np.repeat(centres, len(self.seeds))
        return EgoBatch(x, torch.from_numpy(adj).to(self.device), mask, node, positions)

    def _of_members(self, values: NDArray[np.float32], members: NDArray[np.int32]) -> Tensor:
        """Rows of `values` (N, C), or (T, N, C) by seed, for members (B, n); zero where padded."""
        if values.ndim == 2:
            found = values[members]
        else:
            of_seed = np.arange(len(members)) % len(values)
            found = values[of_seed[:, np.newaxis], members]
        found[members < 0] = 0.0
        return torch.from_numpy(found).to(self.device)

    def chunks(
        self, centres: NDArray[np.int64], capacity: int, fill: int = 0
    ) -> Iterator[NDArray[np.int64]]:
        """Split `centres` into runs of equal ego size with at most `capacity` padded entries.

        A run that stays below `fill` entries is topped up with the next smaller sizes: cheaper
        than many tiny batches, at the price of padding. With `fill` 0 sizes are never mixed. How
        many seeds there are plays no part: batches of a stack are those of a model alone, so that
        sums have the same order.
        """
        order = centres[np.argsort(-self.sizes[centres], kind="stable")]
        sizes = self.sizes[order]
        start = 0
        while start < len(order):
            entries = int(padded_entries(sizes[start]))
            room = max(1, capacity // entries)
            same = int(np.searchsorted(-sizes, -sizes[start], side="right")) - start
            count = min(max(same, -(-fill // entries)), room)
            yield order[start : start + count]
            start += count


def padded_entries(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """What ego-graphs take in a batch, roughly: pairs, or features if there are few pairs."""
    return sizes * np.maximum(sizes, 8)
