"""Matrix distance (the paper's equation 8), its two terms apart."""

from __future__ import annotations

import torch
from torch import Tensor

EDGE_THRESHOLD = 0.5


def binarise(adj: Tensor) -> Tensor:
    """A reconstructed adjacency rounded to edges: 1 from 0.5 upwards, else 0."""
    return (adj >= EDGE_THRESHOLD).to(adj.dtype)


def feature_error(x: Tensor, restored: Tensor, sizes: Tensor) -> Tensor:
    """‖X - X̂‖_F / (N·F) for x (…, B, N, F), sizes (B,) the real node counts."""
    distance: Tensor = torch.linalg.vector_norm(x - restored, dim=(-2, -1))
    return distance / (sizes * x.shape[-1])


def structure_error(adj: Tensor, restored: Tensor, sizes: Tensor) -> Tensor:
    """‖A - Â‖_F / N² for adj (…, B, N, N), sizes (B,) the real node counts."""
    distance: Tensor = torch.linalg.vector_norm(adj - restored, dim=(-2, -1))
    return distance / sizes.square()
