"""Is a category of a node another one than everything else suggests?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.batch import Batch
from egoscore.detectors.conditional.covariance import Floats, sample_rows
from egoscore.detectors.conditional.disagreement import Disagreement
from egoscore.detectors.conditional.neighbours import clipped
from egoscore.detectors.conditional.tails import Tail
from egoscore.detectors.conditional.view import View

_WEIGHTS = np.geomspace(0.05, 100.0, 12)
_MOST_ROWS = 20_000  # to learn from
_MOST_COLUMNS = 64  # more are the words of a text, none of which is unusual by itself
_MOST_REGRESSED = 32  # categories of one column
_WIDEST = 256  # features that are predicted from
_LEAST = 1e-9  # probability


@dataclass(frozen=True)
class Category:
    """The probability of each category of a column, given everything else.

    The neighbours give a probability: the share of them that have the category, where the shares
    among all nodes count as `weight` more neighbours (the Dirichlet-multinomial model). The
    logarithms of these and the other features of the node go into a logistic regression.

    Attributes: `features` (k,) the numbers of its features; `share` (C,) of the categories among
    all nodes, the last of them being none of the k; `others` (o,) the features predicted from;
    `coefficients` (C + o, C) and `intercepts` (C,) of the regression, empty if there is none;
    `tail` of the odds against the category that a node has.
    """

    features: NDArray[np.int64]
    share: NDArray[np.float64]
    weight: float
    others: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    tail: Tail

    @classmethod
    def fit(cls, view: View, features: NDArray[np.int64], seed: int) -> Category:
        """From all nodes of a graph."""
        some = Batch.some_of(view, sample_rows(view.graph.num_nodes, _MOST_ROWS, seed))
        shares = view.graph.features[:, features].mean(axis=0, dtype=np.float64)
        share = np.append(shares, max(0.0, 1.0 - shares.sum()))
        mine, counts = some.shares(features), some.counts(features)
        fits = [
            np.log((_mixed(counts, share, weight) * mine).sum(axis=1)).mean() for weight in _WEIGHTS
        ]
        empty = np.zeros(0, dtype=np.int64), np.zeros((0, 0)), np.zeros(0), Tail.fit(np.zeros(1))
        draft = cls(features, share, float(_WEIGHTS[int(np.argmax(fits))]), *empty)
        chosen = mine.argmax(axis=1)
        if len(features) < _MOST_REGRESSED and np.ptp(chosen):
            draft = draft._regressed(some, counts, chosen)
        return replace(draft, tail=Tail.fit(draft.odds_against_all(view)))

    def _regressed(self, some: Batch, counts: Floats, chosen: NDArray[np.int64]) -> Category:
        from sklearn.linear_model import LogisticRegression

        width = some.raw.shape[1]
        others = np.setdiff1d(np.arange(width), self.features) if width <= _WIDEST else self.others
        draft = replace(self, others=others)
        known = draft._known(some, counts)
        mean, deviation = known.mean(axis=0), known.std(axis=0)
        factor = np.where(deviation > 1e-6, 1.0 / np.maximum(deviation, 1e-6), 0.0)
        model = LogisticRegression(max_iter=1000, tol=1e-3).fit((known - mean) * factor, chosen)
        weights, shift = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # which scikit-learn describes by the second alone
            weights = np.concatenate([-weights, weights]) / 2.0
            shift = np.append(-shift, shift) / 2.0
        coefficients = np.zeros((known.shape[1], len(self.share)))
        intercepts = np.full(len(self.share), np.log(_LEAST))
        coefficients[:, model.classes_] = (weights * factor).T
        intercepts[model.classes_] = shift - (weights * factor) @ mean
        return replace(draft, coefficients=coefficients, intercepts=intercepts)

    def probabilities(self, batch: Batch) -> NDArray[np.float64]:
        """The probability of every category, (n, C)."""
        counts = batch.counts(self.features)
        if not len(self.intercepts):
            return _mixed(counts, self.share, self.weight)
        logits = self._known(batch, counts) @ self.coefficients + self.intercepts
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        found: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return found

    def odds_against(self, batch: Batch) -> NDArray[np.float64]:
        """One over the probability of the category that a node has, above what is usual, (n,)."""
        likely = (self.probabilities(batch) * batch.shares(self.features)).sum(axis=1)
        odds: NDArray[np.float64] = 1.0 / np.maximum(likely, _LEAST)
        return odds - 1.0 / float(self.share.max())

    def odds_against_all(self, view: View) -> NDArray[np.float64]:
        """The same for all nodes of a graph, (N,)."""
        found = np.empty(len(view.features))
        for rows, batch in Batch.all_of(view):
            found[rows] = self.odds_against(batch)
        return found

    def _known(self, batch: Batch, counts: Floats) -> NDArray[np.float64]:
        """What the regression predicts from, (n, C + o)."""
        logs = np.log(_mixed(counts, self.share, self.weight))
        return np.column_stack([logs, clipped(batch.filled[:, self.others])])


@dataclass(frozen=True)
class Categories:
    """All columns of categories; those with `many` have no features for each."""

    columns: tuple[Category, ...]
    many: tuple[Disagreement, ...]

    @classmethod
    def fit(cls, view: View, seed: int) -> Categories:
        """From all nodes of a graph."""
        by_name: dict[str, list[int]] = {}
        for number, column in enumerate(view.graph.described):
            if column.kind in ("category", "yes/no"):
                by_name.setdefault(column.name, []).append(number)
        groups = [np.array(numbers) for numbers in by_name.values()]
        many = tuple(Disagreement.fit(view, name) for name in view.graph.categories)
        if len(groups) > _MOST_COLUMNS:
            return cls((), many)
        return cls(tuple(Category.fit(view, features, seed) for features in groups), many)

    def largest(self, view: View) -> Floats:
        """The largest surprises (N,) of all nodes."""
        found = np.zeros(view.graph.num_nodes, dtype=np.float32)
        for column in self.columns:
            np.maximum(found, column.tail.of(column.odds_against_all(view)), out=found)
        for other in self.many:
            if other.name in view.graph.categories:
                np.maximum(found, other.measure(view.graph)[1], out=found)
        return found


def _mixed(counts: Floats, share: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """The shares (n, C) among neighbours, where those of all nodes count as `weight` more."""
    whole = counts.sum(axis=1, keepdims=True) + weight
    found: NDArray[np.float64] = (counts + weight * share) / whole
    return np.maximum(found, _LEAST)
