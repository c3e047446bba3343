"""Parts of neural networks that both detectors use: affine maps, MLPs, and their optimiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import count, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from egoscore.detectors.elu import elu_plus_1_, times_slope_
from egoscore.random import Purpose, uniforms

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


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

    Between the layers values are (channels, R) and hold elu + 1, see `elu.py`.
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


class Adam:
    """Adam with L2 weight decay (Kingma & Ba, 2015, algorithm 1), equal to torch.optim.Adam.

    torch.optim imports torch's compiler on first use, which takes every process more than a second
    and tens of megabytes. Parameters and gradients become views of two vectors, `value` and
    `gradient`, so that a step is a few operations however many parameters there are.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.lr = lr
        self.weight_decay = weight_decay
        self.count = 0
        self.value = torch.cat([p.detach().flatten() for p in self.parameters])
        self.gradient, self.first, self.second = (torch.zeros_like(self.value) for _ in range(3))
        views = zip(self.views(self.value), self.views(self.gradient), strict=True)
        for parameter, (value, gradient) in zip(self.parameters, views, strict=True):
            parameter.data = value
            parameter.grad = gradient

    def views(self, vector: Tensor) -> list[Tensor]:
        """Views of a vector as long as `value` in the shapes of the parameters."""
        parts = torch.split(vector, [p.numel() for p in self.parameters])
        return [part.view(p.shape) for part, p in zip(parts, self.parameters, strict=True)]

    def clip(self, largest: float) -> float:
        """Clip the norm of the gradient at `largest`, as torch does; the norm before."""
        norm = float(self.gradient.norm())
        self.gradient.mul_(min(1.0, largest / (norm + 1e-6)))
        return norm

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters."""
        self.count += 1
        first_scale = self.lr / (1.0 - _BETA1**self.count)
        second_scale = (1.0 - _BETA2**self.count) ** 0.5
        grad = self.gradient.add(self.value, alpha=self.weight_decay)
        self.first.lerp_(grad, 1.0 - _BETA1)
        self.second.mul_(_BETA2).addcmul_(grad, grad, value=1.0 - _BETA2)
        spread = self.second.sqrt().div_(second_scale).add_(_EPSILON)
        self.value.addcdiv_(self.first, spread, value=-first_scale)

    def tensors(self) -> dict[str, Tensor]:
        """The moments and the number of steps, by name."""
        return {"first": self.first, "second": self.second, "count": torch.tensor(self.count)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restore what `tensors` returned."""
        self.first.copy_(tensors["first"])
        self.second.copy_(tensors["second"])
        self.count = int(tensors["count"])
