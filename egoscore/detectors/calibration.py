"""From values to surprises: minus the logarithm of the share of nodes with at least that value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_GRID = 4096
_ROUNDING = 1e-6  # of a large value: what differs by less is equal
_LARGE = 0.9  # quantile
BODY = 0.8  # up to this share of the nodes counting is enough; beyond, a tail is fitted


@dataclass(frozen=True)
class Calibration:
    """The distribution of a value over the nodes of the training graph.

    Attributes: `grid` (G,) sorted values, evenly spaced in rank; `start` where the tail begins;
    `decay` its scale: beyond, the logarithm of the share falls linearly; `count` how many nodes;
    `above` how many of them are in the tail; `rounding`, below which differences do not count.
    """

    grid: NDArray[np.float64]
    start: float
    decay: float
    count: int
    above: int
    rounding: float

    @classmethod
    def fit(cls, values: NDArray[np.floating], least_decay: float = 0.0) -> Calibration:
        """From the values (N,) of all nodes.

        The tail's scale is that of the median excess, which a few outliers do not move
        (peaks over a threshold: Pickands, 1975; exponential, as a power law is in logarithms). It
        is at least `least_decay`: 1 for values that are surprises already.
        """
        ordered = np.sort(np.asarray(values, dtype=np.float64))
        ranks = (np.arange(_GRID) + 0.5) / _GRID * len(ordered)
        grid = ordered if len(ordered) <= _GRID else ordered[ranks.astype(np.int64)]
        sizes = np.abs(ordered)
        large = float(np.quantile(sizes, _LARGE)) or float(sizes.max())
        rounding = _ROUNDING * large
        start = float(np.quantile(ordered, BODY))
        excess = ordered[ordered > start + rounding] - start
        decay = float(np.median(excess)) / np.log(2.0) if len(excess) else np.inf
        return cls(grid, start, max(decay, least_decay), len(ordered), len(excess), rounding)

    @property
    def most(self) -> float:
        """The largest surprise that the number of nodes and the fitted tail support."""
        counted = float(np.log(self.count) + np.log1p(self.above))
        return max(counted, -float(np.log(1.0 - BODY)))

    def surprise(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Surprises (N,): among usual nodes on average about one, rarely above seven.

        They grow only logarithmically beyond the most that can be known.
        """
        return bounded(self._estimated(values), self.most)

    def _estimated(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        values = np.asarray(values, dtype=np.float64)
        below = np.searchsorted(self.grid, values - self.rounding, side="left")
        upto = np.searchsorted(self.grid, values + self.rounding, side="right")
        share = 1.0 - (below + upto) / 2.0 / len(self.grid)
        body = -np.log(np.maximum(share, 1.0 - BODY))
        tail = -np.log(self._share_above) + np.maximum(values - self.start, 0.0) / self.decay
        found: NDArray[np.float64] = np.where(values > self.start + self.rounding, tail, body)
        return found

    def bounded_surprise(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """The same, but growing logarithmically from the rarest of all nodes on.

        So no single channel dominates.
        """
        most = max(float(np.log(self.count)), -float(np.log(1.0 - BODY)))
        return bounded(self._estimated(values), most)

    def p_value(self, surprises: NDArray[np.float64]) -> NDArray[np.float64]:
        """What surprises (N,) mean: no rarer than the nodes and the fitted tail support."""
        return np.exp(-np.minimum(surprises, self.most))

    @property
    def _share_above(self) -> float:
        """The share of the nodes in the tail: smaller than usual where many share its first value.

        One in all nodes if the tail is empty.
        """
        is_usual = self.above + 1 >= (1.0 - BODY) * self.count  # but for rounding
        return 1.0 - BODY if is_usual else max(self.above, 1) / self.count


def bounded(surprises: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Surprises (N,) that grow only logarithmically beyond `most`."""
    return np.where(surprises > most, most + np.log1p(np.maximum(surprises - most, 0.0)), surprises)
