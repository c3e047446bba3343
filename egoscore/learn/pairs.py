"""Pairs of nodes as a vector: what an adjacency holds, without diagonal and repetition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import pad


@dataclass(frozen=True)
class PairOrder:
    """Where the pairs of graphs with `size` nodes are in their matrices.

    The order is that of the noise: row after row of the lower triangle; for directed graphs each
    pair is followed by its reverse. `lower` (P,) says where a pair is in a flattened matrix,
    `spread` (size²,) which pair an entry of the matrix is, the diagonal being one past the last.
    """

    size: int
    lower: Tensor
    spread: Tensor

    def pack(self, matrix: Tensor) -> Tensor:
        """Matrices (B, N, N) to pairs (B, P)."""
        return matrix.flatten(1).index_select(1, self.lower)

    def unpack(self, pairs: Tensor) -> Tensor:
        """Pairs (B, P) to matrices (B, N, N) with a zero diagonal."""
        flat = pad(pairs, (0, 1)).index_select(1, self.spread)
        return flat.view(-1, self.size, self.size)


@lru_cache(maxsize=256)
def pair_order(size: int, directed: bool, device: torch.device) -> PairOrder:
    """The order of pairs for graphs with `size` nodes."""
    # made outside inference mode, where a cached tensor could not be used for training later
    with torch.inference_mode(False):
        row, column = torch.tril_indices(size, size, -1, device=device)
        lower, upper = row * size + column, column * size + row
        if directed:
            lower = torch.stack([lower, upper], dim=1).flatten()
        numbers = torch.arange(len(lower), device=device)
        spread = torch.full((size * size,), len(lower), device=device)
        spread[lower] = numbers
        if not directed:
            spread[upper] = numbers
    return PairOrder(size, lower, spread)
