"""The default recipe: fitted once, then every node's channels, questions and score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.bars import Bars, no_bars
from egoscore.graph import AttributedGraph
from egoscore.graph.structure import STRUCTURE, structure
from egoscore.surprise.amounts import Scale
from egoscore.surprise.calibrate import BySize, Calibration
from egoscore.surprise.centre import NUM_NETWORKS, CentreModel, NetworkStore
from egoscore.surprise.company import ONE_STEP, TWO_STEPS, Likeness, dirichlet_energy
from egoscore.surprise.covariance import Floats
from egoscore.surprise.judged import (
    fit_scale,
    gap_features,
    judged_features,
    unseen_covariance,
)
from egoscore.surprise.neighbours import Neighbours, as_seen_by_others
from egoscore.surprise.network import Training
from egoscore.surprise.place import Place
from egoscore.surprise.whitening import Whitening

QUESTIONS = {
    "features": ("linear_residual", "network_residual"),
    "company": ("dirichlet_energy", "mismatch", "mismatch_two_steps"),
    "place": ("structure_given_degree", "structure", "clustering"),
}
_DEGREE = STRUCTURE.index("log_degree")
# the others are sizes, and seen as logarithms
_AS_MEASURED = ("mismatch", "mismatch_two_steps", "clustering")
# Where most nodes are just what is expected, who is so a little more is noise of the networks: an
# error of less than a tenth of what is usual counts as that much.
_NO_ERROR = {"linear_residual": 0.1, "network_residual": 0.1}


@dataclass(frozen=True)
class Surprises:
    """What was found about every node.

    Attributes: `ego_size` (N,) nodes in the ego-graph; `channels` (N,) each, as measured;
    `questions` (N,) each, calibrated: minus the logarithm of how rare an answer is; `score` (N,)
    the same for all of them together, among nodes with about as many neighbours. Higher is more
    abnormal.
    """

    ego_size: NDArray[np.int64]
    channels: dict[str, Floats]
    questions: dict[str, NDArray[np.float64]]
    score: NDArray[np.float64]

    @property
    def p_value(self) -> NDArray[np.float64]:
        """How rare a score as high is, (N,)."""
        return np.exp(-self.score)

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Everything by name, as it is written to disk; questions as surprise_…"""
        found: dict[str, NDArray[np.generic]] = {"ego_size": self.ego_size, "p_value": self.p_value}
        found |= {f"surprise_{name}": values for name, values in self.questions.items()}
        found.update(self.channels)
        return found


@dataclass(frozen=True)
class SurpriseModel:
    """Everything learned from a network; `seed` is that of its training."""

    seed: int
    scaling: Scale
    whitening: Whitening
    next_to: Likeness
    two_away: Likeness
    centre: CentreModel
    place: Place
    calibrations: dict[str, Calibration]
    by_size: BySize
    is_told_structure: bool = True  # not where the features themselves are structure

    @classmethod
    def fit(
        cls,
        graph: AttributedGraph,
        training: Training,
        seed: int,
        store: NetworkStore | None = None,
        bars: Bars = no_bars,
    ) -> tuple[SurpriseModel, Surprises]:
        """Learn from a network, and judge its nodes."""
        with bars("Looking at the surroundings", 4, "steps") as advance:
            scaling = fit_scale(graph, seed)
            seen = _Seen.of(graph, scaling, not graph.is_structural)
            near = seen.near
            advance(1)
            unseen = unseen_covariance(seen.features, gap_features(scaling))
            whitening = Whitening.fit(seen.features, seed, unseen)
            white = whitening.apply(seen.features)
            advance(1)
            next_to = Likeness.fit(near, white, ONE_STEP)
            two_away = Likeness.fit(near, white, TWO_STEPS)
            advance(1)
            known = seen.around(white)
            advance(1)
        updates = NUM_NETWORKS * training.updates
        with bars("Learning what to expect of a node", updates, "updates") as advance:
            left_unseen = None if unseen is None else whitening.covariance(unseen)
            centre = CentreModel.fit(known, white, training, seed, store, advance, left_unseen)
        place = Place.fit(seen.structure, seed)
        parts = (seed, scaling, whitening, next_to, two_away, centre, place)
        draft = cls(*parts, {}, BySize.ignored(), seen.tells_structure)
        channels = draft._channels(seen, True, bars)
        calibrations = {name: Calibration.fit(seen_as(name, v)) for name, v in channels.items()}
        answers = []
        for question in _asked(next_to, two_away, graph):
            mean = _mean(question, channels, calibrations)
            calibrations[question] = Calibration.fit(mean)
            answers.append(calibrations[question].surprise(mean))
        total = together(answers)
        # where structure is all there is to judge, size is a part of it
        structural = graph.is_structural
        by_size = BySize.ignored() if structural else BySize.fit(total, seen.ego_size)
        calibrations["score"] = Calibration.fit(by_size.apply(total, seen.ego_size))
        model = cls(*parts, calibrations, by_size, seen.tells_structure)
        return model, model._judge(seen, channels)

    @property
    def explained(self) -> float:
        """The share of the features' variance that a node's surroundings explain in a line.

        Every feature counts alike; axes would not, as most hold next to nothing.
        """
        variance = self.whitening.variance
        remaining = self.centre.context.variance[: len(variance)]
        return 1.0 - float(np.average(remaining, weights=variance))

    def judge(self, graph: AttributedGraph, is_training: bool, bars: Bars = no_bars) -> Surprises:
        """The surprises of a network's nodes; `is_training` if it is the one learned from."""
        seen = _Seen.of(graph, self.scaling, self.is_told_structure)
        return self._judge(seen, self._channels(seen, is_training, bars))

    def _channels(self, seen: _Seen, is_training: bool, bars: Bars) -> dict[str, Floats]:
        near, white = seen.near, self.whitening.apply(seen.features)
        seed = self.seed if is_training else None
        width = np.float32(seen.features.shape[1])

        def residuals() -> tuple[Floats, Floats]:
            return self.centre.residuals(seen.around(white), white, seed)

        parts: tuple[Callable[[], dict[str, Floats]], ...] = (
            lambda: {"feature_norm": np.einsum("nf,nf->n", seen.features, seen.features) / width},
            lambda: dict(zip(QUESTIONS["features"], residuals(), strict=True)),
            lambda: {"dirichlet_energy": dirichlet_energy(near, seen.features)},
            lambda: {"mismatch": self.next_to.mismatch(near, white, ONE_STEP)},
            lambda: {"mismatch_two_steps": self.two_away.mismatch(near, white, TWO_STEPS)},
            lambda: self.place.surprises(seen.structure),
        )
        found: dict[str, Floats] = {}
        with bars("Judging the nodes", len(parts), "channels") as advance:
            for part in parts:
                found |= part()
                advance(1)
        return found

    def _judge(self, seen: _Seen, channels: dict[str, Floats]) -> Surprises:
        asked = [question for question in QUESTIONS if question in self.calibrations]
        means = {q: _mean(q, channels, self.calibrations) for q in asked}
        answers = {q: self.calibrations[q].surprise(mean) for q, mean in means.items()}
        total = together(list(answers.values()))
        relative = self.by_size.apply(total, seen.ego_size)
        score = self.calibrations["score"].surprise(relative)
        return Surprises(seen.ego_size, channels, answers, score)


