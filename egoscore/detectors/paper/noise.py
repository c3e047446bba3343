"""Keyed noise for ego-graphs, and adjacencies as vectors of node pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from egoscore.jit import compiled
from egoscore.random import Keys, Purpose, normals


@dataclass(frozen=True)
class PairOrder:
    """The order of node pairs in a vector that replaces an adjacency of `size` nodes.

    Pairs are in the order of the noise: row after row of the lower triangle; in directed graphs
    each pair is followed by its reverse. `lower` (P,) is the index of each pair in the flattened
    matrix, `pair_of` (size²,) the pair of each matrix entry, P on the diagonal.
    """

    size: int
    lower: Tensor
    pair_of: Tensor

    def pack(self, matrix: Tensor) -> Tensor:
        """Matrices (B, N, N) to pairs (B, P)."""
        return matrix.flatten(1).index_select(1, self.lower)

    def unpack(self, pairs: Tensor) -> Tensor:
        """Pairs (B, P) to matrices (B, N, N) with a zero diagonal."""
        flat = pad(pairs, (0, 1)).index_select(1, self.pair_of)
        return flat.view(-1, self.size, self.size)


@lru_cache(maxsize=256)
def pair_order(size: int, directed: bool, device: torch.device) -> PairOrder:
    """The order of pairs for graphs with `size` nodes."""
    # tensors created in inference mode could not be used for training later
    with torch.inference_mode(False):
        row, column = torch.tril_indices(size, size, -1, device=device)
        lower, upper = row * size + column, column * size + row
        if directed:
            lower = torch.stack([lower, upper], dim=1).flatten()
        numbers = torch.arange(len(lower), device=device)
        pair_of = torch.full((size * size,), len(lower), device=device)
        pair_of[lower] = numbers
        if not directed:
            pair_of[upper] = numbers
    return PairOrder(size, lower, pair_of)


@compiled
def _fill_matrices(pairs, sizes, directed, out):  # type: ignore[no-untyped-def]
    """Vectors of pairs (B, P) to matrices (B, N, N); the order of pairs does not depend on N."""
    for b in range(len(sizes)):
        position = 0
        for row in range(sizes[b]):
            for column in range(row):
                out[b, row, column] = pairs[b, position]
                position += directed
                out[b, column, row] = pairs[b, position]
                position += 1


@dataclass(frozen=True)
class EgoNoise:
    """Standard normal noise for B ego-graphs, or for B chains that start from them.

    It is symmetric for undirected adjacencies, and independent for directed ones and features; the
    diagonal and all padding are exactly zero.

    Attributes: `keys` with B rows, `sizes` (B,) real node counts, `num_features`, `directed`,
    `device`, and `packed`: whether adjacencies are vectors of pairs.
    """

    keys: Keys
    sizes: NDArray[np.int64]
    num_features: int
    directed: bool
    device: torch.device
    packed: bool = False

    def first(self, count: int) -> EgoNoise:
        """The noise of the first `count` chains."""
        if count == len(self.sizes):
            return self
        return replace(self, keys=self.keys.first(count), sizes=self.sizes[:count])

    def features(self, purpose: Purpose, step: int, width: int) -> Tensor:
        """Noise of shape (B, width, F)."""
        counts = self.sizes * self.num_features
        flat = normals(self.keys, purpose, step, counts, width * self.num_features)
        shaped = torch.from_numpy(flat).view(len(self.sizes), width, self.num_features)
        return shaped.to(self.device)

    def adjacency(self, purpose: Purpose, step: int, width: int) -> Tensor:
        """Noise of shape (B, width, width), or (B, 1, pairs) if packed."""
        per_pair = 2 if self.directed else 1
        counts = self.sizes * (self.sizes - 1) // 2 * per_pair
        longest = width * (width - 1) // 2 * per_pair
        flat = normals(self.keys, purpose, step, counts, longest)
        if self.packed:
            return torch.from_numpy(flat).unsqueeze(1).to(self.device)
        out = np.zeros((len(self.sizes), width, width), dtype=np.float32)
        _fill_matrices(flat, self.sizes, int(self.directed), out)
        return torch.from_numpy(out).to(self.device)
