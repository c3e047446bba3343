"""Adam with L2 weight decay, as torch.optim.Adam computes it.

Our own twenty lines because the first use of torch.optim imports torch's compiler: more than a
second and tens of megabytes for every process that trains.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Kingma & Ba, 2015, algorithm 1, with the decay added to the gradient."""

    def __init__(self, parameters: Iterable[nn.Parameter], lr: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.lr = lr
        self.weight_decay = weight_decay
        self.count = 0
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]

    def zero_gradients(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        self.count += 1
        first_scale = self.lr / (1.0 - _BETA1**self.count)
        second_scale = (1.0 - _BETA2**self.count) ** 0.5
        for parameter, first, second in zip(self.parameters, self.first, self.second, strict=True):
            if parameter.grad is None:
                continue
            grad = parameter.grad.add(parameter, alpha=self.weight_decay)
            first.lerp_(grad, 1.0 - _BETA1)
            second.mul_(_BETA2).addcmul_(grad, grad, value=1.0 - _BETA2)
            spread = second.sqrt().div_(second_scale).add_(_EPSILON)
            parameter.addcdiv_(first, spread, value=-first_scale)

    def tensors(self) -> dict[str, Tensor]:
        """The moments by name, and how many steps were taken."""
        named = {f"first.{i}": value for i, value in enumerate(self.first)}
        named |= {f"second.{i}": value for i, value in enumerate(self.second)}
        return named | {"count": torch.tensor(self.count)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take up what `tensors` put away."""
        for i, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            first.copy_(tensors[f"first.{i}"])
            second.copy_(tensors[f"second.{i}"])
        self.count = int(tensors["count"])