@dataclass(frozen=True)
class _Seen:
    """A network as the recipe sees it: what all channels need, computed once."""

    features: Floats
    near: Neighbours
    structure: NDArray[np.float64]
    tells_structure: bool

    @classmethod
    def of(cls, graph: AttributedGraph, scaling: Scale, tells_structure: bool) -> _Seen:
        scaling.linear.require_fitting(graph)
        return cls(
            judged_features(scaling, graph), Neighbours.of(graph), structure(graph), tells_structure
        )

    @property
    def ego_size(self) -> NDArray[np.int64]:
        """Nodes in every ego-graph, (N,)."""
        return self.near.degree.astype(np.int64) + 1

    def around(self, white: Floats) -> Floats:
        """What is known about a node without looking at its own features, (N, C)."""
        around = self.near.mean(as_seen_by_others(white))
        return surroundings(around, self.structure if self.tells_structure else None)


def surroundings(around: Floats, structure: NDArray[np.float64] | None) -> Floats:
    """What is known about nodes: the means (N, k) around them, and their structure (N, 7).

    Of a node without neighbours nothing is, which is told as NaN.
    """
    if structure is None:
        return around
    known: Floats = np.column_stack([around, structure.astype(np.float32)])
    known[structure[:, _DEGREE] == 0.0] = np.nan
    return known


def _asked(next_to: Likeness, two_away: Likeness, graph: AttributedGraph) -> list[str]:
    """The questions that can be asked.

    Company cannot be judged where neighbours tell nothing about a node; and where the features
    are structure place has all that they tell.
    """
    if graph.is_structural:
        return ["place"]
    can_tell = next_to.strength.any() or two_away.strength.any()
    left_out = () if can_tell else ("company",)
    return [question for question in QUESTIONS if question not in left_out]


def seen_as(channel: str, values: Floats) -> NDArray[np.floating]:
    """A channel's values (N,) on the scale on which they are calibrated."""
    if channel in _AS_MEASURED:
        return values
    return np.log(np.maximum(values, np.float32(_NO_ERROR.get(channel, 1e-9))))


def together(answers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Surprises (N,) of several questions as one number: their sum, the largest counting twice.

    So a node may be unusual a little by every question, or very much by one.
    """
    total: NDArray[np.float64] = np.sum(answers, axis=0) + np.max(answers, axis=0)
    return total


def _mean(
    question: str, channels: dict[str, Floats], calibrations: dict[str, Calibration]
) -> NDArray[np.float64]:
    """The mean surprise of a question's channels, (N,)."""
    found = {c: seen_as(c, channels[c]) for c in QUESTIONS[question]}
    parts = [calibrations[c].bounded_surprise(values) for c, values in found.items()]
    mean: NDArray[np.float64] = np.mean(parts, axis=0)
    return mean
