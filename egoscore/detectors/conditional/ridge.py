"""The linear prediction of a node's features from its context."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats, sample_rows

_RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_ROWS_TO_CHOOSE = 20_000
_LEAST_VARIANCE = 0.02


@dataclass(frozen=True)
class Context:
    """Ridge regression of the centre's whitened features on its context.

    Attributes: `mean` and `scale` (C,) of the context; `axes` (C, C) and `spread` (C,) of its
    covariance; `slope` (C, k) along those axes; `centre` (k,); `ridge`; `size` how many nodes it
    was fitted on; `variance` (k,) of leave-one-out errors.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    axes: NDArray[np.float64]
    spread: NDArray[np.float64]
    slope: NDArray[np.float64]
    centre: NDArray[np.float64]
    ridge: float
    size: int
    variance: NDArray[np.float64]

    @classmethod
    def fit(cls, known: Floats, white: Floats, seed: int) -> Context:
        """From the context of the nodes `known` (N, C) and their own features `white` (N, k).

        A row of `known` is NaN where a node has no context.

        The ridge minimises the median of the leave-one-out errors, which outliers do not move.
        """
        size = len(known)
        mean, deviation = _usual(known)
        scale = np.where(deviation > 1e-6, 1.0 / np.maximum(deviation, 1e-6), 0.0)
        usual = _standardised(known, mean, scale)
        spread, axes = np.linalg.eigh(usual.T.astype(np.float64) @ usual / size)
        spread = np.maximum(spread, 0.0)
        centre = white.mean(axis=0, dtype=np.float64)
        shared = axes.T @ (usual.T.astype(np.float64) @ (white - centre.astype(np.float32)) / size)
        chosen = sample_rows(size, _ROWS_TO_CHOOSE, seed)

        def with_ridge(ridge: float) -> tuple[Context, Floats]:
            slope = shared / (spread + ridge)[:, None]
            parts = (mean, scale, axes, spread, slope, centre, ridge, size)
            draft = cls(*parts, np.ones(len(centre)))
            return draft, draft.left_out(known[chosen], white[chosen])

        errors = [np.median(np.square(with_ridge(one)[1]).sum(axis=1)) for one in _RIDGES]
        best, left = with_ridge(float(np.exp(_lowest(np.log(_RIDGES), np.array(errors)))))
        remaining = np.square(left).mean(axis=0, dtype=np.float64)
        return replace(best, variance=np.clip(remaining, _LEAST_VARIANCE, 1.0))

    def standardised(self, known: Floats) -> Floats:
        """The context (N, C), every column with zero mean and unit deviation."""
        return _standardised(known, self.mean, self.scale)

    def predict(self, known: Floats) -> Floats:
        """The expected features (N, k)."""
        along = self.standardised(known) @ self.axes.astype(np.float32)
        expected: Floats = along @ self.slope.astype(np.float32) + self.centre.astype(np.float32)
        return expected

    def left_out(self, known: Floats, white: Floats) -> Floats:
        """Leave-one-out errors (N, k), in closed form."""
        along = self.standardised(known) @ self.axes.astype(np.float32)
        expected = along @ self.slope.astype(np.float32) + self.centre.astype(np.float32)
        weight = (1.0 / ((self.spread + self.ridge) * self.size)).astype(np.float32)
        leverage = np.square(along) @ weight + np.float32(1.0 / self.size)
        rest: Floats = (white - expected) / (1.0 - np.minimum(leverage, 0.99))[:, None]
        return rest


def _lowest(places: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Where a curve through `values` (n,) at `places` (n,) is lowest.

    Near the lowest value it is a parabola, so that a small change of the values moves it a little.
    """
    lowest = int(np.argmin(values))
    around = slice(lowest - 1, lowest + 2)
    if lowest in (0, len(values) - 1):
        return float(places[lowest])
    curve, slope, _ = np.polyfit(places[around] - places[lowest], values[around], 2)
    vertex = places[lowest] - slope / (2.0 * curve) if curve > 0 else places[lowest]
    return float(np.clip(vertex, *places[around][[0, -1]]))


def _standardised(known: Floats, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Floats:
    """The standardised context, zero where there is none."""
    usual: Floats = (known - mean.astype(np.float32)) * scale.astype(np.float32)
    return np.nan_to_num(usual, copy=False)


def _usual(known: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation (C,) of the rows that are not NaN."""
    some = known[~np.isnan(known[:, 0])] if known.shape[1] else known
    if not len(some):
        return np.zeros(known.shape[1]), np.zeros(known.shape[1])
    return some.mean(axis=0, dtype=np.float64), some.std(axis=0, dtype=np.float64)
