"""Building blocks of the score networks, on dense batches of small graphs."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn


def propagation(adj: Tensor) -> Tensor:
    """D^(-1/2) Ã D^(-1/2) for adjacencies (B, N, N), Ã having ones on its diagonal.

    Kipf & Welling, 2017. Degrees are clamped at 1: noised adjacencies have negative entries.
    """
    looped = adj.clone()
    looped.diagonal(dim1=-2, dim2=-1).fill_(1.0)
    scale = looped.sum(dim=-1).clamp(min=1.0).rsqrt()
    return scale.unsqueeze(-1) * looped * scale.unsqueeze(-2)


class GraphConvolution(nn.Module):
    """A GCN layer given the propagation matrix: P·X·W + b, (B, N, in) → (B, N, out)."""

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_inputs, num_outputs))
        self.bias = nn.Parameter(torch.empty(num_outputs))

    def initialise(self, draw: Callable[[Tensor, float], None]) -> None:
        """Glorot's uniform weights, zero bias."""
        draw(self.weight, math.sqrt(6.0 / sum(self.weight.shape)))
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, propagate: Tensor) -> Tensor:
        return propagate @ (x @ self.weight) + self.bias


class Linear(nn.Module):
    """An affine map of the last dimension."""

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_outputs, num_inputs))
        self.bias = nn.Parameter(torch.empty(num_outputs))

    def initialise(self, draw: Callable[[Tensor, float], None]) -> None:
        """Uniform within one over the square root of the number of inputs, as torch does."""
        bound = 1.0 / math.sqrt(self.weight.shape[1])
        draw(self.weight, bound)
        draw(self.bias, bound)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight, self.bias)


class Mlp(nn.Module):
    """Affine maps with ELU in between."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Linear(a, b) for a, b in pairwise(widths))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers[:-1]:
            x = nn.functional.elu(layer(x))
        out: Tensor = self.layers[-1](x)
        return out
