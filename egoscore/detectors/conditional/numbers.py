"""Is one number of a node out of bounds?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.batch import Batch
from egoscore.detectors.conditional.covariance import Floats, sample_rows
from egoscore.detectors.conditional.neighbours import clipped
from egoscore.detectors.conditional.position import Links
from egoscore.detectors.conditional.preprocess import is_hardly, is_hardly_negative
from egoscore.detectors.conditional.tails import ROUNDING, Tail
from egoscore.detectors.conditional.view import View
from egoscore.graph import AttributedGraph

SIDES = ("above", "below", "small", "more", "less")
NUM_BY_ITSELF = 3  # of these sides; the others are given everything else
_NUMBERS = ("number", "date", "weight", "time")
_LEAST_CORRELATION, _MOST_CORRELATION = 0.1, 0.95  # of neighbours
_WIDEST = 256  # features, beyond which they do not predict each other
_SHRUNK = 0.02  # added to the variance of errors, so that no feature predicts another exactly
_MOST_ROWS = 20_000  # to estimate correlations from


@dataclass(frozen=True)
class Prediction:
    """Every feature given the neighbours and the other features, by correlations alone.

    Attributes: `centre` (F,) and `correlation` (F,) of the values of two linked nodes; `precision`
    (F, F) of the errors that remain; (0, 0) where there are too many features for it.
    """

    centre: NDArray[np.float64]
    correlation: NDArray[np.float64]
    precision: NDArray[np.float64]

    @classmethod
    def fit(cls, view: View, seed: int) -> Prediction:
        """From all nodes of a graph."""
        weight = view.near.degree / max(float(view.near.degree.sum(dtype=np.float64)), 1.0)
        width = view.features.shape[1]
        centre, correlation = np.zeros((2, width))
        for column in range(width):
            own = clipped(view.features[:, column : column + 1])
            theirs = view.near.mean(own)[:, 0]
            centre[column] = float(weight @ own[:, 0])
            off = own[:, 0] - centre[column]
            variance = float(weight @ np.square(off))
            shared = float(weight @ (off * (theirs - centre[column])))
            correlation[column] = shared / variance if variance > 1e-9 else 0.0
        correlation[correlation < _LEAST_CORRELATION] = 0.0
        draft = cls(centre, np.minimum(correlation, _MOST_CORRELATION), np.zeros((0, 0)))
        if not 2 <= width <= _WIDEST or len(view.features) < 2:
            return draft
        some = Batch.some_of(view, sample_rows(len(view.features), _MOST_ROWS, seed))
        errors = clipped(draft.given_neighbours(some)).astype(np.float64)
        covariance = np.cov(errors, rowvar=False) + _SHRUNK * np.eye(width)
        precision = np.linalg.inv(covariance).astype(np.float64)
        return replace(draft, precision=precision)

    def given_neighbours(self, batch: Batch) -> Floats:
        """What neighbours leave unexplained of the features, (n, F).

        The mean of d neighbours counts as much as it tells about a node, and the error is divided
        by its usual size.
        """
        degree = batch.degree[:, None]
        rho, centre = self.correlation.astype(np.float32), self.centre.astype(np.float32)
        share = rho * degree / (1.0 + np.maximum(degree - 1.0, 0.0) * rho)
        expected = centre + share * (batch.theirs - centre)
        found: Floats = (batch.filled - expected) / np.sqrt(1.0 - rho * share)
        return found

    def unit(self, degree: Floats, column: int) -> NDArray[np.float64]:
        """The usual error given everything else, in deviations of the feature, (n,)."""
        rho = self.correlation[column]
        share = rho * degree / (1.0 + np.maximum(degree - 1.0, 0.0) * rho)
        left: NDArray[np.float64] = np.sqrt(1.0 - rho * share)
        return left / np.sqrt(self.precision[column, column]) if len(self.precision) else left

    def given_all(self, batch: Batch, columns: NDArray[np.int64]) -> Floats:
        """What neighbours and the other features leave unexplained of some of them, (n, C).

        In units of its usual size. Other features count up to three deviations, so that an absurd
        value in one of them does not make the prediction absurd.
        """
        errors = self.given_neighbours(batch)
        own = errors[:, columns]
        if not len(self.precision):
            return own
        scale = np.sqrt(np.diag(self.precision)[columns]).astype(np.float32)
        bounded = clipped(errors)
        pull = bounded @ self.precision[:, columns].astype(np.float32) / scale
        found: Floats = pull + (own - bounded[:, columns]) * scale
        return found


@dataclass(frozen=True)
class Numbers:
    """What is usual for every column of numbers, by itself and given everything else.

    Of a value are judged: how far above and below the median of its column it is, in the user's
    units; how far below in logarithms, where hardly any value is negative; and how much more or
    less it is than the neighbours and the node's other columns predict.

    Attributes: `columns` (C,) those that hold numbers; `median` (C,); `usual` (C,) the median of
    the values above zero, NaN where logarithms make no sense; `least` (C,) the smallest difference
    that is not rounding; `middle` (C,) the median error of predictions; `tails` of each column and
    each of `SIDES` in turn.
    """

    columns: NDArray[np.int64]
    median: NDArray[np.float64]
    usual: NDArray[np.float64]
    least: NDArray[np.float64]
    prediction: Prediction
    middle: NDArray[np.float64]
    tails: tuple[Tail, ...]

    @classmethod
    def fit(cls, view: View, seed: int) -> Numbers:
        """From all nodes of a graph."""
        kinds = [column.kind for column in view.graph.described]
        is_number = np.isin(kinds, _NUMBERS) & ~_is_yes_or_no(view.graph.features)
        columns = np.flatnonzero(is_number)
        median, usual, least = np.empty((3, len(columns)))
        for place, column in enumerate(columns):
            values = _in_units(view.graph, view.graph.features, int(column))
            median[place], usual[place] = np.median(values), _usual(values)
            least[place] = ROUNDING * np.abs(values).max()
        middle, prediction = np.zeros(len(columns)), Prediction.fit(view, seed)
        draft = cls(columns, median, usual, least, prediction, middle, ())
        errors = draft.errors(view)
        draft = replace(draft, middle=np.median(errors, axis=0).astype(np.float64))
        found = draft.distances(view.graph, view.graph.features, errors, Links.of(view.graph))
        return replace(draft, tails=tuple(Tail.fit(distances) for distances in found))

    def largest(self, view: View) -> tuple[Floats, Floats]:
        """The largest surprises (N,) of all nodes: by themselves, and given everything else."""
        errors = self.errors(view)
        found = self.distances(view.graph, view.graph.features, errors, Links.of(view.graph))
        itself, given = np.zeros((2, view.graph.num_nodes), dtype=np.float32)
        for number, (tail, distances) in enumerate(zip(self.tails, found, strict=True)):
            which = itself if number % len(SIDES) < NUM_BY_ITSELF else given
            np.maximum(which, tail.of(distances), out=which)
        return itself, given

    def errors(self, view: View) -> Floats:
        """Errors (N, C) of predictions given everything else, for all nodes of a graph."""
        found = np.empty((len(view.features), len(self.columns)), dtype=np.float32)
        for rows, batch in Batch.all_of(view):
            found[rows] = self.prediction.given_all(batch, self.columns)
        return found

    def distances(
        self, graph: AttributedGraph, raw: Floats, errors: Floats, links: Links
    ) -> Iterator[NDArray[np.float64]]:
        """Distances (n,) of each column and side of features `raw` (n, F).

        What was missing is at no distance, nor is what is made of the edges of a node without any
        in that direction.
        """
        gaps = {c.name: number for number, c in enumerate(graph.described) if c.kind == "missing"}
        for place, column in enumerate(self.columns):
            described = graph.described[column]
            gap = None if described.is_computed else gaps.get(described.name)
            for distances in self._of_column(graph, raw, place, errors[:, place]):
                if described.is_computed:
                    distances[links.towards(described.direction) == 0] = 0.0
                if gap is not None:
                    distances[raw[:, gap] != 0] = 0.0
                yield distances

    def _of_column(
        self, graph: AttributedGraph, raw: Floats, place: int, errors: Floats
    ) -> Iterator[NDArray[np.float64]]:
        values = _in_units(graph, raw, int(self.columns[place]))
        above = values - self.median[place]
        above[np.abs(above) <= self.least[place]] = 0.0
        yield above
        yield -above
        usual = self.usual[place]
        if np.isnan(usual):
            yield np.zeros(len(values))
        else:
            yield -np.log(np.where(values > 0, values, usual) / usual)
        more = errors - self.middle[place]
        if graph.described[self.columns[place]].is_computed:
            more = np.zeros_like(more)  # what is made of the same edges follows from each other
        yield more
        yield -more


def _in_units(graph: AttributedGraph, raw: Floats, column: int) -> NDArray[np.float64]:
    """The values of a column (n,) in the user's units."""
    return raw[:, column].astype(np.float64) + graph.described[column].offset


def _usual(values: NDArray[np.float64]) -> float:
    """The median of the values (N,) above zero; NaN where some are negative."""
    positive = values[values > 0]
    return float(np.median(positive)) if len(positive) and is_hardly_negative(values) else np.nan


def _is_yes_or_no(features: Floats) -> NDArray[np.bool_]:
    """Which features (F,) are constant, or have two values of which neither is a wrong entry."""
    ends = zip(features.T, features.min(axis=0), features.max(axis=0), strict=True)
    return np.array([_has_two_usual_values(*one) for one in ends])


def _has_two_usual_values(values: Floats, low: float, high: float) -> bool:
    is_low, is_high = values == low, values == high
    rarer = min(int(is_low.sum()), int(is_high.sum()))
    return bool((is_low | is_high).all()) and not (low < high and is_hardly(rarer, len(values)))
