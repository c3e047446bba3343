"""Amounts: what is a hundred times as much is no farther from ten times than that is from once.

Incomes, prices, counts and sizes spread over orders of magnitude, as a logarithm spreads over
steps. Taken as they are, a few large ones are all that is ever unusual, and one that is far too
small never is. So they are judged by their logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.surprise.covariance import Floats, sample_rows

FARTHEST = 10.0  # deviations of a feature; what lies farther is taken to lie there
_KINDS = ("number", "weight")
_LARGEST = 700.0  # whose exponential is a number
_MOST_ROWS = 20_000  # more do not tell more about the shape of a column
_TAIL = 0.01  # on each side, in which outliers may lie
_LEAST_VALUES = 10  # fewer different ones are grades
_LEAST_SPAN = 3.0  # times as much: what spreads less is about the same in logarithms
_CLEARLY = 3.0  # logarithm of how much likelier: twenty times
_NEAR_ZERO = 0.05  # of the values above zero: where zero is put if there are zeros


@dataclass(frozen=True)
class Scale:
    """Features on one scale: zero mean and unit deviation, of amounts by their logarithms.

    Attributes: `shift` (F,) what is added to an amount before its logarithm is taken, NaN for what
    is no amount; `linear` the scaling of what comes of that.
    """

    shift: NDArray[np.float64]
    linear: FeatureScaling

    @classmethod
    def fit(cls, graph: AttributedGraph, seed: int) -> Scale:
        """Measure the features of a network."""
        shift = _shifts(graph, seed)
        features, columns = graph.features, np.flatnonzero(~np.isnan(shift))
        if len(columns):
            features = features.copy()
            features[:, columns] = np.log(features[:, columns] + shift[columns])
        return cls(shift, FeatureScaling.fit(features, FARTHEST))

    @property
    def amounts(self) -> NDArray[np.int64]:
        """Which features are amounts."""
        return np.flatnonzero(~np.isnan(self.shift))

    def of(self, columns: NDArray[np.int64]) -> Scale:
        """The scale of these features alone."""
        mean, factor = self.linear.mean[columns], self.linear.factor[columns]
        return Scale(self.shift[columns], FeatureScaling(mean, factor))

    def scale(self, raw: NDArray[np.float32]) -> Floats:
        """Features (n, F) on that scale, as far out as they are."""
        columns = self.amounts
        if not len(columns):
            return self.linear.scale(raw)
        # less than nothing, which others may have, is far out and no more
        least = self.linear.mean[columns] - 2.0 * FARTHEST / self.linear.factor[columns]
        above = np.maximum(raw[:, columns] + self.shift[columns], np.finfo(np.float64).tiny)
        levelled = raw.copy()
        levelled[:, columns] = np.maximum(np.log(above), least)
        return self.linear.scale(levelled)

    def unscale(self, scaled: NDArray[np.floating]) -> NDArray[np.float64]:
        """Scaled features (n, F) in the user's units."""
        values = self.linear.unscale(scaled)
        columns = self.amounts
        logs = np.minimum(values[..., columns], _LARGEST)
        values[..., columns] = np.exp(logs) - self.shift[columns]
        return values


def _shifts(graph: AttributedGraph, seed: int) -> NDArray[np.float64]:
    """For every feature that is an amount what to add before taking logarithms, else NaN."""
    some = sample_rows(graph.num_nodes, _MOST_ROWS, seed)
    shifts = np.full(graph.num_features, np.nan)
    for number, column in enumerate(graph.described):
        # what float32 had no digits for spreads little beside its size
        if column.kind in _KINDS and not column.offset:
            least = float(graph.features[:, number].min())
            values = graph.features[some, number].astype(np.float64)
            shifts[number] = _shift(values, least) if least >= 0 else np.nan
    return shifts


def _shift(values: NDArray[np.float64], least: float) -> float:
    """What to add to values (n,), of which zero may be the `least`, or NaN if they are no amounts.

    Amounts are what spreads over several times as much and is clearly more like a Gaussian in
    logarithms (Box & Cox, 1964), both without the tails.
    """
    low, lower, upper, high = np.quantile(values, (_TAIL, 0.25, 0.75, 1.0 - _TAIL))
    if lower == upper or len(np.unique(values)) <= _LEAST_VALUES:
        return np.nan
    shift = 0.0 if least > 0 else float(np.quantile(values[values > 0], _NEAR_ZERO))
    if high + shift < _LEAST_SPAN * (low + shift):
        return np.nan
    usual = values[(values >= low) & (values <= high)]
    logs = np.log(usual + shift)
    gain = len(usual) * np.log(usual.std() / logs.std()) - logs.sum()
    return shift if gain > _CLEARLY else np.nan
