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
_ROWS_AT_ONCE = 65_536
_TAIL = 0.01  # on each side, in which outliers may lie
_LEAST_VALUES = 10  # fewer different ones are grades
_LEAST_SPAN = 3.0  # times as much: what spreads less is about the same in logarithms
_CLEARLY = 3.0  # logarithm of how much likelier: twenty times
_NEAR_ZERO = 0.05  # of the values above zero: added to all where zeros are usual


@dataclass(frozen=True)
class Scale:
    """Features on one scale: zero mean and unit deviation, of amounts by their logarithms.

    Attributes: `shift` (F,) what is added to an amount before its logarithm is taken, NaN for what
    is no amount; `linear` the scaling of what comes of that; `gap_of` (F,) the feature that says
    where this one is missing, of such a feature itself, -1 where there is none.
    """

    shift: NDArray[np.float64]
    linear: FeatureScaling
    gap_of: NDArray[np.int64]

    @classmethod
    def fit(cls, graph: AttributedGraph, gap_of: NDArray[np.int64], seed: int) -> Scale:
        """Measure the features of a network, each where it is not missing."""
        whole = FeatureScaling.fit(graph.features, FARTHEST)
        shift, mean, factor = np.full(graph.num_features, np.nan), whole.mean, whole.factor
        for number, column in enumerate(graph.described):
            values = _known(graph.features, number, int(gap_of[number]))
            # what float32 had no digits for spreads little beside its size
            if column.kind in _KINDS and not column.offset:
                some = sample_rows(len(values), _MOST_ROWS, seed)
                shift[number] = _shift(values[some].astype(np.float64))
            if not np.isnan(shift[number]) or len(values) < graph.num_nodes:
                measured = FeatureScaling.fit(_levelled(values, shift[number])[:, None], FARTHEST)
                mean[number], factor[number] = measured.mean[0], measured.factor[0]
        return cls(shift, FeatureScaling(mean, factor), gap_of)

    @property
    def amounts(self) -> NDArray[np.int64]:
        """Which features are amounts."""
        return np.flatnonzero(~np.isnan(self.shift))

    def of(self, columns: NDArray[np.int64]) -> Scale:
        """The scale of these features alone."""
        mean, factor = self.linear.mean[columns], self.linear.factor[columns]
        return Scale(self.shift[columns], FeatureScaling(mean, factor), self.gap_of[columns])

    def scale(self, raw: NDArray[np.float32]) -> Floats:
        """Features (n, F) on that scale, as far out as they are."""
        if not len(self.amounts):
            return self.linear.scale(raw)
        scaled = np.empty_like(raw)
        for start in range(0, len(raw), _ROWS_AT_ONCE):
            rows = raw[start : start + _ROWS_AT_ONCE].copy()
            for column in self.amounts:
                rows[:, column] = _levelled(rows[:, column], self.shift[column])
            scaled[start : start + _ROWS_AT_ONCE] = self.linear.scale(rows)
        return scaled

    def unscale(self, scaled: NDArray[np.floating]) -> NDArray[np.float64]:
        """Scaled features (n, F) in the user's units."""
        values = self.linear.unscale(scaled)
        columns = self.amounts
        logs = np.minimum(values[..., columns], _LARGEST)
        values[..., columns] = np.exp(logs) - self.shift[columns]
        return values


def _known(features: Floats, number: int, gap: int) -> Floats:
    """The values of a feature where none is missing, or all if everywhere one is."""
    if gap in (-1, number):
        return features[:, number]
    is_known = features[:, gap] == 0
    return features[is_known, number] if is_known.any() else features[:, number]


def _levelled(values: Floats, shift: float) -> Floats:
    """Logarithms of amounts (n,), or what is no amount as it is; nothing and less is far out."""
    if np.isnan(shift):
        return values
    least = np.finfo(np.float32).tiny
    logs: Floats = np.log(np.maximum(values.astype(np.float64) + shift, least)).astype(np.float32)
    return logs


def _shift(values: NDArray[np.float64]) -> float:
    """What to add to values (n,), or NaN if they are no amounts.

    Amounts are what is not below zero, spreads over several times as much and is clearly more like
    a Gaussian in logarithms (Box & Cox, 1964), all without the tails: a few zeros, or less, among
    amounts are wrong entries, many are amounts that are nothing. To whole numbers one is added, as
    none is next to one there.
    """
    low, lower, upper, high = np.quantile(values, (_TAIL, 0.25, 0.75, 1.0 - _TAIL))
    if low < 0 or lower == upper or len(np.unique(values)) <= _LEAST_VALUES:
        return np.nan
    shift = float((values == np.round(values)).all())
    if low == 0:
        shift = float(np.quantile(values[values > 0], _NEAR_ZERO))
    if high + shift < _LEAST_SPAN * (low + shift):
        return np.nan
    usual = values[(values >= low) & (values <= high)]
    logs = np.log(usual + shift)
    gain = len(usual) * np.log(usual.std() / logs.std()) - logs.sum()
    return shift if gain > _CLEARLY else np.nan
