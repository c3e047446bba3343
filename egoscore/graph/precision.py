"""Numbers as float32, measured from their median where float32 alone would blur them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_BLUR = 1e-4  # of a standard deviation
_ROUNDING = 2.0**-24  # of float32, relative to the number


def narrowed(values: NDArray[np.float64]) -> tuple[NDArray[np.float32], float]:
    """The numbers minus an offset, and the offset: 0 unless float32 would blur them without one.

    Moments in seconds, dates written as yyyymmdd and latitudes of one town have more digits than
    float32 holds, most of them the same everywhere. Empty cells (NaN) stay empty.
    """
    narrow = values.astype(np.float32)
    known = values[~np.isnan(values)]
    if not _is_blurred(known):
        return narrow, 0.0
    offset = float(np.median(known))
    return (values - offset).astype(np.float32), offset


def _is_blurred(values: NDArray[np.float64]) -> bool:
    if (values.astype(np.float32) == values).all():  # float32 holds them exactly
        return False
    if np.ptp(values) == 0:  # there is nothing to tell apart
        return False
    step = float(np.abs(values).max()) * _ROUNDING
    return step > _MOST_BLUR * float(values.std())
