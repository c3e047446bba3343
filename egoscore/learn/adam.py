"""Adam with L2 weight decay, as torch.optim.Adam computes it.

Our own few lines because the first use of torch.optim imports torch's compiler: more than a
second and tens of megabytes for every process that trains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Kingma & Ba, 2015, algorithm 1, with the decay added to the gradient.

    The parameters and their gradients become views of two long vectors, `value` and `gradient`:
    a step is a few operations, however many parameters there are. Those of a `stack` of models,
    (T,), have one row for each model: vectors are (T, n), and a model has its own lr and norm.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float | Sequence[float],
        weight_decay: float,
        stack: tuple[int, ...] = (),
    ) -> None:
        self.parameters = list(parameters)
        self.lr = lr
        self._stack = stack
        self.weight_decay = weight_decay
        self.count = 0
        parts = [p.detach().reshape(*stack, -1) for p in self.parameters]
        length = sum(part.shape[-1] for part in parts)
        # whole lines of the cache: every row begins as that of a model alone does
        room = -(-length // 16) * 16
        self.value, self.gradient, self.first, self.second = (
            torch.zeros(*stack, room, dtype=parts[0].dtype, device=parts[0].device)[..., :length]
            for _ in range(4)
        )
        torch.cat(parts, dim=-1, out=self.value)
        views = zip(self.views(self.value), self.views(self.gradient), strict=True)
        for parameter, (value, gradient) in zip(self.parameters, views, strict=True):
            parameter.data = value
            parameter.grad = gradient

    def views(self, vector: Tensor) -> list[Tensor]:
        """The parts of a vector as long as `value`, in the shapes of the parameters."""
        num_models = vector[..., 0].numel()
        lengths = [p.numel() // num_models for p in self.parameters]
        parts = torch.split(vector, lengths, dim=-1)
        return [part.view(p.shape) for part, p in zip(parts, self.parameters, strict=True)]

    def clip(self, largest: float) -> list[float]:
        """Shorten every model's gradient to the norm `largest`, as torch does; their norms."""
        norms: list[float] = self.gradient.norm(dim=-1).flatten().tolist()
        self.gradient.mul_(self._each([min(1.0, largest / (norm + 1e-6)) for norm in norms]))
        return norms

    def _each(self, numbers: Sequence[float]) -> float | Tensor:
        """A number for every model, to multiply its row with."""
        return self.value.new_tensor(numbers).unsqueeze(1) if self._stack else numbers[0]

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters."""
        self.count += 1
        rates = self.lr if isinstance(self.lr, Sequence) else [self.lr]
        first_scale = self._each([-lr / (1.0 - _BETA1**self.count) for lr in rates])
        second_scale = (1.0 - _BETA2**self.count) ** 0.5
        grad = self.gradient.add(self.value, alpha=self.weight_decay)
        self.first.lerp_(grad, 1.0 - _BETA1)
        self.second.mul_(_BETA2).addcmul_(grad, grad, value=1.0 - _BETA2)
        spread = self.second.sqrt().div_(second_scale).add_(_EPSILON)
        self.value.addcdiv_(self.first * first_scale, spread)

    def tensors(self) -> dict[str, Tensor]:
        """The moments by name, and how many steps were taken."""
        return {"first": self.first, "second": self.second, "count": torch.tensor(self.count)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Take up what `tensors` put away."""
        self.first.copy_(tensors["first"])
        self.second.copy_(tensors["second"])
        self.count = int(tensors["count"])
