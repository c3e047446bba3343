"""Ego-graphs of a graph, in padded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.paper import extract
from egoscore.graph import AttributedGraph

LARGEST_DEFAULT = 50
CAPACITY = 65_536  # padded entries per pass through neural networks, so that they stay in the cache
FILL = 32_768  # smaller batches cost more in overhead than padding to this size does


@dataclass(frozen=True)
class EgoBatch:
    """Ego-graphs of similar size, padded to the largest.

    Attributes:
        x: (B, N, F) features; adj: (B, N, N) adjacency, zero diagonal; both zero where padded.
        mask: (B, N) 1 for a real node, 0 for padding; carried along, never inferred from edges.
        node: (B,) the centres' node numbers; the centre is always row 0.
        positions: (B, N, P) positional encodings, which are not noised; P is 0 if there are none.
    """

    x: Tensor
    adj: Tensor
    mask: Tensor
    node: NDArray[np.int64]
    positions: Tensor

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of real nodes of every ego-graph, (B,)."""
        sizes: NDArray[np.int64] = self.mask.sum(dim=1).cpu().numpy().astype(np.int64)
        return sizes


class EgoGraphs:
    """The ego-graphs of a graph, cut on request, never all in memory.

    Args:
        graph: the graph, with the features that the model gets.
        num_hops: how far from the centre the neighbourhood reaches, following edges both ways.
        max_nodes: size limit; of a larger neighbourhood the centre and a uniform sample of the rest
            are kept. None: min(50, the 95% quantile of the sizes).
        seed: determines that sample, together with the node number.
        device: the device of the batches.
    """

    def __init__(
        self,
        graph: AttributedGraph,
        num_hops: int = 1,
        max_nodes: int | None = None,
        seed: int = 0,
        device: torch.device | None = None,
    ) -> None:
        self.graph = graph
        self.num_hops = num_hops
        self.seed = seed
        self.device = device or torch.device("cpu")
        self._slot = np.zeros(graph.num_nodes, dtype=np.int32)
        self._found = np.empty(graph.num_nodes if num_hops > 1 else 0, dtype=np.int32)
        full_sizes = self._count(LARGEST_DEFAULT if max_nodes is None else max_nodes)
        if max_nodes is None:
            # a size that occurs, so that counting can stop at the largest default
            quantile = np.quantile(full_sizes, 0.95, method="lower")
            max_nodes = min(LARGEST_DEFAULT, int(quantile))
        self.max_nodes = max_nodes
        self.sizes: NDArray[np.int64] = np.minimum(full_sizes, max_nodes)

    def _count(self, limit: int) -> NDArray[np.int64]:
        """Sizes of all ego-graphs, (N,), counted up to `limit` where that saves work."""
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
        """Node numbers (B, N), -1 where padded, and adjacency (B, N, N) of the ego-graphs."""
        width = int(self.sizes[centres].max())
        members = np.empty((len(centres), width), dtype=np.int32)
        adj = np.zeros((len(centres), width, width), dtype=np.float32)
        edges, near = self.graph.adjacency, self.graph.neighbours
        extract.cut(
            *edges, *near, centres, self.num_hops, self.max_nodes, np.uint64(self.seed),
            self._slot, self._found, members, adj,
        )  # fmt: skip
        return members, adj

    def batch(self, centres: NDArray[np.int64]) -> EgoBatch:
        """The ego-graphs of `centres` (B,) as one batch."""
        members, adj = self.members(centres)
        real = members >= 0
        x = self._of_members(self.graph.features, members)
        mask = torch.from_numpy(real.astype(np.float32)).to(self.device)
        known = self.graph.positions
        positions = mask.new_empty(*members.shape, 0)
        if known is not None:
            positions = self._of_members(known, members)
        return EgoBatch(x, torch.from_numpy(adj).to(self.device), mask, centres, positions)

    def _of_members(self, values: NDArray[np.float32], members: NDArray[np.int32]) -> Tensor:
        """Rows of `values` (N, C) for members (B, n) → (B, n, C), zero where padded."""
        found = values[members]
        found[members < 0] = 0.0
        return torch.from_numpy(found).to(self.device)

    def chunks(
        self, centres: NDArray[np.int64], capacity: int, fill: int = 0
    ) -> Iterator[NDArray[np.int64]]:
        """Split `centres` into chunks of equal ego size with at most `capacity` padded entries.

        A chunk with fewer than `fill` entries also gets ego-graphs of the next smaller sizes:
        padding is cheaper than tiny batches. With `fill` 0 sizes are never mixed.
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
    """Entries of ego-graphs in a batch, roughly: pairs, or features if there are few pairs."""
    return sizes * np.maximum(sizes, 8)
