"""Training by denoising score matching: loss, state, checkpoints, loop (equation 5)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.base import Store
from egoscore.detectors.neural_networks import Adam
from egoscore.detectors.paper.ego import CAPACITY, FILL, EgoBatch, EgoGraphs
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.kernels.gradient import Noised
from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import END_TIME, SDES, Sde, perturb
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.serialization import named_under, shapes
from egoscore.errors import RunError, TrainingError
from egoscore.random import Keys, Purpose, uniforms

FIRST_TIME = 1e-5
CLIP_NORM, EMA_DECAY = 1.0, 0.999  # the same in all of the paper's runs
_DIVERGED = 1000.0  # times the loss of networks that always predict zero
LOSSES = ("features", "adjacency")  # one of each network
_CHECKPOINT, _SECONDS_BETWEEN_CHECKPOINTS = "checkpoint", 20.0


class TrainingState:
    """Networks, running averages of their weights, one optimiser per network, and progress."""

    def __init__(self, model: GenerativeModel, lr: float, weight_decay: float) -> None:
        self.model = model
        self.optimisers = [Adam(part.parameters(), lr, weight_decay) for part in model.parts()]
        self._averages = [optimiser.value.clone() for optimiser in self.optimisers]
        self.epoch = 0
        self.num_updates = 0
        self.history: list[tuple[float, float]] = []

    @property
    def average(self) -> dict[str, Tensor]:
        """The running average of every parameter, by name."""
        names = {id(value): name for name, value in self.model.named_parameters()}
        return {
            names[id(parameter)]: view
            for optimiser, average in zip(self.optimisers, self._averages, strict=True)
            for parameter, view in zip(optimiser.parameters, optimiser.views(average), strict=True)
        }

    def zero_gradients(self) -> None:
        """Reset the gradients before they are accumulated."""
        for optimiser in self.optimisers:
            optimiser.gradient.zero_()

    def step(self) -> None:
        """One step of all optimisers; early averages follow the weights more closely."""
        for optimiser in self.optimisers:
            optimiser.step()
        self.num_updates += 1
        decay = min(EMA_DECAY, (1 + self.num_updates) / (10 + self.num_updates))
        for average, optimiser in zip(self._averages, self.optimisers, strict=True):
            average.lerp_(optimiser.value, 1.0 - decay)

    def tensors(self) -> dict[str, Tensor]:
        """A copy of everything except epoch and history, by name."""
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
        """Restore the state from what `tensors` returned."""
        self.model.load_state_dict(named_under("model.", tensors))
        for name, view in self.average.items():
            view.copy_(tensors[f"average.{name}"])
        for index, optimiser in enumerate(self.optimisers):
            optimiser.restore(named_under(f"optimiser{index}.", tensors))
        self.num_updates = int(tensors["num_updates"])
        self.epoch = epoch
        self.history = list(history)


class Checkpoints:
    """Keeps the state of training now and then, so that a killed run continues.

    Without a store nothing is kept.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._last_kept = time.monotonic()

    def resume(self, state: TrainingState) -> None:
        """Bring the state to the last checkpoint, if there is one."""
        if self._store is None:
            return
        try:
            kept = self._store.load(_CHECKPOINT)
        except RunError as error:
            raise _unusable_checkpoint() from error
        if kept is None:
            return
        tensors, facts = kept
        if shapes(tensors) != shapes(state.tensors()):
            raise _unusable_checkpoint()
        state.restore(tensors, facts["epoch"], [(x, adj) for x, adj in facts["history"]])

    def keep(self, state: TrainingState, finished: bool) -> None:
        """Write a checkpoint when training is finished or the last one is long ago."""
        is_due = finished or time.monotonic() - self._last_kept >= _SECONDS_BETWEEN_CHECKPOINTS
        if self._store is None or not is_due:
            return
        facts = {"epoch": state.epoch, "history": state.history}
        self._store.save(_CHECKPOINT, state.tensors(), facts)
        self._store.save_losses(LOSSES, state.history)
        self._last_kept = time.monotonic()


def _unusable_checkpoint() -> RunError:
    return RunError(
        f"The {_CHECKPOINT} in the run directory is damaged or belongs to another run; remove "
        f"training/{_CHECKPOINT}.safetensors to train from the start."
    )


