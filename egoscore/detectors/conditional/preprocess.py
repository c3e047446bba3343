"""Features as they are scored: scaled, amounts by their logarithms, bounded, gaps filled.

Amounts (incomes, prices, counts, sizes) spread over orders of magnitude. On their own scale, only a
few large ones are ever unusual, and one that is far too small never is; so their logarithms are
scored.

A missing value is a feature of its own, 1 where the value is missing. The reader filled the cell,
so what stands there is no observation: it is replaced by what the neighbours have. A 1 among many 0
is far out in deviations, 1 in 50 by seven: it counts as far as a Gaussian value whose density is a
fiftieth of the highest, 2.8.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.detectors.conditional.covariance import Floats, sample_rows
from egoscore.detectors.conditional.neighbours import clipped, neighbour_mean
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.graph.feature_column import FeatureColumn

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
_FEW, _FEW_WRONG = 3, 0.002  # wrong entries: a few, or a share of the values
_ROUNDING = 1e-3  # of a unit
_GAP = "missing"
_WIDEST = 2048  # features, beyond which no covariance of all of them is computed


@dataclass(frozen=True)
class Scale:
    """Features on one scale: zero mean and unit deviation, of amounts by their logarithms.

    Attributes: `shift` (F,) added to an amount before its logarithm is taken, NaN for other
    features; `linear` the scaling of the result; `gap_of` (F,) the feature that marks where this
    one is missing, itself for such a marker, -1 where there is none.
    """

    shift: NDArray[np.float64]
    linear: FeatureScaling
    gap_of: NDArray[np.int64]

    @classmethod
    def fit(cls, graph: AttributedGraph, gap_of: NDArray[np.int64], seed: int) -> Scale:
        """Measure the features of a graph, each where it is not missing."""
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
        """Features (n, F) on that scale, not clipped."""
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
    """The values of a feature where it is not missing; all values if it always is."""
    if gap in (-1, number):
        return features[:, number]
    is_known = features[:, gap] == 0
    return features[is_known, number] if is_known.any() else features[:, number]


def _levelled(values: Floats, shift: float) -> Floats:
    """Logarithms of amounts (n,), other values unchanged; amounts of zero or less are extreme."""
    if np.isnan(shift):
        return values
    least = np.finfo(np.float32).tiny
    logs: Floats = np.log(np.maximum(values.astype(np.float64) + shift, least)).astype(np.float32)
    return logs


def _shift(values: NDArray[np.float64]) -> float:
    """What to add to values (n,), or NaN if they are no amounts.

    Amounts are not negative, spread over a factor of several, and their logarithms are clearly
    closer to a Gaussian (Box & Cox, 1964). All of this ignores the tails: a few zeros or negative
    values among amounts are wrong entries; many zeros are amounts of zero.
    """
    low, lower, upper, high = np.quantile(values, (_TAIL, 0.25, 0.75, 1.0 - _TAIL))
    different = np.unique(values)
    if lower == upper or len(different) <= _LEAST_VALUES or not is_hardly_negative(values):
        return np.nan
    low = max(low, float(values[values >= 0].min()))  # a few negative values may reach further
    shift = _unit(different)
    if low == 0:
        shift = float(np.quantile(values[values > 0], _NEAR_ZERO))
    if high + shift < _LEAST_SPAN * (low + shift):
        return np.nan
    usual = values[(values >= low) & (values <= high)]
    logs = np.log(usual + shift)
    gain = len(usual) * np.log(usual.std() / logs.std()) - logs.sum()
    return shift if gain > _CLEARLY else np.nan


def is_hardly_negative(values: NDArray[np.floating]) -> bool:
    """Whether negative values (n,) are so few that they are wrong entries."""
    return is_hardly(int((values < 0).sum()), len(values))


def is_hardly(count: int, of: int) -> bool:
    """Whether values are so few that they are wrong entries."""
    return count <= max(_FEW, _FEW_WRONG * of)


def _unit(different: NDArray[np.float64]) -> float:
    """The unit in which the `different` values (n,), ascending, are whole numbers; 0 if in none.

    It is added to counts, among which zero is next to one.
    """
    unit = float(np.diff(different).min())
    parts = different / unit
    return unit if np.abs(parts - np.round(parts)).max() < _ROUNDING else 0.0


def fit_scale(graph: AttributedGraph, seed: int) -> Scale:
    """Zero mean and unit deviation; markers of missing values are scaled by how rare they are."""
    scale = Scale.fit(graph, _gap_of(graph.described), seed)
    gaps = [number for number, column in enumerate(graph.described) if column.kind == _GAP]
    share = np.clip(scale.linear.mean[gaps], 1e-9, 1.0 - 1e-9)
    rare = np.minimum(share, 1.0 - share)
    # the deviations by which the rarer of 0 and 1 is out, and by which it is to count
    out, as_rare = np.sqrt((1.0 - rare) / rare), np.sqrt(-2.0 * np.log(rare))
    factor = scale.linear.factor.copy()
    factor[gaps] *= np.minimum(1.0, as_rare / out)
    return replace(scale, linear=replace(scale.linear, factor=factor))


def preprocess(
    scale: Scale, graph: AttributedGraph, nodes: NDArray[np.integer] | None = None
) -> Floats:
    """The features (n, F) of some nodes, or of all."""
    raw = graph.features if nodes is None else graph.features[nodes]
    found = scale.scale(raw)
    np.clip(found, -FARTHEST, FARTHEST, out=found)
    gaps = gap_features(scale)
    links = graph.neighbours.to_scipy() if len(gaps) else None
    for gap in gaps:
        rows = np.flatnonzero(raw[:, gap])
        if links is not None and len(rows):
            columns = np.setdiff1d(np.flatnonzero(scale.gap_of == gap), gap)
            near = links[rows if nodes is None else nodes[rows]]
            found[np.ix_(rows, columns)] = _around(scale, graph, near, int(gap), columns)
    return found


def gap_covariance(features: Floats, gaps: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """The covariance (F, F) to add to that of features (n, F) so that gaps keep their size.

    It brings the variance of each of `gaps` to one, with the correlations that the gaps have. None
    where there are no gaps, or too many features to compute a covariance.
    """
    if not len(gaps) or features.shape[1] > _WIDEST:
        return None
    covariance = np.atleast_2d(np.cov(features[:, gaps].astype(np.float64), rowvar=False, ddof=0))
    deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    lacking = np.sqrt(np.maximum(1.0 - np.square(deviation), 0.0)) / deviation
    unseen = np.zeros((features.shape[1],) * 2)
    unseen[np.ix_(gaps, gaps)] = covariance * np.outer(lacking, lacking)
    return unseen


def gap_features(scale: Scale) -> NDArray[np.int64]:
    """The features that mark where others are missing."""
    return np.unique(scale.gap_of[scale.gap_of >= 0])


def _gap_of(columns: tuple[FeatureColumn, ...]) -> NDArray[np.int64]:
    """For every feature the one that marks where it is missing, itself for a marker, or -1."""
    gaps = {column.name: number for number, column in enumerate(columns) if column.kind == _GAP}
    found = [-1 if column.is_computed else gaps.get(column.name, -1) for column in columns]
    return np.array(found, dtype=np.int64)


def _around(
    scale: Scale,
    graph: AttributedGraph,
    links: sparse.csr_array,
    gap: int,
    columns: NDArray[np.int64],
) -> Floats:
    """The mean of the neighbours' values in `columns`, (n, c), missing values counting as zero.

    So where hardly anybody has a value, the few that do do not make their neighbours unusual.
    """
    others = np.unique(links.indices)
    has_one = (graph.features[others, gap] == 0.0).astype(np.float32)[:, None]
    theirs = graph.features[np.ix_(others, columns)]
    values = clipped(scale.of(columns).scale(theirs)) * has_one
    return neighbour_mean(links[:, others], values)
