"""Adam with L2 weight decay, equal to torch.optim.Adam.

torch.optim imports torch's compiler on first use, which takes every process more than a second and
tens of megabytes; these few lines avoid that.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Kingma & Ba, 2015, algorithm 1, with weight decay added to the gradient.

    Parameters and gradients become views of two vectors, `value` and `gradient`, so that a step is
    a few operations however many parameters there are.
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
