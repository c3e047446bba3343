"""How unusual a value is among nodes with ego-graphs of about the same size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.text import counted

_ENOUGH = 100
_RATIOS = (1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 16.0, np.inf)


def peers_of(ego_size: NDArray[np.integer], node: int) -> NDArray[np.int64]:
    """The nodes with ego-graphs of a similar size: at least 100 if there are as many."""
    size = int(ego_size[node])
    found = np.arange(len(ego_size))
    for ratio in _RATIOS:
        near = (ego_size >= size / ratio) & (ego_size <= size * ratio)
        found = np.flatnonzero(near)
        if len(found) >= _ENOUGH:
            break
    return found


def describe_peers(ego_size: NDArray[np.integer], group: NDArray[np.int64]) -> str:
    """These nodes in words: how many there are, and the sizes of their ego-graphs."""
    low, high = int(ego_size[group].min()), int(ego_size[group].max())
    span = counted(high, "node") if low == high else f"{low:,} to {counted(high, 'node')}"
    whose = "whose ego-graph has" if len(group) == 1 else "whose ego-graphs have"
    return f"{counted(len(group), 'node')} {whose} {span}"


def percentile(values: NDArray[np.floating], value: float) -> float:
    """The percentage of `values` that are smaller; equal values count half."""
    less, equal = (values < value).mean(), (values == value).mean()
    return 100.0 * float(less + equal / 2.0)


def surprise(values: NDArray[np.floating], value: float) -> float:
    """Minus the logarithm of the share of `values` at least as large as `value`, one of them."""
    return -float(np.log(1.0 - percentile(values, value) / 100.0))
