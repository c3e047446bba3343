"""Compare an ego-graph with its reconstruction: equations 8 to 11 of the paper."""

from __future__ import annotations

import torch
from torch import Tensor

EDGE_THRESHOLD = 0.5


def binarise(adj: Tensor) -> Tensor:
    """A reconstructed adjacency (…, N, N) rounded to edges: 1 from 0.5 upwards, else 0."""
    return (adj >= EDGE_THRESHOLD).to(adj.dtype)


def feature_error(x: Tensor, restored: Tensor, sizes: Tensor) -> Tensor:
    """‖X - X̂‖_F / (N·F) for x (…, B, N, F), sizes (B,) the real node counts."""
    distance: Tensor = torch.linalg.vector_norm(x - restored, dim=(-2, -1))
    return distance / (sizes * x.shape[-1])


def structure_error(adj: Tensor, restored: Tensor, sizes: Tensor) -> Tensor:
    """‖A - Â‖_F / N² for adj (…, B, N, N), sizes (B,) the real node counts."""
    distance: Tensor = torch.linalg.vector_norm(adj - restored, dim=(-2, -1))
    return distance / sizes.square()


def normalised_energy(x: Tensor, adj: Tensor) -> Tensor:
    """E(X, L) / ‖X‖² for x (B, N, F) and non-negative adj (B, N, N), shape (B,).

    L = D^(†/2) (D - A) D^(†/2): nodes without edges have zero rows. A directed adjacency is
    symmetrised as (A + Aᵀ)/2. Features that are all zero have energy 0.
    """
    adj = (adj + adj.transpose(-1, -2)) / 2
    # the result does not depend on the scale of x; this avoids overflow of the squares
    largest = x.abs().amax(dim=(1, 2), keepdim=True)
    x = x / largest.where(largest > 0, 1.0)
    degree = adj.sum(dim=-1)  # (B, N)
    scaled = x * degree.clamp(min=1e-12).rsqrt().where(degree > 0, 0.0).unsqueeze(-1)
    own = degree.unsqueeze(-1) * scaled
    energy = (scaled * (own - adj @ scaled)).sum(dim=(1, 2)).clamp(min=0.0)
    squared_norm = x.square().sum(dim=(1, 2))
    return energy / squared_norm.where(squared_norm > 0, 1.0)
