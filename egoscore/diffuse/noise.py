"""Keyed noise in the shape of ego-graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.keyed import Keys, Purpose, compiled, normals


@compiled
def _spread(pairs, sizes, directed, out):  # type: ignore[no-untyped-def]
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
    """Standard normal noise for a batch of ego-graphs (or of chains that start from them).

    Features get independent noise. An undirected adjacency gets a symmetric matrix, a directed
    one independent entries; the diagonal and all padding are exactly zero.

    Attributes: `keys` with B rows, `sizes` (B,) real node counts, `num_features`, `directed`,
    `device`, and `packed`: whether adjacencies are vectors of pairs instead of matrices.
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
        _spread(flat, self.sizes, int(self.directed), out)
        return torch.from_numpy(out).to(self.device)
