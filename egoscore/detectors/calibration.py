"""From values to surprises: minus the logarithm of the share of nodes with at least that value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_GRID = 4096
_LEAST_DECAY = 1e-30  # below, quotients may overflow
BODY = 0.8  # up to this share of the nodes counting is enough; beyond, a tail is fitted


@dataclass(frozen=True)
class Calibration:
    """The distribution of a value over the nodes of the training graph.

    Attributes: `grid` (G,) sorted values, evenly spaced in rank; `start` where the tail begins;
    `decay` its scale: beyond, the logarithm of the share falls linearly; `count` how many nodes;
    `beyond` the share of them in the tail.
    """

    grid: NDArray[np.float64]
    start: float
    decay: float
    count: int
    beyond: float

    @classmethod
    def fit(cls, values: NDArray[np.floating]) -> Calibration:
        """From the values (N,) of all nodes.

        The tail's scale is that of the median excess, which a few outliers do not move
        (peaks over a threshold: Pickands, 1975; exponential, as a power law is in logarithms).
        """
        ordered = np.sort(np.asarray(values, dtype=np.float64))
        ranks = (np.arange(_GRID) + 0.5) / _GRID * len(ordered)
        grid = ordered if len(ordered) <= _GRID else ordered[ranks.astype(np.int64)]
        start = float(np.quantile(ordered, BODY))
        above = ordered[ordered > start] - start
        decay = float(np.median(above)) / np.log(2.0) if len(above) else np.inf
        decay = max(decay, _LEAST_DECAY) if decay > 0 else np.inf
        return cls(grid, start, decay, len(ordered), _share_beyond(len(above), len(ordered)))

    def surprise(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Surprises (N,): among usual nodes on average about one, rarely above seven."""
        values = np.asarray(values, dtype=np.float64)
        below, upto = (np.searchsorted(self.grid, values, side) for side in ("left", "right"))
        share = 1.0 - (below + upto) / 2.0 / len(self.grid)
        body = -np.log(np.maximum(share, 1.0 - BODY))
        tail = -np.log(self.beyond) + np.maximum(values - self.start, 0.0) / self.decay
        result: NDArray[np.float64] = np.where(values > self.start, tail, body)
        return result

    def bounded_surprise(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Surprises (N,), growing only logarithmically beyond values rarer than one in all nodes.

        So no single channel dominates.
        """
        found = self.surprise(values)
        most = max(float(np.log(self.count)), -float(np.log(1.0 - BODY)))
        return np.where(found > most, most + np.log1p(np.maximum(found - most, 0.0)), found)


def _share_beyond(above: int, count: int) -> float:
    """The share of the nodes in the tail: smaller than usual where many share its first value.

    One in all nodes if the tail is empty.
    """
    is_usual = above + 1 >= (1.0 - BODY) * count  # but for rounding
    return 1.0 - BODY if is_usual else max(above, 1) / count
