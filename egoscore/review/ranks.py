"""Ranks of many values among the sorted values of a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.jit import compiled

Floats = NDArray[np.float32]


def mid_ranks(grid: Floats, rounding: np.float32, values: Floats) -> Floats:
    """The ranks (N,) of `values` in `grid` (G,), from 0 to 1.

    Values that differ by less than `rounding` are equal and share the mean of their ranks.
    """
    end = np.searchsorted(grid, grid + rounding, side="right")
    found = np.empty(len(values), dtype=np.float32)
    _fill_ranks(grid, end, values, rounding, found)
    return found


@compiled
def _fill_ranks(grid, end, values, rounding, found):  # type: ignore[no-untyped-def]
    """Half of where equal values begin in the grid plus where they end, over its size."""
    size = len(grid)
    for i in range(len(values)):
        least, low, high = values[i] - rounding, 0, size
        while low < high:
            middle = (low + high) >> 1
            if grid[middle] < least:
                low = middle + 1
            else:
                high = middle
        is_equal = low < size and grid[low] <= values[i] + rounding
        found[i] = (low + (end[low] if is_equal else low)) / (2.0 * size)
