"""Which features of a node are not what everything else lets one expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.graph.columns import FeatureColumn
from egoscore.graph.scaling import FeatureScaling
from egoscore.surprise.covariance import Floats, shrunk_covariance

_WIDEST = 2048  # beyond it features are looked at one by one
_LEAST = 1e-3  # deviation of a feature: what is smaller is rounding
_RIDGE = 1e-6


@dataclass(frozen=True)
class UsualErrors:
    """How the errors of features usually go together.

    A feature is compared with what the surroundings AND the node's other features let one expect:
    of values replaced in generated networks the one so found first is a replaced one more often
    than with the surroundings alone (docs/explanations.md).

    Attributes: `precision` (F, F) of the errors, None if there are too many features for it;
    `deviation` (F,); `groups` the features that come from one column, which say nothing about each
    other that is not in the column.
    """

    precision: NDArray[np.float64] | None
    deviation: NDArray[np.float64]
    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def fit(cls, errors: Floats, columns: Sequence[FeatureColumn], seed: int) -> UsualErrors:
        """From the errors (n, F) of many nodes."""
        width = errors.shape[1]
        by_name: dict[str, list[int]] = {}
        for number, column in enumerate(columns):
            by_name.setdefault(column.name, []).append(number)
        groups = tuple(np.array(numbers) for numbers in by_name.values())
        if width > _WIDEST:
            return cls.one_by_one(errors)
        _, covariance = shrunk_covariance(errors, seed)
        deviation = np.sqrt(np.maximum(np.diag(covariance), _LEAST**2))
        precision = np.linalg.inv(covariance + _RIDGE * np.eye(width)).astype(np.float64)
        return cls(precision, deviation, groups)

    @classmethod
    def one_by_one(cls, errors: Floats) -> UsualErrors:
        """From errors (n, F), none of which is held to tell anything about another."""
        deviation = np.sqrt(np.square(errors).mean(axis=0, dtype=np.float64))
        return cls(None, np.maximum(deviation, _LEAST), ())

    def left(self, errors: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of one node's errors (F,): what other features do not explain, and in usual errors."""
        if self.precision is None:
            return errors.astype(np.float64), errors / self.deviation
        rest, usual = np.empty((2, len(errors)))
        pull = self.precision @ errors
        for group in self.groups:
            block = np.linalg.inv(self.precision[np.ix_(group, group)])
            rest[group] = block @ pull[group]
            usual[group] = np.sqrt(np.maximum(np.diag(block), _LEAST**2))
        return rest, rest / usual


def deviating(
    raw: NDArray[np.floating],
    observed: Floats,
    rest: NDArray[np.float64],
    sizes: NDArray[np.float64],
    scaling: FeatureScaling,
    columns: Sequence[FeatureColumn],
    most: int,
) -> tuple[Deviation, ...]:
    """The features that are furthest off, in the user's units.

    `raw` (F,) as the user gave them; `observed` (F,) as the model sees them; `rest` (F,) how far
    those are off; `sizes` (F,) the same in usual errors. What was filled in is told as missing; a
    yes where yes is likelier than no is told last, however rare it is to be unsure.
    """
    expected = scaling.unscale((observed - rest)[None])[0]
    flags = zip(columns, raw, strict=True)
    filled = {column.name for column, value in flags if column.kind == "missing" and value}
    found = []
    is_likely = [
        column.is_yes_or_no and abs(value - ought) < 0.5
        for column, value, ought in zip(columns, raw, expected, strict=True)
    ]
    for j in np.lexsort((-np.abs(sizes), np.array(is_likely)))[:most]:
        words = _told(columns[j], float(raw[j]), float(expected[j]), columns[j].name in filled)
        found.append(Deviation(*words, round(float(sizes[j]), 2)))
    return tuple(found)


def _told(
    column: FeatureColumn, observed: float, expected: float, is_filled: bool
) -> tuple[str, str, str]:
    """A feature's name, what it is and what is expected; a value that was put in is no value."""
    shown, wanted = column.show_both(observed, expected)
    if not is_filled:
        return column.title, shown, wanted
    if column.kind != "missing":
        return column.title, "missing", wanted
    share = f"{100 * min(max(expected, 0.0), 1.0):.0f}"
    return column.name, "missing", "a value" if share == "0" else f"{share}% missing"
