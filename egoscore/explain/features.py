"""Which features of a node are not what everything else lets one expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.explain.seen import Seen
from egoscore.graph import AttributedGraph
from egoscore.graph.columns import FeatureColumn
from egoscore.graph.scaling import FeatureScaling
from egoscore.surprise.amounts import Scale
from egoscore.surprise.covariance import Floats, shrunk_covariance
from egoscore.surprise.neighbours import as_seen_by_others

_WIDEST = 2048  # beyond it features are looked at one by one
_LEAST = 1e-3  # deviation of a feature: what is smaller is rounding
_RIDGE = 1e-6
_ROUNDING = 1e-6  # of what was seen in a column: less than that is nothing
_FAR = 2.0  # usual errors: less is not worth a word
_MOST_ASIDE = 12  # columns looked for one after the other: more than are told


@dataclass(frozen=True)
class UsualErrors:
    """How the errors of features usually go together.

    A feature is compared with what the surroundings AND the node's other features let one expect:
    of values replaced in generated networks the one so found first is a replaced one more often
    than with the surroundings alone (docs/explanations.md). What is found to be off tells nothing
    about the others any more: else one absurd value would make absurd what is expected of the rest.

    Attributes: `precision` (F, F) of the errors, None if there are too many features for it;
    `deviation` (F,); `groups` the features that come from one column, which say nothing about each
    other that is not in the column.
    """

    precision: NDArray[np.float64] | None
    deviation: NDArray[np.float64]
    groups: tuple[NDArray[np.int64], ...]

    @classmethod
    def fit(
        cls,
        errors: Floats,
        columns: Sequence[FeatureColumn],
        seed: int,
        unseen: NDArray[np.float64] | None = None,
    ) -> UsualErrors:
        """From the errors (n, F) of many nodes; `unseen` (F, F) is added to their covariance."""
        width = errors.shape[1]
        by_source: dict[tuple[str, bool], list[int]] = {}
        for number, column in enumerate(columns):
            by_source.setdefault((column.name, column.is_computed), []).append(number)
        groups = tuple(np.array(numbers) for numbers in by_source.values())
        if width > _WIDEST:
            return cls.one_by_one(errors)
        # else what is expected of a node would follow its own absurd values
        _, covariance = shrunk_covariance(as_seen_by_others(errors), seed, unseen)
        deviation = np.sqrt(np.maximum(np.diag(covariance), _LEAST**2))
        precision = np.linalg.inv(covariance + _RIDGE * np.eye(width)).astype(np.float64)
        return cls(precision, deviation, groups)

    @classmethod
    def one_by_one(cls, errors: Floats) -> UsualErrors:
        """From errors (n, F), none of which is held to tell anything about another."""
        deviation = np.sqrt(np.square(errors).mean(axis=0, dtype=np.float64))
        return cls(None, np.maximum(deviation, _LEAST), ())

    def left(self, errors: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of one node's errors (F,): what other features do not explain, and in usual errors.

        The column furthest off is set aside, the others are looked at again without it, and so on.
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
            usual[others] = np.sqrt(np.maximum(usual[others], _LEAST**2))
            far = np.where(others, np.abs(rest / usual), 0.0)
            first = int(np.argmax(far))
            if far[first] < _FAR:
                break
            aside = self.beside(first)
            others[aside] = False
            precision = _without(precision, aside)
        return rest, rest / usual

    @cached_property
    def _several(self) -> list[NDArray[np.int64]]:
        """The groups of more than one feature."""
        return [group for group in self.groups if len(group) > 1]

    @cached_property
    def _is_alone(self) -> NDArray[np.bool_]:
        """Which features are all there is of their column, (F,)."""
        alone = np.ones(len(self.deviation), dtype=bool)
        for group in self._several:
            alone[group] = False
        return alone

    def beside(self, feature: int) -> NDArray[np.int64]:
        """The features that come from the same column as this one, itself among them."""
        alone = np.array([feature])
        return next((group for group in self.groups if feature in group), alone)


def _without(precision: NDArray[np.float64], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """The precision (F, F) of the others where nothing is known of some: zero in their rows."""
    between = precision[group]
    block = np.linalg.inv(between[:, group])
    others: NDArray[np.float64] = precision - between.T @ block @ between
    others[group] = 0.0
    others[:, group] = 0.0
    return others


def far_off(deviations: Sequence[Deviation]) -> list[Deviation]:
    """Those that are worth a word."""
    return [one for one in deviations if abs(one.size) >= _FAR]


@dataclass(frozen=True)
class Units:
    """What features are to the user: their columns, how they were scaled, and their values seen."""

    columns: Sequence[FeatureColumn]
    scaling: FeatureScaling | Scale
    seen: Seen

    @classmethod
    def of(cls, graph: AttributedGraph, scaling: FeatureScaling | Scale) -> Units:
        """Of the features of a network; `scaling` may be that of another."""
        usual = scaling.unscale(np.zeros(graph.num_features))
        return cls(graph.described, scaling, Seen.of(graph.features, usual))

    def within_seen(
        self, observed: Floats, rest: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What is expected (F,) in the user's units, not beyond what was seen.

        And the share of `rest`, how far `observed` is off, that is left then.
        """
        ought = self.scaling.unscale(observed - rest)
        expected = np.clip(ought, self.seen.least, self.seen.greatest)
        rounding = _ROUNDING * (self.seen.greatest - self.seen.least)
        expected = np.where(np.abs(expected) < rounding, 0.0, expected)
        off = observed - self.scaling.scale(expected[None].astype(np.float32))[0]
        left = np.divide(off, rest, out=np.ones_like(rest), where=(expected != ought) & (rest != 0))
        return expected, np.clip(left, 0.0, 1.0)


