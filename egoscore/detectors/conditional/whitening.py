"""Features as a few uncorrelated numbers of equal size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats, sample_rows, shrunk_covariance

_MOST_AXES = 64
_NODES_PER_AXIS = 8
_WIDEST = 2048  # beyond it the covariance matrix is too large, and is approximated
_SKETCH_ROWS = 5_000
_ROUNDING = 1e-6  # of a feature's variance: a smaller remainder is rounding


@dataclass(frozen=True)
class Whitening:
    """Principal axes of the features, scaled to unit variance.

    Attributes: `mean` (F,), `axes` (F, k). The size of the remainder outside the axes is one
    more number, its logarithm, with mean and deviation `rest`; None if there is no remainder.
    """

    mean: NDArray[np.float64]
    axes: NDArray[np.float64]
    rest: tuple[float, float] | None

    @classmethod
    def fit(
        cls, features: Floats, seed: int, unseen: NDArray[np.float64] | None = None
    ) -> Whitening:
        """The largest axes of `features` (N, F); fewer where there are few nodes.

        `unseen` (F, F) is added to their covariance where that is computed.
        """
        size, width = features.shape
        count = min(width, _MOST_AXES, max(1, size // _NODES_PER_AXIS))
        if width <= _WIDEST:
            mean, axes, variance = _exact_axes(features, count, seed, unseen)
        else:
            mean, axes, variance = _sketched_axes(features, count, seed)
        useful = variance > 1e-6 * max(float(variance[0]), 1e-12)
        useful[0] = True  # where nothing varies, one axis on which all is zero
        scaled = axes[:, useful] / np.sqrt(np.maximum(variance[useful], 1e-12))
        # contiguous as in a file: the memory order changes the last bits of products
        draft = cls(mean, np.ascontiguousarray(scaled), None)
        if len(variance) == width:
            return draft
        left = draft._remainder(features)
        if left.mean() < _ROUNDING * width:
            return draft
        return replace(draft, rest=(float(left.mean()), float(max(left.std(), 1e-6))))

    def apply(self, features: Floats) -> Floats:
        """Features (N, F) as (N, k), or (N, k + 1) with the size of the remainder."""
        white = self._project(features)
        if self.rest is None:
            return white
        centre, spread = self.rest
        left = (self._remainder(features) - centre) / spread
        return np.column_stack([white, left.astype(np.float32)])

    def revert(self, white: Floats) -> Floats:
        """Features (N, F) from (N, k) or (N, k + 1), without the remainder."""
        back = (self.axes / np.maximum(np.square(self.axes).sum(axis=0), 1e-30)).T
        features: Floats = white[:, : len(back)] @ back.astype(np.float32)
        return features + self.mean.astype(np.float32)

    @property
    def variance(self) -> NDArray[np.float64]:
        """The variance of the features along each axis, (k,)."""
        found: NDArray[np.float64] = 1.0 / np.maximum(np.square(self.axes).sum(axis=0), 1e-30)
        return found

    def covariance(self, unseen: NDArray[np.float64]) -> NDArray[np.float64]:
        """A covariance (F, F) of features along the axes, (k, k) or (k + 1, k + 1)."""
        along: NDArray[np.float64] = self.axes.T @ unseen @ self.axes
        return along if self.rest is None else np.pad(along, (0, 1))

    def _project(self, features: Floats) -> Floats:
        white: Floats = (features - self.mean.astype(np.float32)) @ self.axes.astype(np.float32)
        return white

    def _remainder(self, features: Floats) -> NDArray[np.float64]:
        """Logarithm of the squared length of the remainder, (N,)."""
        seen = np.square(self._project(features).astype(np.float64)) @ self.variance
        whole = np.square(features - self.mean).sum(axis=1)
        left: NDArray[np.float64] = np.log1p(np.maximum(whole - seen, 0.0))
        return left


def _exact_axes(
    features: Floats, count: int, seed: int, unseen: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    mean, covariance = shrunk_covariance(features, seed, unseen)
    variance, axes = np.linalg.eigh(covariance)
    return mean, axes[:, ::-1][:, :count], variance[::-1][:count]


def _sketched_axes(
    features: Floats, count: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The same by random projections (Halko et al., 2011), from some of the rows."""
    from sklearn.utils.extmath import randomized_svd

    rows = features[sample_rows(len(features), _SKETCH_ROWS, seed)].astype(np.float64)
    mean = rows.mean(axis=0)
    _, values, axes = randomized_svd(rows - mean, count, random_state=seed % 2**32)
    return mean, axes.T, np.square(values) / max(1, len(rows) - 1)
