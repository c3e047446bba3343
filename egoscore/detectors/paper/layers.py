"""Building blocks of the score networks, on dense batches of small graphs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from egoscore.detectors.paper.kernels.elu import elu_plus_1_, times_slope_
from egoscore.random import Purpose, uniforms


def propagation(adj: Tensor) -> Tensor:
    """D^(-1/2) Ã D^(-1/2) for adjacencies (B, N, N), Ã having ones on its diagonal.

    Kipf & Welling, 2017. Degrees are clamped at 1: noised adjacencies have negative entries.
    """
    looped = adj.clone()
    looped.diagonal(dim1=-2, dim2=-1).fill_(1.0)
    scale = looped.sum(dim=-1).clamp(min=1.0).rsqrt()
    return scale.unsqueeze(-1) * looped * scale.unsqueeze(-2)


@dataclass(frozen=True)
class Channel:
    """Node values X with one of the adjacencies, A or A², as input of graph convolutions.

    Attributes: `x` (B, N, C); `spread` (B, N, N), the propagation matrix P; `around` (B, N, C),
    P·X, which all layers share because it does not depend on weights.
    """

    x: Tensor
    spread: Tensor
    around: Tensor

    @classmethod
    def of(cls, x: Tensor, adj: Tensor) -> Channel:
        """The channel of an adjacency (B, N, N)."""
        spread = propagation(adj)
        return cls(x, spread, spread @ x)


class GraphConvolution(nn.Module):
    """A GCN layer, P·X·W + b: (B, N, in) → (B, N, out)."""

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_inputs, num_outputs))
        self.bias = nn.Parameter(torch.empty(num_outputs))

    def initialise(self, draw: Callable[[Tensor, float], None]) -> None:
        """Glorot's uniform weights, zero bias."""
        draw(self.weight, math.sqrt(6.0 / sum(self.weight.shape)))
        nn.init.zeros_(self.bias)

    def forward(self, channel: Channel) -> Tensor:
        return nn.functional.linear(channel.around, self.weight.t(), self.bias)


class GradientFlowConvolution(nn.Module):
    """GRAFF: H ← H + (P·H·W - H·Ω)/2 twice, from H = X·E + b; W symmetric, Ω diagonal.

    Di Giovanni et al., "Understanding convolution on graphs via energies", 2023: the layers
    follow the gradient of an energy; negative eigenvalues of W sharpen, positive ones smooth.
    """

    num_steps = 2

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_inputs, num_outputs))
        self.bias = nn.Parameter(torch.empty(num_outputs))
        self.mixing = nn.Parameter(torch.empty(num_outputs, num_outputs))
        self.damping = nn.Parameter(torch.empty(num_outputs))

    def initialise(self, draw: Callable[[Tensor, float], None]) -> None:
        """Glorot's uniform weights, zero bias, no damping at first."""
        draw(self.weight, math.sqrt(6.0 / sum(self.weight.shape)))
        draw(self.mixing, math.sqrt(6.0 / sum(self.mixing.shape)))
        nn.init.zeros_(self.bias)
        nn.init.zeros_(self.damping)

    def forward(self, channel: Channel) -> Tensor:
        symmetric = (self.mixing + self.mixing.t()) / 2.0
        value = nn.functional.linear(channel.x, self.weight.t(), self.bias)
        for _ in range(self.num_steps):
            flow = channel.spread @ (value @ symmetric) - value * self.damping
            value = value + flow / self.num_steps
        return value


CONVOLUTIONS: dict[str, type[GraphConvolution] | type[GradientFlowConvolution]] = {
    "gcn": GraphConvolution,
    "graff": GradientFlowConvolution,
}


def keyed_draw(seed: int, step: int) -> Callable[[Tensor, float], None]:
    """A function that fills one parameter after the other with keyed uniform numbers.

    Numbers are within a bound; torch's global generator is not used.
    """
    used = count()

    def draw(parameter: Tensor, bound: float) -> None:
        key = np.array([next(used)], dtype=np.int64)
        unit = uniforms(seed, Purpose.INITIALISE, step, key, parameter.numel())
        values = torch.from_numpy((2.0 * unit - 1.0) * bound)
        with torch.no_grad():
            parameter.copy_(values.view(parameter.shape))

    return draw


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
    """Affine maps of the last dimension with ELU in between."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Linear(a, b) for a, b in pairwise(widths))

    def forward(self, x: Tensor) -> Tensor:
        parameters = [p for layer in self.layers for p in (layer.weight, layer.bias)]
        rows = x.reshape(-1, x.shape[-1])
        out: Tensor = _AffineElu.apply(rows, *parameters)  # type: ignore[no-untyped-call]
        return out.view(*x.shape[:-1], out.shape[-1])


class _AffineElu(torch.autograd.Function):
    """Forward and backward pass of an `Mlp` on rows, (R, in) → (R, out).

    Between the layers values are (channels, R) and hold elu + 1, see `kernels.elu`.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, *parameters: Tensor) -> Tensor:
        weights, biases = parameters[::2], parameters[1::2]
        # from the second layer on, inputs are elu + 1
        shifted = [b - w.sum(dim=1) for w, b in zip(weights[1:], biases[1:], strict=True)]
        values, biases = [x.t()], (biases[0], *shifted)
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            values.append(elu_plus_1_(weight @ values[-1], bias))
        ctx.save_for_backward(*weights, *values)
        return torch.addmm(biases[-1], values[-1].t(), weights[-1].t())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        count = len(ctx.saved_tensors) // 2
        weights, values = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        grads: list[Tensor] = []
        grad = grad.t()
        for number in range(count - 1, -1, -1):
            on_bias = grad.sum(dim=1)
            on_weight = grad @ values[number].t()
            if number > 0:
                on_weight -= on_bias.unsqueeze(1)
                grad = times_slope_(weights[number].t() @ grad, values[number])
            grads = [on_weight, on_bias, *grads]
        return grad.t() @ weights[0] if ctx.needs_input_grad[0] else None, *grads