def deviating(
    raw: NDArray[np.floating],
    observed: Floats,
    rest: NDArray[np.float64],
    sizes: NDArray[np.float64],
    units: Units,
    most: int,
) -> tuple[Deviation, ...]:
    """The features that are furthest off, in the user's units.

    `raw` (F,) as the user gave them; `observed` (F,) as the model sees them; `rest` (F,) how far
    those are off; `sizes` (F,) the same in usual errors. What is expected lies within what was
    seen, and a feature is told to be off no further than that. What was filled in is told as
    missing; a yes where yes is likelier than no is told after what else is far off, however rare
    it is to be unsure.
    """
    columns = units.columns
    expected, left = units.within_seen(observed, rest)
    sizes = sizes * left
    flags = zip(columns, raw, strict=True)
    filled = {column.name for column, value in flags if column.kind == "missing" and value}
    is_likely = [
        column.is_yes_or_no and abs(value - wanted) < 0.5
        for column, value, wanted in zip(columns, raw, expected, strict=True)
    ]
    is_far = np.abs(sizes) >= _FAR
    order = np.lexsort((-np.abs(sizes), is_far & np.array(is_likely), ~is_far))[:most]
    told = (
        beside(columns[j], *map(float, (raw[j], expected[j], sizes[j], units.seen.least[j])))
        for j in order
    )
    return tuple(
        _missing(one, columns[j])
        if columns[j].name in filled and not columns[j].is_computed
        else one
        for j, one in zip(order, told, strict=True)
    )


def _missing(found: Deviation, column: FeatureColumn) -> Deviation:
    """A feature of a column that was filled in: a value that was put in is no value."""
    if column.kind != "missing":
        return replace(found, observed="missing", observed_value=None)
    share = found.expected_value or 0.0
    wanted = "a value" if share < 0.5 else f"{100 * share:.0f}% missing"
    return replace(found, name=column.name, observed="missing", expected=wanted)


def beside(
    column: FeatureColumn, observed: float, expected: float, size: float, least: float
) -> Deviation:
    """What a column is beside what is expected of it, in words and as numbers.

    `least` is the least that was seen in the column.
    """
    return Deviation(
        column.title,
        *column.show_both(observed, expected),
        round(size, 2) + 0.0,  # never minus zero
        column.kind,
        column.unit,
        column.value(observed),
        column.value(expected),
        column.kind in ("number", "weight", "structure") and column.value(least) >= 0,
    )
