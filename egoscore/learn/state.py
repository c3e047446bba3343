"""Everything that changes while training, and how it is put away and taken up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from egoscore.learn.adam import Adam
from egoscore.learn.model import GenerativeModel


class TrainingState:
    """Networks, their running averages, independent optimisers, and how far they are.

    The model may be a stack, whose models may have learning rates of their own.
    """

    def __init__(
        self, model: GenerativeModel, lr: float | Sequence[float], weight_decay: float
    ) -> None:
        self.model = model
        self.optimisers = [
            Adam(part.parameters(), lr, weight_decay, model.stack) for part in model.parts()
        ]
        self._averages = [optimiser.value.clone() for optimiser in self.optimisers]
        self.epoch = 0
        self.num_updates = 0
        # the losses of every epoch, for every model
        self.histories: list[list[tuple[float, float]]] = [[] for _ in range(model.num_models)]

    @property
    def history(self) -> list[tuple[float, float]]:
        """The losses of every epoch, of a model that is alone."""
        (only,) = self.histories
        return only

    @property
    def average(self) -> dict[str, Tensor]:
        """The running averages of the parameters, by their names."""
        names = {id(value): name for name, value in self.model.named_parameters()}
        return {
            names[id(parameter)]: view
            for optimiser, average in zip(self.optimisers, self._averages, strict=True)
            for parameter, view in zip(optimiser.parameters, optimiser.views(average), strict=True)
        }

    @property
    def averages(self) -> list[dict[str, Tensor]]:
        """The same for every model of a stack."""
        if not self.model.stack:
            return [self.average]
        models = range(self.model.num_models)
        return [{name: value[model] for name, value in self.average.items()} for model in models]

    def zero_gradients(self) -> None:
        """Forget the gradients of the last step."""
        for optimiser in self.optimisers:
            optimiser.gradient.zero_()

    def step(self, ema_decay: float) -> None:
        """One step of both optimisers; the running average follows, faster at the beginning."""
        for optimiser in self.optimisers:
            optimiser.step()
        self.num_updates += 1
        decay = min(ema_decay, (1 + self.num_updates) / (10 + self.num_updates))
        for average, optimiser in zip(self._averages, self.optimisers, strict=True):
            average.lerp_(optimiser.value, 1.0 - decay)

    def tensors(self) -> dict[str, Tensor]:
        """A copy of all of it except epoch and history, by name."""
        named = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        named |= {f"average.{name}": value for name, value in self.average.items()}
        for index, optimiser in enumerate(self.optimisers):
            moments = optimiser.tensors()
            named |= {f"optimiser{index}.{name}": value for name, value in moments.items()}
        named["num_updates"] = torch.tensor(self.num_updates)
        return {name: value.detach().clone() for name, value in named.items()}

    def restore(
        self, tensors: Mapping[str, Tensor], epoch: int, history: list[tuple[float, float]]
    ) -> None:
        """Take up what `tensors` put away."""
        self.model.load_state_dict(named_under("model.", tensors))
        for name, view in self.average.items():
            view.copy_(tensors[f"average.{name}"])
        for index, optimiser in enumerate(self.optimisers):
            optimiser.restore(named_under(f"optimiser{index}.", tensors))
        self.num_updates = int(tensors["num_updates"])
        self.epoch = epoch
        self.histories = [list(history)]


def named_under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, by the rest of their names."""
    start = len(prefix)
    return {name[start:]: value for name, value in tensors.items() if name.startswith(prefix)}
