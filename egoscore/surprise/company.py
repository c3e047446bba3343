"""Does a node fit those around it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.surprise.covariance import Floats
from egoscore.surprise.neighbours import Neighbours, as_seen_by_others

_STRONGEST = 0.9
_COLUMNS_AT_ONCE = 8
Averages = Callable[[Neighbours, Floats], Floats]


def one_step(near: Neighbours, values: Floats) -> Floats:
    """Means over the neighbours."""
    return near.mean(values)


def two_steps(near: Neighbours, values: Floats) -> Floats:
    """Means over the neighbours of the neighbours."""
    return near.mean_two_steps(values)


def dirichlet_energy(near: Neighbours, features: Floats) -> Floats:
    """Mean squared difference to the neighbours, per feature: features (N, F) → (N,).

    The paper's energy, taken at the centre, neighbours being as others see them; zero for a node
    without neighbours.
    """
    energy = np.zeros(len(features), dtype=np.float32)
    for start in range(0, features.shape[1], _COLUMNS_AT_ONCE):
        own = np.ascontiguousarray(features[:, start : start + _COLUMNS_AT_ONCE])
        seen = as_seen_by_others(own)
        energy += near.mean(np.square(seen).sum(axis=1, keepdims=True))[:, 0]
        energy += np.einsum("nf,nf->n", own, own - 2.0 * near.mean(seen))
    energy[~near.has_one_step] = 0.0
    result: Floats = np.maximum(energy, 0.0).astype(np.float32) / np.float32(features.shape[1])
    return result


@dataclass(frozen=True)
class Likeness:
    """How the features of two linked nodes go together, were both Gaussian.

    Along `axes` (k, k) of the whitened features, two linked nodes have correlations `strength`
    (k,): positive where like goes with like, negative where opposites do, 0 where chance would
    give as much.
    """

    axes: NDArray[np.float64]
    strength: NDArray[np.float64]

    @classmethod
    def fit(
        cls, near: Neighbours, white: Floats, average: Averages, present: NDArray[np.bool_]
    ) -> Likeness:
        """Correlations between a node and the `average` of those around it; `white` (N, k)."""
        width = white.shape[1]
        if not present.any():
            return cls(np.eye(width), np.zeros(width))
        weight = near.degree * present
        weight = weight / weight.sum(dtype=np.float64).astype(np.float32)
        shared, square = np.empty((2, width, width))
        for start in range(0, width, _COLUMNS_AT_ONCE):
            columns = slice(start, start + _COLUMNS_AT_ONCE)
            part = np.ascontiguousarray(white[:, columns])
            square[:, columns] = white.T @ (part * weight[:, None])
            shared[:, columns] = white.T @ (average(near, part) * weight[:, None])
        common, axes = np.linalg.eigh((shared + shared.T) / 2.0)
        variance = np.einsum("ij,jk,ki->i", axes.T, square, axes)
        strength = np.clip(common / np.maximum(variance, 1e-9), -_STRONGEST, _STRONGEST)
        # the largest that noise gives along any of so many axes (Wigner)
        by_chance = 2.0 * np.sqrt(width / max(1.0, float(near.degree.sum())))
        return cls(axes, np.where(np.abs(strength) > by_chance, strength, 0.0))

    def mismatch(
        self, near: Neighbours, white: Floats, average: Averages, present: NDArray[np.bool_]
    ) -> Floats:
        """How much likelier the features are with strangers than with those around, (N,).

        The mean over those around of log p(x) p(y) / p(x, y): minus their pointwise mutual
        information. By I-MMSE (Guo, Shamai & Verdú, 2005) it is what knowing a neighbour takes off
        the error of the best denoiser, over all noise levels; for Gaussians in closed form.
        """
        total = np.zeros(len(white))
        for number in np.flatnonzero(self.strength):
            own = white @ self.axes[:, number].astype(np.float32)
            seen = as_seen_by_others(own)
            around = average(near, np.column_stack([seen, np.square(seen)]))
            squares = np.square(own) + around[:, 1]
            total += _log_ratio(self.strength[number], squares, own * around[:, 0])
        return np.where(present, total, 0.0).astype(np.float32)

    def mismatch_of_pairs(self, own: Floats, others: Floats) -> NDArray[np.float64]:
        """The same for one node (1, k) and each of `others` (n, k) by itself, (n,)."""
        mine, theirs = (part @ self.axes.astype(np.float32) for part in (own, others))
        theirs = as_seen_by_others(theirs)
        squares = np.square(mine) + np.square(theirs)
        return np.asarray(_log_ratio(self.strength, squares, mine * theirs).sum(axis=1))


def _log_ratio(
    rho: NDArray[np.float64], squares: NDArray[np.floating], product: NDArray[np.floating]
) -> NDArray[np.floating]:
    """log p(a) p(b) / p(a, b) of Gaussians with correlation rho, from a² + b² and ab."""
    rest = 1.0 - rho * rho
    return 0.5 * np.log(rest) + (rho * rho * squares - 2.0 * rho * product) / (2.0 * rest)
