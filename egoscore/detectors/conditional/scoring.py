"""From channels to one score: each channel, each question and their sum are calibrated in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.calibration import Calibration, bounded
from egoscore.detectors.conditional.by_size import BySize
from egoscore.detectors.conditional.channels import ALONE, CHANNELS, channels_of
from egoscore.detectors.conditional.covariance import Floats
from egoscore.explain.explanation import HIGH

_LEAST_ALONE = 4.0  # one in fifty: what is less rare does not count by itself
_FEWEST = 2.0  # logarithm of the number of nodes that may count in a small graph
_FADE = 2.0  # between where a single quantity begins to count and where it counts fully
_TOP = 0.02
_FOR_TIES = 0.01


@dataclass(frozen=True)
class ChannelTable:
    """What was measured about every node.

    Attributes: `ego_size` (N,) nodes in the ego-graph; `channels` (N,) each, as measured;
    `questions` (N,) each: minus the logarithm of how rare an answer is, 0 for one that counts by
    itself where it does not; `score` (N,) the same for all answers together, among nodes with a
    similar number of neighbours. Higher is more abnormal.
    """

    ego_size: NDArray[np.int64]
    channels: dict[str, Floats]
    questions: dict[str, NDArray[np.float64]]
    score: NDArray[np.float64]

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Everything by name, as it is written to disk; questions as surprise_…"""
        found: dict[str, NDArray[np.generic]] = {"ego_size": self.ego_size}
        found |= {f"surprise_{name}": values for name, values in self.questions.items()}
        found.update(self.channels)
        return found


@dataclass(frozen=True)
class Scoring:
    """The calibrations of a training graph: what is usual for each channel and each question.

    Attributes: `channels` by name, of those that are not surprises already; `shifts` of the others,
    what the largest of many surprises has too much; `questions` by name; `by_size`, `together` of
    all questions but `ALONE`; `total` of everything.
    """

    channels: dict[str, Calibration]
    shifts: dict[str, float]
    questions: dict[str, Calibration]
    by_size: BySize
    together: Calibration
    total: Calibration

    @classmethod
    def fit(
        cls,
        channels: dict[str, Floats],
        questions: Sequence[str],
        ego_size: NDArray[np.int64],
        compares_sizes: bool,
    ) -> Scoring:
        """From the channels (N,) of all nodes; by ego size unless that is part of the question."""
        several = [question for question in questions if question != ALONE]
        known = {name: Calibration.fit(CHANNELS[name].scaled(v)) for name, v in channels.items()}
        shifts = {name: _shift(channels[name]) for name in channels_of(ALONE)}
        means = {question: _mean(question, channels, known) for question in several}
        answered = {question: Calibration.fit(mean) for question, mean in means.items()}
        total = combine([answered[question].surprise(mean) for question, mean in means.items()])
        by_size = BySize.fit(total, ego_size) if compares_sizes else BySize.ignored()
        together = Calibration.fit(by_size.apply(total, ego_size))
        draft = cls(known, shifts, answered, by_size, together, together)  # for a moment
        largest = draft._largest(draft._answers(channels), draft._alone(channels), ego_size)
        return replace(draft, total=Calibration.fit(largest))

    def table(self, channels: dict[str, Floats], ego_size: NDArray[np.int64]) -> ChannelTable:
        """The answers and scores of nodes, given their channels."""
        answers = self._answers(channels)
        largest = self._largest(answers, self._alone(channels), ego_size)
        score = self.total.surprise(largest)
        return ChannelTable(ego_size, channels, answers, score)

    def standing_out(self, channels: dict[str, Floats]) -> dict[str, NDArray[np.float64]]:
        """How rare single quantities are (N,), by the channels of `ALONE`, discounts taken off."""
        size = self.together.count
        return {
            name: np.maximum(rarity(name, channels[name].astype(np.float64), shift, size), 0.0)
            for name, shift in self.shifts.items()
        }

    def _answers(self, channels: dict[str, Floats]) -> dict[str, NDArray[np.float64]]:
        means = {question: _mean(question, channels, self.channels) for question in self.questions}
        answers = {name: self.questions[name].surprise(mean) for name, mean in means.items()}
        alone = self._alone(channels)
        # what does not count by itself does not count
        answers[ALONE] = np.where(alone > least_alone(self.together.count), alone, 0.0)
        return answers

    def _alone(self, channels: dict[str, Floats]) -> NDArray[np.float64]:
        """How rare the rarest single quantity is (N,)."""
        found: NDArray[np.float64] = np.max(list(self.standing_out(channels).values()), axis=0)
        return found

    def _largest(
        self,
        answers: dict[str, NDArray[np.float64]],
        alone: NDArray[np.float64],
        ego_size: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """All questions together (N,), or the one that counts by itself where that is rarer.

        Around the limit from which it counts it does so more and more, so that a small change of
        the data does not move a node far.
        """
        several = [values for name, values in answers.items() if name != ALONE]
        together = self.together.surprise(self.by_size.apply(combine(several), ego_size))
        # answers that are ranks are no rarer than one in all nodes; an impossible value is
        together = bounded(together, float(np.log(self.together.count)))
        weight = np.clip((alone - least_alone(self.together.count)) / _FADE + 0.5, 0.0, 1.0)
        # members of a clique are equally rare
        more = np.maximum(alone + _FOR_TIES * together - together, 0.0)
        found: NDArray[np.float64] = together + weight * more
        return found


def rarity(
    channel: str, surprises: NDArray[np.float64], shift: float, num_nodes: int
) -> NDArray[np.float64]:
    """How rare single quantities are (N,), less the `shift` and the discount of their channel.

    What is rarer than one in all nodes counts twice: no answer that is counted can be as rare.
    """
    beyond = np.maximum(surprises - np.log(num_nodes), 0.0)
    found: NDArray[np.float64] = surprises + beyond - shift - (CHANNELS[channel].discount or 0.0)
    return found


def least_alone(num_nodes: int) -> float:
    """How rare a single quantity must be to count by itself, among so many nodes."""
    return min(_LEAST_ALONE, max(HIGH, float(np.log(num_nodes)) - _FEWEST))


def combine(answers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The surprises (N,) of several questions as one number: their sum, the largest counted twice.

    A node may be a little unusual by every question, or very unusual by one.
    """
    total: NDArray[np.float64] = np.sum(answers, axis=0) + np.max(answers, axis=0)
    return total


def _mean(
    question: str, channels: dict[str, Floats], known: dict[str, Calibration]
) -> NDArray[np.float64]:
    """The mean surprise (N,) of the channels that answer a question."""
    names = channels_of(question)
    scaled = (CHANNELS[name].scaled(channels[name]) for name in names)
    parts = [known[name].bounded_surprise(v) for name, v in zip(names, scaled, strict=True)]
    mean: NDArray[np.float64] = np.mean(parts, axis=0)
    return mean


def _shift(surprises: Floats) -> float:
    """By how much the largest (N,) of several surprises is too large where 2% of the nodes are."""
    return max(0.0, float(np.quantile(surprises, 1.0 - _TOP)) + float(np.log(_TOP)))