def train(
    state: TrainingState,
    egos: EgoGraphs,
    settings: PaperSettings,
    seed: int,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> None:
    """Train until `state` has completed all epochs, one optimiser step for every batch.

    Random numbers are keyed by epoch and node, so interruptions do not change the result.
    """
    limits, sde = _loss_limits(egos), SDES[settings.sde]
    while state.epoch < settings.epochs:
        epoch_losses = np.zeros(2)
        for centres in _batches(len(egos), settings.batch_size, state.epoch, seed):
            losses = _accumulate_gradients(state, egos, centres, sde, seed)
            names = (f"loss of the {name}" for name in LOSSES)
            _check_divergence(zip(names, losses, limits, strict=True), state.epoch, settings.lr)
            norms = [optimiser.clip(CLIP_NORM) for optimiser in state.optimisers]
            _check_divergence((("gradient", n, math.inf) for n in norms), state.epoch, settings.lr)
            state.step()
            epoch_losses += np.array(losses) * (len(centres) / len(egos))
        state.history.append((float(epoch_losses[0]), float(epoch_losses[1])))
        state.epoch += 1
        after_epoch(state)


def _batches(count: int, size: int, epoch: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """All node numbers in random order, `size` at a time; 0 means all at once."""
    centres = np.arange(count)
    if size == 0 or size >= count:
        yield centres
        return
    order = np.argsort(uniforms(seed, Purpose.SHUFFLE, epoch, centres)[:, 0], kind="stable")
    for start in range(0, count, size):
        yield order[start : start + size]


def _accumulate_gradients(
    state: TrainingState, egos: EgoGraphs, centres: NDArray[np.int64], sde: Sde, seed: int
) -> tuple[float, float]:
    """Add up the gradients of the mean loss over `centres`, chunk by chunk; the mean losses."""
    state.zero_gradients()
    total_x = total_adj = 0.0
    for chunk in egos.chunks(centres, CAPACITY, FILL):
        batch = egos.batch(chunk)
        keys = Keys.for_nodes(seed, chunk)
        graph = egos.graph
        noise = EgoNoise(keys, batch.sizes, graph.num_features, graph.directed, egos.device)
        t = _times(seed, state.epoch, chunk)
        loss_x, loss_adj = add_gradients(
            state.model, batch, noise, state.epoch, t, sde, 1.0 / len(centres)
        )
        total_x += loss_x
        total_adj += loss_adj
    return total_x / len(centres), total_adj / len(centres)


def _times(seed: int, epoch: int, centres: NDArray[np.int64]) -> Tensor:
    """Uniform times in (1e-5, 1] for B ego-graphs, (B,)."""
    unit = uniforms(seed, Purpose.TRAIN_TIME, epoch, centres)[:, 0]
    return torch.from_numpy(END_TIME - unit * (END_TIME - FIRST_TIME))


def _loss_limits(egos: EgoGraphs) -> tuple[float, float]:
    """Losses above which training has diverged: many times those of predicting no noise."""
    sizes = egos.sizes.astype(np.float64)
    entries = float(sizes.mean()) * egos.graph.num_features
    pairs = float((sizes * (sizes - 1)).mean())
    return _DIVERGED * 0.5 * entries, _DIVERGED * 0.5 * max(pairs, 1.0)


def _check_divergence(found: Iterable[tuple[str, float, float]], epoch: int, lr: float) -> None:
    """Raise an error if one of (name, value, limit) is above its limit or not finite."""
    for name, value, limit in found:
        if not math.isfinite(value) or value > limit:
            raise TrainingError(
                f"Training diverged in epoch {epoch + 1}: the {name} ran away (found "
                f"{value:.3g}); use a smaller lr (now {lr}) or look for extreme values "
                "among the features."
            )


def denoising_losses(
    model: GenerativeModel, batch: EgoBatch, noise: EgoNoise, epoch: int, t: Tensor, sde: Sde
) -> tuple[Tensor, Tensor]:
    """The losses of every ego-graph for features and adjacency, (B,) each.

    With weight sigma², 0.5·‖sigma·score + z‖² is 0.5·‖z - predicted noise‖², summed per graph.
    """
    width = batch.x.shape[1]
    noise_x = noise.features(Purpose.TRAIN_FEATURES, epoch, width)
    noise_adj = noise.adjacency(Purpose.TRAIN_ADJACENCY, epoch, width)
    x = perturb(batch.x, noise_x, sde, t)
    adj = perturb(batch.adj, noise_adj, sde, t)
    predicted_x, predicted_adj = model.predict_noise(x, adj, batch.mask, t, batch.positions)
    loss_x = 0.5 * (noise_x - predicted_x).square().sum(dim=(1, 2))
    loss_adj = 0.5 * (noise_adj - predicted_adj).square().sum(dim=(1, 2))
    return loss_x, loss_adj


def add_gradients(
    model: GenerativeModel,
    batch: EgoBatch,
    noise: EgoNoise,
    epoch: int,
    t: Tensor,
    sde: Sde,
    weight: float,
) -> tuple[float, float]:
    """Add `weight` times the gradients of both losses, summed over ego-graphs; these sums."""
    fused = model.fused_gradients()
    if fused is not None:
        noised = Noised.of(batch, noise, epoch, t, sde, fused.hidden_size)
        return fused.add_gradients(noised, weight)
    losses = [loss.sum() for loss in denoising_losses(model, batch, noise, epoch, t, sde)]
    ((losses[0] + losses[1]) * weight).backward()  # type: ignore[no-untyped-call]
    return float(losses[0].detach()), float(losses[1].detach())
