"""How rare a distance is, estimated from the distances of all nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.calibration import bounded

_SHARE, _LEAST, _MOST = 0.1, 10, 200  # nodes whose distances a tail is fitted to
_OUTLIERS = 0.1  # of these, those whose distances may be anything
_BODY = 32  # levels between the body and the tail
_LEAST_SPREAD = 0.05  # of the logarithms: where all are nearly equal, a twentieth more is far
ROUNDING = 1e-6  # relative: values that differ by less are equal


@dataclass(frozen=True)
class Tail:
    """The distribution of the largest tenth of many distances; most nodes have none or negative.

    Up to the k-th largest distance, k at most 200, shares are counted. Beyond, the logarithm of a
    distance is taken to be exponential, as it is for a power law (Hill, 1975); light tails give a
    steep one. Its scale is estimated with the largest tenth of the k censored, so that outliers do
    not hide themselves. As it is known from m distances only, the share of nodes beyond is the mean
    over its posterior, (1 + y / t)^-m, where t is their sum (the Lomax distribution). What c nodes
    have is less extreme than that: by what the fit adds to the counted surprise, divided by √c.

    Several nodes may be one case, such as the members of a clique: they count as one.

    Attributes: `levels` (L,) ascending distances; `cases` (L,) how many have at least that; `start`
    where the tail begins, and `share` there; `total` and `number`, t and m, 0 where there is too
    little to fit a tail to; `size`, the number of all nodes.
    """

    levels: NDArray[np.float64]
    cases: NDArray[np.float64]
    start: float
    share: float
    total: float
    number: int
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
        found = cls(levels, cases[upto], np.inf, 0.0, 0.0, 0, size)
        # one distance for each case
        one_each = far[np.flatnonzero(np.diff(np.floor(cases + ROUNDING), prepend=0.0) > 0)]
        if len(one_each) < _LEAST:
            return found
        last = min(_MOST, len(one_each)) - 1
        excess = np.log(one_each[:last] / one_each[last])
        aside = max(2, int(_OUTLIERS * last))
        number = last - aside
        total = max(float(np.minimum(excess, excess[aside]).sum()), _LEAST_SPREAD * number)
        start = float(one_each[last])
        share = float(each[far >= start * (1.0 - ROUNDING)].sum()) / size
        return replace(found, start=start, share=share, total=total, number=number)

    @property
    def most(self) -> float:
        """The largest surprise that the number of nodes supports."""
        return float(np.log(self.size) + np.log1p(self.number))

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
        surprise = -np.log(np.minimum(np.maximum(self.cases[place], 1.0) / self.size, 1.0))
        if self.number:
            excess = np.log(np.maximum(far / self.start, 1.0))
            fitted = self.number * np.log1p(excess / self.total) - np.log(self.share)
            damping = np.sqrt(np.maximum(self.cases[place], 1.0))
            surprise += np.maximum(fitted - surprise, 0.0) / damping
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
