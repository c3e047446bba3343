"""Normalised Dirichlet energy (the paper's equations 9 to 11)."""

from __future__ import annotations

from torch import Tensor


def normalised_energy(x: Tensor, adj: Tensor) -> Tensor:
    """E(X, L) / ‖X‖² for x (B, N, F) and non-negative adj (B, N, N), shape (B,).

    L = D^(†/2) (D - A) D^(†/2): nodes without edges have zero rows. A directed adjacency is
    symmetrised as (A + Aᵀ)/2. Features that are all zero have energy 0.
    """
    adj = (adj + adj.transpose(-1, -2)) / 2
    # the result does not depend on the scale of x, so squares need not overflow
    largest = x.abs().amax(dim=(1, 2), keepdim=True)
    x = x / largest.where(largest > 0, 1.0)
    degree = adj.sum(dim=-1)  # (B, N)
    scaled = x * degree.clamp(min=1e-12).rsqrt().where(degree > 0, 0.0).unsqueeze(-1)
    own = degree.unsqueeze(-1) * scaled
    energy = (scaled * (own - adj @ scaled)).sum(dim=(1, 2)).clamp(min=0.0)
    squared_norm = x.square().sum(dim=(1, 2))
    return energy / squared_norm.where(squared_norm > 0, 1.0)
