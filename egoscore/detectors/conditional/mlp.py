"""The neural network that corrects the linear denoiser, trained on noised centres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.detectors.neural_networks import Adam, Linear, Mlp, keyed_draw
from egoscore.random import Keys, Purpose, normals, uniforms

LEVELS = (-3.0, 3.0)  # logarithm of signal over noise in training, from next to nothing to clear
SCORING_LEVEL = -1.0
CLIP = 8.0  # deviations; networks do not extrapolate beyond
_LARGEST_LOSS = 0.98  # the worst losses of a batch count no more than this quantile of them
_WARM_UP = 30


@dataclass(frozen=True)
class Centres:
    """Nodes as inputs of the network, (N, …) each.

    Attributes: `white` features; `expected` by the linear part; `variance` (k,) of its errors;
    `known` the standardised context.
    """

    white: Tensor
    expected: Tensor
    variance: Tensor
    known: Tensor

    @classmethod
    def of(
        cls,
        white: NDArray[np.float32],
        expected: NDArray[np.float32],
        variance: NDArray[np.float64],
        known: NDArray[np.float32],
    ) -> Centres:
        """Clipped to `CLIP` deviations."""
        clipped = (torch.from_numpy(np.clip(v, -CLIP, CLIP)) for v in (white, expected, known))
        x, mean, around = clipped
        return cls(x, mean, torch.from_numpy(variance.astype(np.float32)), around)

    def __getitem__(self, nodes: Tensor | slice | NDArray[np.int64]) -> Centres:
        return Centres(self.white[nodes], self.expected[nodes], self.variance, self.known[nodes])

    def linear_guess(self, noisy: Tensor, clarity: Tensor) -> Tensor:
        """The best guess at the features from noisy ones (B, k), were all Gaussian."""
        signal, noise = clarity.sigmoid(), (-clarity).sigmoid()
        gain = signal.sqrt() * self.variance / (signal * self.variance + noise)
        return self.expected + gain * (noisy - signal.sqrt() * self.expected)


class CentreNetwork(nn.Module):
    """The correction to the linear guess, in units of the noise: (B, k)."""

    def __init__(self, num_axes: int, num_known: int, hidden_size: int) -> None:
        super().__init__()
        self.layers = Mlp(2 * num_axes + num_known + 5, hidden_size, hidden_size, num_axes)

    @classmethod
    def untrained(cls, centres: Centres, settings: ConditionalSettings) -> CentreNetwork:
        """A network for these nodes."""
        return cls(centres.white.shape[1], centres.known.shape[1], settings.hidden_size)

    @classmethod
    def restored(cls, weights: Mapping[str, Tensor]) -> CentreNetwork:
        """The network with these weights, from whose shapes its size follows."""
        first, last = weights["layers.layers.0.weight"], weights["layers.layers.2.weight"]
        hidden_size, inputs = first.shape
        network = cls(len(last), inputs - 2 * len(last) - 5, hidden_size)
        network.load_state_dict(dict(weights))
        return network

    def initialise(self, seed: int, fold: int) -> None:
        """Keyed random weights; the last layer is zero, so that training starts linear."""
        draw = keyed_draw(seed, 1 + fold)
        *hidden, last = self.layers.layers
        for layer in hidden:
            assert isinstance(layer, Linear)
            layer.initialise(draw)
        nn.init.zeros_(last.weight)  # type: ignore[arg-type]
        nn.init.zeros_(last.bias)  # type: ignore[arg-type]

    def forward(self, noisy: Tensor, guess: Tensor, known: Tensor, clarity: Tensor) -> Tensor:
        angles = (clarity / 4.0, clarity.sin(), clarity.cos(), (clarity / 2.0).sin(),
                  (clarity / 2.0).cos())  # fmt: skip
        out: Tensor = self.layers(torch.cat([noisy, guess, known, *angles], dim=1))
        return out


def train_centre(
    centres: Centres,
    nodes: NDArray[np.int64],
    settings: ConditionalSettings,
    seed: int,
    fold: int,
    advance: Callable[[int], None] = lambda count: None,
) -> tuple[CentreNetwork, list[float]]:
    """A network trained to denoise the centres of `nodes` alone, and its losses."""
    network = CentreNetwork.untrained(centres, settings)
    network.initialise(seed, fold)
    if len(nodes) == 0:  # two or three nodes in all: nothing to learn from
        advance(settings.updates)
        return network, [0.0] * settings.updates
    history = []
    adam = Adam(network.parameters(), settings.lr, settings.weight_decay)
    places = np.arange(settings.batch_size)
    for update in range(settings.updates):
        step = update * 64 + fold  # fewer folds than 64: no two draws share a key
        drawn = uniforms(seed, Purpose.CENTRE_BATCH, step, places)[:, 0]
        chosen = nodes[(drawn * len(nodes)).astype(np.int64)]
        loss = _robust_mean(_losses(network, centres, chosen, places, seed, step))
        adam.gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.clip(1.0)
        adam.lr = (
            settings.lr * min(1.0, (update + 1) / _WARM_UP) * (1.0 - update / settings.updates)
        )
        adam.step()
        history.append(float(loss.detach()))
        advance(1)
    return network, history


def _losses(
    network: CentreNetwork,
    centres: Centres,
    chosen: NDArray[np.int64],
    places: NDArray[np.int64],
    seed: int,
    step: int,
) -> Tensor:
    """Squared errors in units of the noise (B,), at noise levels drawn evenly."""
    batch = centres[torch.from_numpy(chosen)]
    low, high = LEVELS
    unit = torch.from_numpy(uniforms(seed, Purpose.CENTRE_TIME, step, places)).float()
    clarity = low + (high - low) * unit  # (B, 1)
    count = np.full(len(places), batch.white.shape[1], dtype=np.int64)
    keys = Keys.for_nodes(seed, places)
    noise = torch.from_numpy(normals(keys, Purpose.CENTRE_NOISE, step, count, int(count[0])))
    spread = (-clarity).sigmoid().sqrt()
    noisy = clarity.sigmoid().sqrt() * batch.white + spread * noise
    guess = batch.linear_guess(noisy, clarity)
    missed = (batch.white - guess) / spread - network(noisy, guess, batch.known, clarity)
    losses: Tensor = missed.square().mean(dim=1)
    return losses


def _robust_mean(losses: Tensor) -> Tensor:
    """The mean, no loss counting more than nearly all others: the data contain the outliers."""
    return losses.clamp(max=float(losses.detach().quantile(_LARGEST_LOSS))).mean()


def share_left(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part (k,) of the prediction error that remains in the linear guess, when scoring.

    From the `variance` (k,) of that error.
    """
    signal = 1.0 / (1.0 + np.exp(-SCORING_LEVEL))
    share: NDArray[np.float64] = (1.0 - signal) / (signal * variance + 1.0 - signal)
    return share


def left_by_the_linear_guess(centres: Centres) -> Tensor:
    """The error (N, k) of the linear guess when scoring.

    At one noise level and without noise, so that nothing is drawn: the same for every seed.
    """
    clarity = torch.full((len(centres.white), 1), SCORING_LEVEL)
    return centres.white - centres.linear_guess(clarity.sigmoid().sqrt() * centres.white, clarity)


@torch.no_grad()
def corrections(network: CentreNetwork, centres: Centres) -> Tensor:
    """The correction of that guess by the network, (N, k)."""
    clarity = torch.full((len(centres.white), 1), SCORING_LEVEL)
    noisy = clarity.sigmoid().sqrt() * centres.white
    guess = centres.linear_guess(noisy, clarity)
    added: Tensor = (-clarity).sigmoid().sqrt() * network(noisy, guess, centres.known, clarity)
    return added
