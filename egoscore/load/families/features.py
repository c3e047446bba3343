"""Features of a varied network: numbers, heavy-tailed ones, categories, words, a curved surface.

All start from the same hidden values: what a node shares with its neighbours and what it does not,
both of low rank so that features predict each other, and noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoscore.load.generate_edges import Ints

_MAX_RANK = 8
_HIDDEN_UNITS = 32
_LARGEST = 8  # beyond this many units a heavy tail is cut: one value should not decide all

Floats = NDArray[np.float64]


class Hidden(NamedTuple):
    """What features are made of.

    Attributes: `common` (N, R) what a node shares with its neighbours; `own` (N, Q) what it does
    not; `base` (N, F) both, as seen in the features; `noise` (N, F).
    """

    common: Floats
    own: Floats
    base: Floats
    noise: Floats


def draw_features(
    rng: np.random.Generator,
    kind: str,
    num_features: int,
    community: Ints,
    positions: Floats | None = None,
) -> NDArray[np.float32]:
    """Features (N, num_features) of this `kind`, a name in `FEATURE_KINDS`.

    What nodes share depends on their `community` (N,) or, given `positions` (N, 2) on a plane,
    changes smoothly over it.
    """
    hidden = _draw_hidden(rng, num_features, community, positions)
    features = FEATURE_KINDS[kind](rng, hidden)
    if kind not in BINARY:
        features = features * np.exp(0.7 * rng.standard_normal(num_features))
    return features.astype(np.float32)


def _draw_hidden(
    rng: np.random.Generator, num_features: int, community: Ints, positions: Floats | None
) -> Hidden:
    common_loadings = _draw_loadings(rng, num_features // 2, num_features)
    own_loadings = _draw_loadings(rng, num_features // 4, num_features)
    rank = len(common_loadings)
    if positions is None:
        common = rng.standard_normal((community.max() + 1, rank))[community]
    else:
        plane = positions.shape[1]
        common = positions @ rng.standard_normal((plane, rank)) / math.sqrt(plane) * 1.2
    common = 1.3 * common
    own = rng.standard_normal((len(community), len(own_loadings)))
    base = common @ common_loadings + own @ own_loadings
    return Hidden(common, own, base, noise=rng.standard_normal(base.shape))


def _draw_loadings(rng: np.random.Generator, rank: int, width: int) -> Floats:
    """Loadings (rank within 1 … 8, width) that give every feature unit variance."""
    loadings = rng.standard_normal((min(max(rank, 1), _MAX_RANK), width))
    loadings /= np.linalg.norm(loadings, axis=0)
    return loadings


def _gaussian(rng: np.random.Generator, hidden: Hidden) -> Floats:
    """Normal deviates, correlated."""
    return hidden.base + 0.45 * hidden.noise


def _heavy(rng: np.random.Generator, hidden: Hidden) -> Floats:
    """Heavy tails: Student's t, stretched to about the exponential of it on both sides."""
    values = hidden.base + 0.45 * rng.standard_t(3, hidden.base.shape)
    sizes: Floats = np.expm1(np.minimum(np.abs(values), _LARGEST) * 0.5)
    return np.sign(values) * sizes


def _categorical(rng: np.random.Generator, hidden: Hidden) -> Floats:
    """A few categorical variables, each as about four columns of which one is 1."""
    num_nodes, width = hidden.base.shape
    features = np.zeros((num_nodes, width))
    for columns in np.array_split(np.arange(width), max(2, width // 4)):
        # The largest of logits with Gumbel noise is a draw by their softmax.
        logits = 1.5 * hidden.base[:, columns] + rng.gumbel(size=(num_nodes, len(columns)))
        features[np.arange(num_nodes), columns[logits.argmax(axis=1)]] = 1
    return features


def _words(rng: np.random.Generator, hidden: Hidden) -> Floats:
    """0 and 1, mostly 0: words that occur or not."""
    logits = 1.5 * hidden.base - 1.8 + rng.logistic(size=hidden.base.shape) * 0.8
    return (logits > 0).astype(np.float64)


def _curved(rng: np.random.Generator, hidden: Hidden) -> Floats:
    """A curved surface, from a random network with one hidden layer, and a little noise."""
    inputs = np.hstack([hidden.common, hidden.own])
    width = hidden.base.shape[1]
    first = rng.standard_normal((inputs.shape[1], _HIDDEN_UNITS))
    second = rng.standard_normal((_HIDDEN_UNITS, width)) / math.sqrt(_HIDDEN_UNITS)
    surface: Floats = np.tanh(inputs @ first / math.sqrt(len(first)) * 2) @ second * 1.5
    return surface + 0.3 * hidden.noise


FEATURE_KINDS: dict[str, Callable[[np.random.Generator, Hidden], Floats]] = {
    "gaussian": _gaussian,
    "heavy": _heavy,
    "categorical": _categorical,
    "words": _words,
    "curved": _curved,
}
BINARY = ("categorical", "words")
