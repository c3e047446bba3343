"""Within which values a column lies: nothing beyond them is told as expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Seen:
    """The least and the greatest value of every column, (C,) each."""

    least: NDArray[np.float64]
    greatest: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.floating], mean: NDArray[np.float64]) -> Seen:
        """Of a network's values (N, C), and the `mean` (C,) of those it is compared with."""
        return cls(np.minimum(values.min(axis=0), mean), np.maximum(values.max(axis=0), mean))

    def bring_within(
        self, observed: NDArray[np.float64], expected: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What is expected (C,), not beyond what was seen; and the share of the difference left."""
        within = np.clip(expected, self.least, self.greatest)
        whole = observed - expected
        left = np.divide(observed - within, whole, out=np.ones_like(whole), where=whole != 0)
        return within, np.clip(left, 0.0, 1.0)
