"""The default detector: is a node what its neighbourhood predicts?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.base import Detector, Facts, Job, Losses
from egoscore.detectors.conditional.caveats import caveats
from egoscore.detectors.conditional.channels import QUESTIONS, Measurement, measure
from egoscore.detectors.conditional.explain import ConditionalExplainer
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.scoring import ChannelTable, Scoring
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.detectors.inputs import InputBlock, graph_blocks, measured_block
from egoscore.detectors.serialization import pack, unpack
from egoscore.graph import AttributedGraph
from egoscore.notes import Note


@final
@dataclass(frozen=True)
class ConditionalDetector(Detector):
    """What was learned, how it is scored, and the fingerprint of the training graph."""

    learned: ConditionalModel
    scoring: Scoring
    fingerprint: str
    is_calibrated: ClassVar[bool] = True

    @classmethod
    def fit(
        cls, graph: AttributedGraph, settings: ConditionalSettings, job: Job
    ) -> tuple[Self, ChannelTable]:
        """Learn, measure the channels, calibrate.

        All on the CPU and in one process: it takes seconds, or minutes for millions of nodes.
        """
        learned, view = ConditionalModel.fit(graph, settings, job)
        channels = measure(Measurement(learned, view, is_training=True), job.bars)
        scoring = Scoring.fit(
            channels, _asked(learned, graph), view.ego_size, not graph.is_structural
        )
        table = scoring.table(channels, view.ego_size)
        return cls(learned, scoring, graph.fingerprint()), table

    def measure(self, graph: AttributedGraph, job: Job) -> ChannelTable:
        view = self.learned.view(graph)
        channels = measure(Measurement(self.learned, view, self._is_training(graph)), job.bars)
        return self.scoring.table(channels, view.ego_size)

    def _is_training(self, graph: AttributedGraph) -> bool:
        return graph.fingerprint() == self.fingerprint

    def score(self, table: ChannelTable) -> NDArray[np.float64]:
        return table.score

    def p_values(
        self, score: NDArray[np.float64], training_score: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return self.scoring.total.p_value(score)

    def answers(self, table: ChannelTable, nodes: Sequence[int]) -> list[dict[str, float]]:
        return [{q: float(v[node]) for q, v in table.questions.items()} for node in nodes]

    def caveats(
        self, graph: AttributedGraph, table: ChannelTable, num_significant: int
    ) -> list[Note]:
        return caveats(self.learned, graph, table, num_significant)

    def explainer(
        self, graph: AttributedGraph, table: ChannelTable, job: Job
    ) -> ConditionalExplainer:
        shifts, is_training = self.scoring.shifts, self._is_training(graph)
        return ConditionalExplainer(self.learned, graph, table, shifts, is_training)

    @classmethod
    def quicker(cls, settings: ConditionalSettings) -> ConditionalSettings:
        """Networks change the ranking little: a quarter of the training shows whether they do."""
        return replace(settings, updates=max(1, settings.updates // 4))

    def inputs(self, graph: AttributedGraph, table: ChannelTable) -> tuple[InputBlock, ...]:
        return measured_block(table.channels), *graph_blocks(graph)

    @property
    def model(self) -> ConditionalModel:
        return self.learned

    @property
    def losses(self) -> Losses:
        return Losses(self.learned.centre.history, step="update")

    @property
    def num_features(self) -> int:
        return len(self.learned.scaling.shift)

    def to_tensors(self, table: ChannelTable) -> tuple[dict[str, Tensor], Facts]:
        tensors: dict[str, Tensor] = {}
        facts: Facts = {}
        pack(self, "detector", tensors, facts)
        pack(table, "training", tensors, facts)
        return tensors, facts

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], facts: Facts) -> tuple[Self, ChannelTable]:
        detector: Self = unpack(cls, "detector", tensors, facts)
        return detector, unpack(ChannelTable, "training", tensors, facts)


def _asked(model: ConditionalModel, graph: AttributedGraph) -> list[str]:
    """The questions that can be asked.

    Not about similarity where neighbours predict nothing about a node; only about the position
    where the features are the structure.
    """
    if graph.is_structural:
        return ["position", "extremes"]
    left_out = () if model.has_homophily else ("similarity",)
    return [question for question in QUESTIONS if question not in left_out]
