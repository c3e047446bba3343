"""Which features of a node differ most from their prediction, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.graph import AttributedGraph
from egoscore.graph.feature_column import FeatureColumn

_ROUNDING = 1e-6  # relative to the range of a column: smaller values count as zero
FAR = 2.0  # usual errors; smaller deviations are not mentioned


class Scaling(Protocol):
    """Converts features between the user's units and the scale of a model."""

    def scale(self, raw: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features (n, F) on the scale of the model."""

    def unscale(self, scaled: NDArray[np.floating]) -> NDArray[np.float64]:
        """Scaled features (n, F) in the user's units."""


def far_off(deviations: Sequence[Deviation]) -> list[Deviation]:
    """Those large enough to be mentioned."""
    return [one for one in deviations if abs(one.size) >= FAR]


@dataclass(frozen=True)
class Ranges:
    """The smallest and the largest value of every column, (C,) each."""

    least: NDArray[np.float64]
    greatest: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.floating], mean: NDArray[np.float64]) -> Ranges:
        """Of a graph's values (N, C) and the `mean` (C,) of the training graph."""
        return cls(np.minimum(values.min(axis=0), mean), np.maximum(values.max(axis=0), mean))

    def clip(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (C,) within the ranges; what rounds to zero is zero."""
        clipped = np.clip(values, self.least, self.greatest)
        rounding = _ROUNDING * (self.greatest - self.least)
        return np.where(np.abs(clipped) < rounding, 0.0, clipped)

    def clip_expected(
        self, observed: NDArray[np.float64], expected: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected values (C,) within the ranges, and the share of the deviation that remains."""
        within = self.clip(expected)
        whole = observed - expected
        left = np.divide(observed - within, whole, out=np.ones_like(whole), where=whole != 0)
        return within, np.clip(left, 0.0, 1.0)


@dataclass(frozen=True)
class Units:
    """What features are to the user: their columns, their scaling, and the ranges of values."""

    columns: Sequence[FeatureColumn]
    scaling: Scaling
    ranges: Ranges

    @classmethod
    def of(cls, graph: AttributedGraph, scaling: Scaling) -> Units:
        """Of the features of a graph; `scaling` may have been fitted to another graph."""
        usual = scaling.unscale(np.zeros(graph.num_features))
        return cls(graph.described, scaling, Ranges.of(graph.features, usual))

    def expected_in_range(
        self, observed: NDArray[np.float32], rest: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected values (F,) in the user's units and within the ranges.

        The second array is the share of `rest`, the deviation of `observed`, that remains.
        """
        ought = self.scaling.unscale(observed - rest)
        expected = self.ranges.clip(ought)
        off = observed - self.scaling.scale(expected[None].astype(np.float32))[0]
        left = np.divide(off, rest, out=np.ones_like(rest), where=(expected != ought) & (rest != 0))
        return expected, np.clip(left, 0.0, 1.0)


def largest_deviations(
    raw: NDArray[np.floating],
    observed: NDArray[np.float32],
    rest: NDArray[np.float64],
    sizes: NDArray[np.float64],
    units: Units,
    most: int,
) -> tuple[Deviation, ...]:
    """The features that are furthest off, in the user's units.

    `raw` (F,) in the user's units; `observed` (F,) on the model's scale; `rest` (F,) the deviation
    of `observed`; `sizes` (F,) the same in units of the usual error. Expected values stay within
    the ranges, and deviations shrink accordingly. Imputed values are reported as missing. A "yes"
    where "yes" is more likely than "no" comes after all other large deviations.
    """
    columns, least = units.columns, units.ranges.least
    expected, left = units.expected_in_range(observed, rest)
    sizes = sizes * left
    flags = zip(columns, raw, strict=True)
    filled = {column.name for column, value in flags if column.kind == "missing" and value}
    is_likely = [
        column.is_yes_or_no and abs(value - wanted) < 0.5
        for column, value, wanted in zip(columns, raw, expected, strict=True)
    ]
    is_far = np.abs(sizes) >= FAR
    order = np.lexsort((-np.abs(sizes), is_far & np.array(is_likely), ~is_far))[:most]
    found = (
        deviation_of(columns[j], *map(float, (raw[j], expected[j], sizes[j], least[j])))
        for j in order
    )
    return tuple(
        _missing(one, columns[j])
        if columns[j].name in filled and not columns[j].is_computed
        else one
        for j, one in zip(order, found, strict=True)
    )


def _missing(found: Deviation, column: FeatureColumn) -> Deviation:
    """The deviation of a column whose value was imputed: the imputed value is not shown."""
    if column.kind != "missing":
        return replace(found, observed="missing", observed_value=None)
    share = found.expected_value or 0.0
    wanted = "a value" if share < 0.5 else f"{100 * share:.0f}% missing"
    return replace(found, name=column.name, observed="missing", expected=wanted)


def deviation_of(
    column: FeatureColumn, observed: float, expected: float, size: float, least: float
) -> Deviation:
    """Observed and expected value of a column, as text and as numbers.

    `least` is the smallest value of the column.
    """
    return Deviation(
        column.title,
        *column.show_both(observed, expected),
        round(size, 2) + 0.0,  # never minus zero
        column.kind,
        column.unit,
        column.value(observed),
        column.value(expected),
        _is_amount(column) and column.value(least) >= 0,
    )


def _is_amount(column: FeatureColumn) -> bool:
    """Whether one value may be a multiple of another."""
    return column.kind in ("number", "weight", "structure") and not column.is_year_or_code
