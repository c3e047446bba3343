"""Feature scaling: fitted once on the training graph, then part of the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.text import counted

_ROWS_AT_ONCE = 65_536
_STEADY = 0.999


@dataclass(frozen=True)
class FeatureScaling:
    """Zero mean and unit standard deviation for every feature; a constant feature becomes 0.

    Attributes: `mean` and `factor`, both (F,) float64; `factor` is one over the standard
    deviation, or 0 for a feature that was constant when the scaling was fitted.
    """

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def fit(cls, features: NDArray[np.float32], farthest: float | None = None) -> FeatureScaling:
        """Measure the columns of `features` (N, F).

        If `farthest` is given, values beyond so many standard deviations count as lying there, so
        that one absurd value does not make all others look alike.
        """
        # In float64: a large mean would otherwise swallow a small spread.
        mean = features.mean(axis=0, dtype=np.float64)
        deviation = _deviation(features, mean)
        if farthest is not None:
            reach = np.maximum(features.max(axis=0) - mean, mean - features.min(axis=0))
            for column in np.flatnonzero(reach > farthest * deviation):
                mean[column], deviation[column] = _within(features[:, column], farthest)
        # Constant is what does not vary, not what has a tiny deviation after rounding.
        varies = features.max(axis=0) > features.min(axis=0)
        factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
        return cls(mean, factor)

    def apply(self, graph: AttributedGraph) -> AttributedGraph:
        """The same graph with scaled features."""
        self.require_fitting(graph)
        return replace(graph, features=self.scale(graph.features))

    def require_fitting(self, graph: AttributedGraph) -> None:
        """Refuse a graph with another number of features."""
        if graph.num_features != len(self.mean):
            raise InputError(
                f"The graph has {counted(graph.num_features, 'feature')} but the detector was "
                f"fitted on {len(self.mean)}; give it the same columns in the same order."
            )

    def scale(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features (n, F) of some nodes, scaled."""
        scaled = np.empty_like(features)
        for start in range(0, len(features), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            scaled[rows] = (features[rows] - self.mean) * self.factor
        return scaled

    def unscale(self, scaled: NDArray[np.floating]) -> NDArray[np.float64]:
        """Scaled features (n, F) in the user's units; what was constant stays what it was."""
        spread = np.divide(1.0, self.factor, out=np.zeros_like(self.factor), where=self.factor > 0)
        return scaled * spread + self.mean


def _deviation(features: NDArray[np.float32], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.zeros_like(mean)
    for start in range(0, len(features), _ROWS_AT_ONCE):
        total += np.square(features[start : start + _ROWS_AT_ONCE] - mean).sum(axis=0)
    return np.sqrt(total / len(features))


def _within(values: NDArray[np.float32], farthest: float) -> tuple[float, float]:
    """Mean and deviation of values (N,), of which none counts as more than `farthest` deviations.

    At most one in `farthest`² values stays beyond. If half of the values are equal nothing changes:
    other values are rare there, not absurd.
    """
    wide = values.astype(np.float64)
    mean, deviation = float(wide.mean()), float(wide.std())
    low, high = np.quantile(wide, (0.25, 0.75))
    while low < high:
        kept = np.clip(wide, mean - farthest * deviation, mean + farthest * deviation)
        before, mean, deviation = deviation, float(kept.mean()), float(kept.std())
        if deviation > _STEADY * before:
            break
    return mean, deviation


def standardised(graph: AttributedGraph) -> AttributedGraph:
    """The same graph, every feature with zero mean and unit standard deviation."""
    return FeatureScaling.fit(graph.features).apply(graph)
