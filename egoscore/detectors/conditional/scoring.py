"""From channels to one score: each channel, each question and their sum are calibrated in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.calibration import Calibration
from egoscore.detectors.conditional.by_size import BySize
from egoscore.detectors.conditional.channels import ALONE, CHANNELS, channels_of
from egoscore.detectors.conditional.covariance import Floats


@dataclass(frozen=True)
class ChannelTable:
    """What was measured about every node.

    Attributes: `ego_size` (N,) nodes in the ego-graph; `channels` (N,) each, as measured;
    `questions` (N,) each: minus the logarithm of how rare an answer is; `score` (N,) the same for
    all answers together, among nodes with a similar number of neighbours. Higher is more abnormal.
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
    """The calibrations of a training graph: what is usual for each channel and each question."""

    channels: dict[str, Calibration]
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
        known = {name: Calibration.fit(CHANNELS[name].scaled(v)) for name, v in channels.items()}
        means = {question: _joined(question, channels, known) for question in questions}
        answered = {question: Calibration.fit(mean) for question, mean in means.items()}
        answers = {name: answered[name].surprise(mean) for name, mean in means.items()}
        total = combine([v for name, v in answers.items() if name not in ALONE])
        by_size = BySize.fit(total, ego_size) if compares_sizes else BySize.ignored()
        relative = by_size.apply(total, ego_size)
        together = Calibration.fit(relative)
        draft = cls(known, answered, by_size, together, together)
        return replace(draft, total=Calibration.fit(draft._largest(answers, ego_size)))

    def table(self, channels: dict[str, Floats], ego_size: NDArray[np.int64]) -> ChannelTable:
        """The answers and scores of nodes, given their channels."""
        means = {question: _joined(question, channels, self.channels) for question in self.questions}
        answers = {name: self.questions[name].surprise(mean) for name, mean in means.items()}
        score = self.total.surprise(self._largest(answers, ego_size))
        return ChannelTable(ego_size, channels, answers, score)

    def _largest(
        self, answers: dict[str, NDArray[np.float64]], ego_size: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The largest (N,) of the surprises that count by themselves, and of the others together.
        """
        several = [values for name, values in answers.items() if name not in ALONE]
        together = self.together.surprise(self.by_size.apply(combine(several), ego_size))
        alone = [values for name, values in answers.items() if name in ALONE]
        largest: NDArray[np.float64] = np.max([together, *alone], axis=0)
        return largest


def combine(answers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The surprises (N,) of several questions as one number: their sum, the largest counted twice.

    A node may be a little unusual by every question, or very unusual by one.
    """
    total: NDArray[np.float64] = np.sum(answers, axis=0) + np.max(answers, axis=0)
    return total


def _joined(
    question: str, channels: dict[str, Floats], known: dict[str, Calibration]
) -> NDArray[np.float64]:
    """The mean surprise (N,) of the channels that answer a question; the largest for `ALONE`."""
    names = channels_of(question)
    scaled = (CHANNELS[name].scaled(channels[name]) for name in names)
    parts = [known[name].bounded_surprise(v) for name, v in zip(names, scaled, strict=True)]
    if question in ALONE:
        # not bounded: their channels are
        scaled = (CHANNELS[name].scaled(channels[name]) for name in names)
        parts = [known[name].surprise(v) for name, v in zip(names, scaled, strict=True)]
    joined: NDArray[np.float64] = (np.max if question in ALONE else np.mean)(parts, axis=0)
    return joined
