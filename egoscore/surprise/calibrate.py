"""From any number to a surprise: minus the logarithm of how often one sees as much or more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_GRID = 4096
_SIZE_GROUPS, _NODES_PER_GROUP = 10, 20
_LEAST_SPREAD = 0.1  # of the median spread of the groups
_LEAST_DECAY = 1e-30  # below, a quotient may be no number any more
BODY = 0.8  # up to this share of the nodes counting is enough; beyond, a tail is fitted


@dataclass(frozen=True)
class Calibration:
    """The distribution of a value over the nodes of the training network.

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
        """Surprises (N,) that no single channel can carry to any height.

        Rarer than one in all nodes cannot have been seen: beyond, only the logarithm counts.
        """
        found = self.surprise(values)
        most = max(float(np.log(self.count)), -float(np.log(1.0 - BODY)))
        return np.where(found > most, most + np.log1p(np.maximum(found - most, 0.0)), found)


def _share_beyond(above: int, count: int) -> float:
    """The share of the nodes in the tail: less than usual where many have the value it begins at.

    One in all, where none is: then as much was never seen.
    """
    is_usual = above + 1 >= (1.0 - BODY) * count  # but for rounding
    return 1.0 - BODY if is_usual else max(above, 1) / count


@dataclass(frozen=True)
class BySize:
    """What is usual among nodes with about as many neighbours.

    Attributes: `size` (G,) mean logarithm of the ego size in groups of nodes, ascending; `middle`
    and `spread` (G,) the median to be expected there, and how far above it the 84% quantile.
    """

    size: NDArray[np.float64]
    middle: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def fit(cls, values: NDArray[np.floating], ego_size: NDArray[np.int64]) -> BySize:
        """From values (N,) and ego sizes (N,), in groups of about equally many nodes.

        What is expected changes along a line, which two of ten groups full of outliers do not
        move far: those in large cliques are almost all there is of their size.
        """
        size = np.log(ego_size)
        count = min(_SIZE_GROUPS, max(1, len(size) // _NODES_PER_GROUP))
        cuts = np.unique(np.quantile(size, np.linspace(0.0, 1.0, count + 1)[1:-1]))
        group = np.searchsorted(cuts, size, side="right")
        found = []
        for number in np.unique(group):
            mine = group == number
            middle, above = np.quantile(values[mine], (0.5, 0.84))
            found.append((size[mine].mean(), middle, above - middle))
        places, middles, spreads = np.array(found).T
        least = max(_LEAST_SPREAD * float(np.median(spreads)), 1e-9)
        widths = np.log(np.maximum(spreads, least))
        return cls(places, _on_a_line(places, middles), np.exp(_on_a_line(places, widths)))

    @classmethod
    def ignored(cls) -> BySize:
        """Nothing is usual in particular: all nodes are compared as they are."""
        return cls(np.zeros(1), np.zeros(1), np.ones(1))

    def apply(
        self, values: NDArray[np.floating], ego_size: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How many spreads above what is usual (N,), between groups in a straight line."""
        size = np.log(ego_size)
        middle = np.interp(size, self.size, self.middle)
        return (values - middle) / np.interp(size, self.size, self.spread)


def _on_a_line(places: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values (G,) brought onto a line over their places (G,): the median of all slopes.

    Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950.
    """
    from scipy.stats import theilslopes

    if len(places) == 1:
        return values
    rise = theilslopes(values, places).slope * places
    return rise + np.median(values - rise)
