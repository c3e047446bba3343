"""A column with more categories than there are features for, such as countries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CategoryCodes:
    """The category of every node: `codes` (N,) int32 into `names`, -1 where a node has none."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]
