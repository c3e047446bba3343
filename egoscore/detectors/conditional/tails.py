"""How rare a distance is, estimated from the distances of all nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.calibration import bounded

_SHARE, _LEAST, _MOST = 0.1, 10, 200  # nodes whose distances a tail is fitted to
_FAR = 25  # of these, the farthest, which have a fit of their own
_OUTLIERS = 0.1  # of these, those whose distances may be anything
_BODY = 32  # levels between the body and the tail
_LEAST_SPREAD = 0.05  # of the logarithms: where all are nearly equal, a twentieth more is far
ROUNDING = 1e-6  # relative: values that differ by less are equal


@dataclass(frozen=True)
class Slope:
    """How fast the share of nodes falls beyond a distance.

    The logarithm of a distance is taken to be exponential, as it is for a power law (Hill, 1975);
    light tails give a steep one. Its scale is estimated with the largest tenth censored, so that
    outliers do not hide themselves. As it is known from m distances only, the share of nodes beyond
    is the mean over its posterior, (1 + y / t)^-m, where t is their sum (the Lomax distribution).

    Attributes: `start` the distance; `share` of the nodes beyond; `total` and `number`, t and m.
    """

    start: float
    share: float
    total: float
    number: int

    @classmethod
    def fit(cls, far: NDArray[np.float64], share: float) -> Self:
        """From the farthest distances (k,), which descend, and the share of nodes there."""
        last = len(far) - 1
        excess = np.log(far[:last] / far[last])
        aside = max(2, int(_OUTLIERS * last))
        number = last - aside
        total = max(float(np.minimum(excess, excess[aside]).sum()), _LEAST_SPREAD * number)
        return cls(float(far[last]), share, total, number)

    def surprise(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Minus the logarithm of the share of nodes beyond distances (n,)."""
        excess = np.log(np.maximum(distances / self.start, 1.0))
        found: NDArray[np.float64] = self.number * np.log1p(excess / self.total)
        found -= np.log(self.share)
        return found


@dataclass(frozen=True)
class Tail:
    """The distribution of the largest tenth of many distances; most nodes have none or negative.

    Up to the k-th largest distance shares are counted, and beyond, a slope is fitted. k is 200, or
    25, so that the body of a heavy tail does not hide a gap at its end; the fit by which a distance
    is rarer counts, less the logarithm of two, as there are two. What c nodes have is less extreme
    than that: what the fit adds to the counted surprise is divided by c.

    Several nodes may be one case, such as the members of a clique: they count as one.

    Attributes: `levels` (L,) ascending distances; `cases` (L,) how many have at least that;
    `slopes`, none where there is too little to fit one to; `size`, the number of all nodes.
    """

    levels: NDArray[np.float64]
    cases: NDArray[np.float64]
    slopes: tuple[Slope, ...]
    size: int

    @classmethod
    def fit(
        cls, distances: NDArray[np.floating], members: NDArray[np.floating] | None = None
    ) -> Tail:
        """From the distances (N,) of all nodes, each of `members` (N,) of one case."""
        size = len(distances)
        room = max(_LEAST, int(_SHARE * size))
        rows = np.arange(size) if size <= room else np.argpartition(distances, size - room)[-room:]
        rows = rows[distances[rows] > 0]
        rows = rows[np.argsort(-distances[rows], kind="stable")]
        far: NDArray[np.float64] = distances[rows].astype(np.float64)
        each = np.ones(len(far)) if members is None else 1.0 / members[rows].astype(np.float64)
        cases = np.cumsum(each).astype(np.float64)
        levels, upto = _choose_levels(far)
        found = cls(levels, cases[upto], (), size)
        # one distance for each case
        one_each = far[np.flatnonzero(np.diff(np.floor(cases + ROUNDING), prepend=0.0) > 0)]
        slopes = []
        for count in sorted({min(most, len(one_each)) for most in (_FAR, _MOST)}):
            if count >= _LEAST:
                is_beyond = far >= one_each[count - 1] * (1.0 - ROUNDING)
                share = float(each[is_beyond].sum()) / size
                slopes.append(Slope.fit(one_each[:count], share))
        return replace(found, slopes=tuple(slopes))

    @property
    def most(self) -> float:
        """The largest surprise that the number of nodes supports."""
        known = max((slope.number for slope in self.slopes), default=0)
        return float(np.log(self.size) + np.log1p(known))

    def of(self, distances: NDArray[np.floating]) -> NDArray[np.float32]:
        """Surprises (N,), 0 for distances within the body.

        Beyond what the number of nodes supports they grow only logarithmically.
        """
        found = np.zeros(len(distances), dtype=np.float32)
        if not len(self.levels):
            return found
        levels = self.levels * (1.0 - ROUNDING)
        is_far = distances >= levels[0]
        far = distances[is_far].astype(np.float64)
        place = np.searchsorted(levels, far, side="right") - 1
        cases = np.maximum(self.cases[place], 1.0)
        surprise = -np.log(np.minimum(cases / self.size, 1.0))
        if self.slopes:
            fitted = np.max([slope.surprise(far) for slope in self.slopes], axis=0)
            fitted -= np.log(len(self.slopes))
            surprise += np.maximum(fitted - surprise, 0.0) / cases
        found[is_far] = bounded(surprise, self.most)
        return found


def _choose_levels(far: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Some of the distances (n,), which descend, in ascending order, and the last row of each."""
    ranks = np.arange(min(_MOST, len(far)))
    if len(far) > _MOST:
        more = np.geomspace(_MOST, len(far) - 1, _BODY).astype(np.int64)
        ranks = np.unique(np.concatenate([ranks, more]))
    levels = np.unique(far[ranks])
    return levels, np.searchsorted(-far, -levels * (1.0 - ROUNDING), side="right") - 1
