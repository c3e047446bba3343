"""How large prediction errors of features usually are, and how they correlate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.deviations import FAR
from egoscore.graph.feature_column import FeatureColumn

LEAST_DEVIATION = 1e-3  # of a feature's error; anything smaller is rounding
_RIDGE = 1e-6
_MOST_ASIDE = 12  # columns set aside one after the other, more than are reported


@dataclass(frozen=True)
class UsualErrors:
    """How the errors of features usually correlate.

    A feature is compared with its prediction from the neighbourhood and from the node's other
    features: in generated graphs with replaced values, the largest deviation is then a replaced
    value more often than with the neighbourhood alone (docs/explanations.md). A deviating column is
    not used to predict the others, so that one absurd value does not make all predictions absurd.

    Attributes: `precision` (F, F) of the errors, None if there are too many features for it;
    `deviation` (F,); `groups` the features of each column, which do not predict each other.
    """

    precision: NDArray[np.float64] | None
    deviation: NDArray[np.float64]
    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def from_covariance(
        cls, covariance: NDArray[np.float64], columns: Sequence[FeatureColumn]
    ) -> UsualErrors:
        """From the covariance (F, F) of the errors of many nodes."""
        by_source: dict[tuple[str, bool], list[int]] = {}
        for number, column in enumerate(columns):
            by_source.setdefault((column.name, column.is_computed), []).append(number)
        groups = tuple(np.array(numbers) for numbers in by_source.values())
        deviation = np.sqrt(np.maximum(np.diag(covariance), LEAST_DEVIATION**2))
        precision = np.linalg.inv(covariance + _RIDGE * np.eye(len(covariance)))
        return cls(precision.astype(np.float64), deviation, groups)

    @classmethod
    def one_by_one(cls, errors: NDArray[np.float32]) -> UsualErrors:
        """From errors (n, F), ignoring correlations between them."""
        deviation = np.sqrt(np.square(errors).mean(axis=0, dtype=np.float64))
        return cls(None, np.maximum(deviation, LEAST_DEVIATION), ())

    def unexplained(
        self, errors: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """One node's errors (F,) as far as other features do not explain them.

        The second array has them in units of the usual error. The column with the largest deviation
        is set aside and the others are predicted again without it, repeatedly.
        """
        if self.precision is None:
            return errors.astype(np.float64), errors / self.deviation
        rest, usual = np.empty((2, len(errors)))
        precision, others = self.precision, np.ones(len(errors), dtype=bool)
        for _ in range(min(_MOST_ASIDE, len(self.groups))):
            pull, diagonal = precision @ errors, np.diag(precision)
            alone = others & self._is_alone
            rest[alone] = pull[alone] / diagonal[alone]
            usual[alone] = 1.0 / diagonal[alone]
            for group in self._several:
                if others[group[0]]:
                    block = np.linalg.inv(precision[np.ix_(group, group)])
                    rest[group] = block @ pull[group]
                    usual[group] = np.diag(block)
            usual[others] = np.sqrt(np.maximum(usual[others], LEAST_DEVIATION**2))
            far = np.where(others, np.abs(rest / usual), 0.0)
            first = int(np.argmax(far))
            if far[first] < FAR:
                break
            aside = self.same_column(first)
            others[aside] = False
            precision = _without(precision, aside)
        return rest, rest / usual

    @cached_property
    def _several(self) -> list[NDArray[np.int64]]:
        """The groups of more than one feature."""
        return [group for group in self.groups if len(group) > 1]

    @cached_property
    def _is_alone(self) -> NDArray[np.bool_]:
        """Which features are the only one of their column, (F,)."""
        alone = np.ones(len(self.deviation), dtype=bool)
        for group in self._several:
            alone[group] = False
        return alone

    def same_column(self, feature: int) -> NDArray[np.int64]:
        """The features that come from the same column as this one, including itself."""
        alone = np.array([feature])
        return next((group for group in self.groups if feature in group), alone)


def _without(precision: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """The precision (F, F) without some features, whose rows and columns become zero."""
    between = precision[group]
    block = np.linalg.inv(between[:, group])
    others: NDArray[np.float64] = precision - between.T @ block @ between
    others[group] = 0.0
    others[:, group] = 0.0
    return others
