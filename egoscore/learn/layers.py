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

from egoscore.keyed import Purpose, uniforms
from egoscore.learn.elu import elu_plus_1_, times_slope_

_THIN = 4  # rows below which MKL's products depend on where memory begins


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
    """One way to look at a batch: values x (B, N, C) of the nodes, and how they spread.

    `spread` is P (B, N, N). `around` is P·X (B, N, C), what a node sees around it: it has no
    weights in it, so layers share it.
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
    """Fills parameter after parameter with uniform numbers within a bound, by key.

    Torch's global generator is never touched.
    """
    used = count()

    def draw(parameter: Tensor, bound: float) -> None:
        key = np.array([next(used)], dtype=np.int64)
        unit = uniforms(seed, Purpose.INITIALISE, step, key, parameter.numel())
        values = torch.from_numpy((2.0 * unit - 1.0) * bound)
        with torch.no_grad():
            parameter.copy_(values.view(parameter.shape))

    return draw


def per_model(parameter: Tensor, dimensions: int) -> Tensor:
    """A parameter with that many dimensions as (T, …), one for each model of a stack.

    A model that is in no stack is one of its own.
    """
    return parameter if parameter.dim() > dimensions else parameter.unsqueeze(0)


def product(weight: Tensor, values: Tensor) -> Tensor:
    """(T, out, in) times (T, in, R), for every model to the bit what it is for that model alone.

    Thin products are rounded otherwise where memory does not begin with a line of the cache, as
    it does for a model alone; training with a large lr makes another model of that.
    """
    if len(weight) == 1 or weight.shape[1] >= _THIN:
        return torch.bmm(weight, values)  # has less to find out than @
    return torch.stack([one @ own.clone() for one, own in zip(weight, values, strict=True)])


def add_product_(to: Tensor, first: Tensor, second: Tensor) -> None:
    """Add (T, out, R) times (T, R, in) to (T, out, in), in the same way."""
    if len(to) == 1 or to.shape[1] >= _THIN:
        to.baddbmm_(first, second)
        return
    for mine, one, other in zip(to, first, second, strict=True):
        mine.addmm_(one.clone(), other.clone())


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
    """The computation of an `Mlp`, forward and backward: rows (T, in) → (T, out).

    Between the layers values are (channels, T) and hold elu + 1, see `egoscore.learn.elu`.
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
