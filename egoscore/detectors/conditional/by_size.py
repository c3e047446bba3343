"""What is usual among nodes with a similar number of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_SIZE_GROUPS, _NODES_PER_GROUP = 10, 20
_LEAST_SPREAD = 0.1  # of the median spread of the groups


@dataclass(frozen=True)
class BySize:
    """The distribution of scores among nodes with a similar number of neighbours.

    Attributes: `size` (G,) mean logarithm of the ego size in groups of nodes, ascending; `middle`
    and `spread` (G,) the expected median there, and how far above it the 84% quantile is.
    """

    size: NDArray[np.float64]
    middle: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def fit(cls, values: NDArray[np.floating], ego_size: NDArray[np.int64]) -> BySize:
        """From values (N,) and ego sizes (N,), in groups of about equally many nodes.

        Medians are smoothed by a robust line, so that groups full of outliers have little
        influence: nodes in large cliques are often nearly all the nodes of their size.
        """
        size = np.log(ego_size)
        count = min(_SIZE_GROUPS, max(1, len(size) // _NODES_PER_GROUP))
        places = np.linspace(0.0, 1.0, count + 1)[1:-1]
        # at sizes that occur: between two of them, one node more would move whole groups
        cuts = np.unique(np.quantile(size, places, method="inverted_cdf"))
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
        """All nodes are compared with each other, whatever their size."""
        return cls(np.zeros(1), np.zeros(1), np.ones(1))

    def apply(
        self, values: NDArray[np.floating], ego_size: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Spreads above the median (N,), interpolated between groups."""
        size = np.log(ego_size)
        middle = np.interp(size, self.size, self.middle)
        return (values - middle) / np.interp(size, self.size, self.spread)


def _on_a_line(places: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values (G,) on a robust line over their places (G,): the median of all slopes.

    Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950.
    """
    from scipy.stats import theilslopes

    if len(places) == 1:
        return values
    rise = theilslopes(values, places).slope * places
    return rise + np.median(values - rise)
