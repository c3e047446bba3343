"""Covariances that are reliable with few nodes, and distances in their units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.random import Purpose, uniforms

Floats = NDArray[np.float32]
_MOST_ROWS = 20_000  # more rows hardly change a covariance
_SMALLEST = 1e-6  # of the largest variance: anything below is rounding


def shrunk_covariance(
    rows: Floats, seed: int, unseen: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean (C,) and covariance (C, C) of rows (N, C), shrunk to a multiple of the identity.

    `unseen` (C, C) is a covariance to add: variance that the rows do not show.

    Ledoit & Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.
    """
    from sklearn.covariance import ledoit_wolf

    chosen = sample_rows(len(rows), _MOST_ROWS, seed)
    sample = np.asarray(rows[chosen], dtype=np.float64)
    mean = sample.mean(axis=0)
    covariance = np.zeros((len(mean), len(mean)))
    if len(sample) > 1:
        covariance, _ = ledoit_wolf(sample - mean, assume_centered=True)
    return mean, covariance if unseen is None else covariance + unseen


def sample_rows(count: int, most: int, seed: int) -> NDArray[np.int64]:
    """At most `most` of the numbers below `count`, in order; the same for the same seed."""
    numbers = np.arange(count)
    if count <= most:
        return numbers
    drawn = uniforms(seed, Purpose.SAMPLE_ROWS, 0, numbers)[:, 0]
    return np.sort(np.argpartition(drawn, most)[:most])


@dataclass(frozen=True)
class Distance:
    """The Mahalanobis distance: `mean` (C,), and `whiten` (C, C) to unit covariance."""

    mean: NDArray[np.float64]
    whiten: NDArray[np.float64]

    @classmethod
    def fit(cls, rows: Floats, seed: int, unseen: NDArray[np.float64] | None = None) -> Distance:
        """The distance fitted to `rows` (N, C); `unseen` (C, C) as above."""
        mean, covariance = shrunk_covariance(rows, seed, unseen)
        variance, axes = np.linalg.eigh(covariance)
        least = max(_SMALLEST * float(variance[-1]), 1e-30)
        return cls(mean, axes / np.sqrt(np.maximum(variance, least)))

    def squared(self, rows: Floats) -> Floats:
        """Squared distances (N,) of rows (N, C) from the mean, divided by C."""
        white = (rows - self.mean.astype(np.float32)) @ self.whiten.astype(np.float32)
        squares: Floats = np.einsum("nc,nc->n", white, white)
        return squares / np.float32(max(1, rows.shape[1]))
