"""Training, readable from top to bottom."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.diffuse import EgoNoise, Sde
from egoscore.diffuse.sde import END_TIME
from egoscore.ego import EgoGraphs
from egoscore.errors import TrainingError
from egoscore.keyed import Keys, Purpose, uniforms
from egoscore.learn.loss import add_gradients
from egoscore.learn.state import TrainingState

FIRST_TIME = 1e-5
_CAPACITY = 65_536  # padded entries that go through the networks at once: they stay in the cache
_LOSSES = ("loss of the features", "loss of the adjacency")
_HOPELESS = 1000.0  # times the loss of a network that answers nothing but zero
_FILL = 32_768  # below this a batch costs more in overhead than padding to it does


@dataclass(frozen=True)
class TrainingConfig:
    """How the networks are trained; what has a default is the paper's for every network.

    `batch_size` ego-graphs make one optimiser step; 0 means all of them (full batch).
    """

    epochs: int
    lr: float
    weight_decay: float
    batch_size: int
    clip_norm: float = 1.0
    ema_decay: float = 0.999


def train(
    state: TrainingState,
    egos: EgoGraphs,
    sde: Sde,
    config: TrainingConfig,
    seed: int,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> None:
    """Bring `state` to `config.epochs` epochs; continue where it stands.

    All randomness is keyed by epoch and node, so a continued training equals an unbroken one.
    """
    limits = _loss_limits(egos)
    while state.epoch < config.epochs:
        epoch_losses = np.zeros(2)
        for centres in _batches(len(egos), config.batch_size, state.epoch, seed):
            losses = _accumulate_gradients(state, egos, centres, sde, seed)
            _require_sane(zip(_LOSSES, losses, limits, strict=True), state.epoch, config)
            norms = [optimiser.clip(config.clip_norm) for optimiser in state.optimisers]
            _require_sane((("gradient", n, math.inf) for n in norms), state.epoch, config)
            state.step(config.ema_decay)
            epoch_losses += np.array(losses) * (len(centres) / len(egos))
        state.history.append((float(epoch_losses[0]), float(epoch_losses[1])))
        state.epoch += 1
        after_epoch(state)


def _batches(count: int, size: int, epoch: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """All ego-graphs in an order of this epoch's own, `size` at a time."""
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
    """Gradients of the mean loss over `centres`, chunk by chunk; the two mean losses."""
    state.zero_gradients()
    total_x = total_adj = 0.0
    for chunk in egos.chunks(centres, _CAPACITY, _FILL):
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
    """Times uniform in (1e-5, 1], one for each ego-graph, (B,)."""
    unit = uniforms(seed, Purpose.TRAIN_TIME, epoch, centres)[:, 0]
    return torch.from_numpy(END_TIME - unit * (END_TIME - FIRST_TIME))


def _loss_limits(egos: EgoGraphs) -> tuple[float, float]:
    """Losses beyond which training has run away: many times those of predicting no noise."""
    sizes = egos.sizes.astype(np.float64)
    entries = float(sizes.mean()) * egos.graph.num_features
    pairs = float((sizes * (sizes - 1)).mean())
    return _HOPELESS * 0.5 * entries, _HOPELESS * 0.5 * max(pairs, 1.0)


def _require_sane(
    found: Iterable[tuple[str, float, float]], epoch: int, config: TrainingConfig
) -> None:
    """Refuse to go on where a (name, value, limit) is beyond its limit, or not a number."""
    for name, value, limit in found:
        if not math.isfinite(value) or value > limit:
            raise TrainingError(
                f"Training diverged in epoch {epoch + 1}: the {name} ran away (found "
                f"{value:.3g}); use a smaller lr (now {config.lr}) or look for extreme values "
                "among the features."
            )
