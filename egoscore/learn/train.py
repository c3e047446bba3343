"""Training, readable from top to bottom."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.diffuse import EgoNoise, Sde
from egoscore.diffuse.sde import END_TIME
from egoscore.ego import EgoGraphs
from egoscore.errors import TrainingError
from egoscore.keyed import Keys, Purpose, Seeds, as_seeds, uniforms
from egoscore.learn.loss import add_gradients
from egoscore.learn.state import TrainingState
from egoscore.learn.written_out import Losses

FIRST_TIME = 1e-5
_CAPACITY = 65_536  # padded entries that go through the networks at once: they stay in the cache
_LOSSES = ("loss of the features", "loss of the adjacency")
_HOPELESS = 1000.0  # times the loss of a network that answers nothing but zero
_FILL = 32_768  # below this a batch costs more in overhead than padding to it does


@dataclass(frozen=True)
class TrainingConfig:
    """How the networks are trained; what has a default is the paper's for every network.

    `batch_size` ego-graphs make one optimiser step; 0 means all of them (full batch). A stack may
    have an `lr` for each of its models.
    """

    epochs: int
    lr: float | Sequence[float]
    weight_decay: float
    batch_size: int
    clip_norm: float = 1.0
    ema_decay: float = 0.999


def train(
    state: TrainingState,
    egos: EgoGraphs,
    sde: Sde,
    config: TrainingConfig,
    seed: Seeds,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> None:
    """Bring `state` to `config.epochs` epochs; continue where it stands.

    All randomness is keyed by epoch and node, so a continued training equals an unbroken one. The
    models of a stack have a seed each, in `egos` as here, and meet all ego-graphs in every step:
    the order of smaller batches would be another for each.
    """
    limits = _loss_limits(egos)
    add = partial(add_gradients, written_out=state.model.written_out())
    while state.epoch < config.epochs:
        epoch_losses = np.zeros((2, state.model.num_models))
        for centres in _batches(len(egos), config.batch_size, state.epoch, seed):
            losses = _accumulate_gradients(state, egos, centres, sde, seed, add)
            _require_sane(zip(_LOSSES, losses, limits, strict=True), state.epoch, config)
            norms = [optimiser.clip(config.clip_norm) for optimiser in state.optimisers]
            _require_sane((("gradient", n, math.inf) for n in norms), state.epoch, config)
            state.step(config.ema_decay)
            epoch_losses += losses * (len(centres) / len(egos))
        for history, (loss_x, loss_adj) in zip(state.histories, epoch_losses.T, strict=True):
            history.append((float(loss_x), float(loss_adj)))
        state.epoch += 1
        after_epoch(state)


def takes_all(batch_size: int, count: int) -> bool:
    """Whether a batch has all of `count` ego-graphs."""
    return batch_size == 0 or batch_size >= count


def _batches(count: int, size: int, epoch: int, seed: Seeds) -> Iterator[NDArray[np.int64]]:
    """All ego-graphs in an order of this epoch's own, `size` at a time."""
    centres = np.arange(count)
    if takes_all(size, count):
        yield centres
        return
    seeds = as_seeds(seed)
    if len(seeds) > 1:
        raise ValueError(f"A stack learns from all ego-graphs at once (found batches of {size}).")
    unit = uniforms(seeds, Purpose.SHUFFLE, epoch, centres)[:, 0]
    order = np.argsort(unit, kind="stable")
    for start in range(0, count, size):
        yield order[start : start + size]


def _accumulate_gradients(
    state: TrainingState,
    egos: EgoGraphs,
    centres: NDArray[np.int64],
    sde: Sde,
    seed: Seeds,
    add: Callable[..., Losses],
) -> Losses:
    """Gradients of the mean loss over `centres`, chunk by chunk; the two mean losses, (2, T)."""
    state.zero_gradients()
    total = np.zeros((2, state.model.num_models))
    for chunk in egos.chunks(centres, _CAPACITY, _FILL):
        batch = egos.batch(chunk)
        keys = Keys.for_nodes(seed, chunk)
        graph = egos.graph
        noise = EgoNoise(keys, batch.sizes, graph.num_features, graph.directed, egos.device)
        t = _times(keys, state.epoch)
        total += add(state.model, batch, noise, state.epoch, t, sde, 1.0 / len(centres))
    return total / len(centres)


def _times(keys: Keys, epoch: int) -> Tensor:
    """Times uniform in (1e-5, 1], one for each ego-graph, (B,)."""
    unit = uniforms(keys.seed, Purpose.TRAIN_TIME, epoch, keys.node)[:, 0]
    return torch.from_numpy(END_TIME - unit * (END_TIME - FIRST_TIME))


def _loss_limits(egos: EgoGraphs) -> tuple[float, float]:
    """Losses beyond which training has run away: many times those of predicting no noise."""
    sizes = egos.sizes.astype(np.float64)
    entries = float(sizes.mean()) * egos.graph.num_features
    pairs = float((sizes * (sizes - 1)).mean())
    return _HOPELESS * 0.5 * entries, _HOPELESS * 0.5 * max(pairs, 1.0)


def _require_sane(
    found: Iterable[tuple[str, Sequence[float] | NDArray[np.float64], float]],
    epoch: int,
    config: TrainingConfig,
) -> None:
    """Refuse to go on where one of (name, values, limit) is beyond the limit, or not a number."""
    for name, values, limit in found:
        for value, lr in zip(values, np.broadcast_to(config.lr, len(values)), strict=True):
            if not math.isfinite(value) or value > limit:
                raise TrainingError(
                    f"Training diverged in epoch {epoch + 1}: the {name} ran away (found "
                    f"{value:.3g}); use a smaller lr (now {lr}) or look for extreme values "
                    "among the features."
                )
