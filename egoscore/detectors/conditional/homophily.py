"""Is a node similar to its neighbours?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.neighbours import Neighbours, clipped

_STRONGEST = 0.9
_COLUMNS_AT_ONCE = 8


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes at a given distance: whether there are any, (N,), and means over them, (N, C).

    `clipped_means` are those of values and of their squares, after clipping.
    """

    is_there: Callable[[Neighbours], NDArray[np.bool_]]
    mean: Callable[[Neighbours, Floats], Floats]
    clipped_means: Callable[[Neighbours, Floats], tuple[Floats, Floats]]


def _clipped_two_steps(near: Neighbours, own: Floats) -> tuple[Floats, Floats]:
    """With the same clipping for every node: limits of its own would take too long here."""
    seen = clipped(own)
    return near.mean_two_steps(seen), near.mean_two_steps(np.square(seen))


ONE_STEP = Neighbourhood(lambda near: near.has_one_step, Neighbours.mean, Neighbours.clipped_means)
TWO_STEPS = Neighbourhood(
    lambda near: near.has_two_steps, Neighbours.mean_two_steps, _clipped_two_steps
)


def dirichlet_energy(near: Neighbours, features: Floats) -> Floats:
    """Mean squared difference to the neighbours, per feature: features (N, F) → (N,).

    The paper's energy at the centre, with clipped neighbours; zero for a node without neighbours.
    """
    energy = np.zeros(len(features), dtype=np.float32)
    for start in range(0, features.shape[1], _COLUMNS_AT_ONCE):
        own = np.ascontiguousarray(features[:, start : start + _COLUMNS_AT_ONCE])
        seen, squares = near.clipped_means(own)
        energy += np.einsum("nf,nf->n", own, own - 2.0 * seen) + squares.sum(axis=1)
    energy[~near.has_one_step] = 0.0
    result: Floats = np.maximum(energy, 0.0).astype(np.float32) / np.float32(features.shape[1])
    return result


@dataclass(frozen=True)
class LinkCorrelations:
    """Correlations of the features of two linked nodes, assumed Gaussian.

    Along `axes` (k, k) of the whitened features, two linked nodes have correlations `strength`
    (k,): positive for homophily, negative for heterophily, 0 where they are not significant.
    """

    axes: NDArray[np.float64]
    strength: NDArray[np.float64]

    @classmethod
    def fit(cls, near: Neighbours, white: Floats, around: Neighbourhood) -> LinkCorrelations:
        """Correlations between a node and the mean of a neighbourhood; `white` (N, k)."""
        width, present = white.shape[1], around.is_there(near)
        if not present.any():
            return cls(np.eye(width), np.zeros(width))
        weight = near.degree * present
        weight = weight / weight.sum(dtype=np.float64).astype(np.float32)
        shared, square = np.empty((2, width, width))
        for start in range(0, width, _COLUMNS_AT_ONCE):
            columns = slice(start, start + _COLUMNS_AT_ONCE)
            part = np.ascontiguousarray(white[:, columns])
            square[:, columns] = white.T @ (part * weight[:, None])
            shared[:, columns] = white.T @ (around.mean(near, part) * weight[:, None])
        common, axes = np.linalg.eigh((shared + shared.T) / 2.0)
        variance = np.einsum("ij,jk,ki->i", axes.T, square, axes)
        strength = np.clip(common / np.maximum(variance, 1e-9), -_STRONGEST, _STRONGEST)
        # the largest that noise gives along any of so many axes (Wigner)
        by_chance = 2.0 * np.sqrt(width / max(1.0, float(near.degree.sum())))
        return cls(axes, np.where(np.abs(strength) > by_chance, strength, 0.0))

    def mismatch(self, near: Neighbours, white: Floats, around: Neighbourhood) -> Floats:
        """Log-likelihood ratio of the features next to strangers and next to neighbours, (N,).

        The mean of log p(x) p(y) / p(x, y) over the neighbourhood: minus the pointwise mutual
        information. By I-MMSE (Guo, Shamai & Verdú, 2005) it is by how much knowing a neighbour
        reduces the error of the best denoiser, over all noise levels; in closed form for Gaussians.
        It is zero for a node without neighbours.
        """
        total = np.zeros(len(white))
        for number in np.flatnonzero(self.strength):
            own = white @ self.axes[:, number : number + 1].astype(np.float32)
            seen, squares = (mean[:, 0] for mean in around.clipped_means(near, own))
            squares = np.square(own[:, 0]) + squares
            total += _log_ratio(self.strength[number], squares, own[:, 0] * seen)
        there = around.is_there(near)
        # a node whose neighbours have no other neighbours is neither unusual nor similar
        usual = np.median(total[there]) if there.any() else 0.0
        total = np.where(there, total, usual)
        return np.where(near.has_one_step, total, 0.0).astype(np.float32)

    def mismatch_of_pairs(self, own: Floats, others: Floats) -> NDArray[np.float64]:
        """The same for one node (1, k) and each of `others` (n, k) by itself, (n,)."""
        mine, theirs = (part @ self.axes.astype(np.float32) for part in (own, others))
        theirs = clipped(theirs, mine)
        squares = np.square(mine) + np.square(theirs)
        return np.asarray(_log_ratio(self.strength, squares, mine * theirs).sum(axis=1))


def _log_ratio(
    rho: NDArray[np.float64], squares: NDArray[np.floating], product: NDArray[np.floating]
) -> NDArray[np.floating]:
    """log p(a) p(b) / p(a, b) of Gaussians with correlation rho, from a² + b² and ab."""
    rest = 1.0 - rho * rho
    return 0.5 * np.log(rest) + (rho * rho * squares - 2.0 * rho * product) / (2.0 * rest)
