"""The paper's detector: noise whole ego-graphs, denoise them, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.base import Detector, Facts, Job, Losses, Store
from egoscore.detectors.calibration import Calibration
from egoscore.detectors.inputs import InputBlock, graph_blocks, measured_block
from egoscore.detectors.paper.combine import combine
from egoscore.detectors.paper.components import ComponentTable
from egoscore.detectors.paper.explain import ReconstructionExplainer, answers, level_means
from egoscore.detectors.paper.model import FittedModel, fit_model
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.shards import measure_nodes
from egoscore.detectors.paper.train import LOSSES, TrainingState
from egoscore.detectors.serialization import pack, unpack
from egoscore.graph import AttributedGraph
from egoscore.notes import Note


@final
@dataclass(frozen=True)
class PaperDetector(Detector):
    """A generative model of ego-graphs, and the score that the paper derives from it."""

    fitted: FittedModel

    @classmethod
    def fit(
        cls, graph: AttributedGraph, settings: PaperSettings, job: Job
    ) -> tuple[Self, ComponentTable]:
        """Train, continuing at the last checkpoint; then measure all nodes."""
        with job.bars("Training", settings.epochs, "epochs") as advance:
            done = 0

            def show(state: TrainingState) -> None:
                nonlocal done
                advance(state.epoch - done)
                done = state.epoch

            fitted = fit_model(graph, settings, job.seed, job.device, job.store, show)
        detector = cls(fitted)
        return detector, detector._measure(graph, job, job.store)

    def measure(self, graph: AttributedGraph, job: Job) -> ComponentTable:
        return self._measure(graph, job, None)

    def _measure(self, graph: AttributedGraph, job: Job, store: Store | None) -> ComponentTable:
        with job.bars("Reconstructing", graph.num_nodes, "nodes") as advance:
            where = job.device, job.num_workers
            return measure_nodes(self.fitted, graph, *where, store, advance)

    def score(self, table: ComponentTable) -> NDArray[np.float64]:
        """Equation 7 of the paper."""
        used = self.fitted.settings
        return combine(table, used.dissimilarity, used.alpha, used.weighting, self.fitted.sde)

    def p_values(
        self, score: NDArray[np.float64], training_score: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        calibration = Calibration.fit(training_score)
        return calibration.p_value(calibration.surprise(score))

    def answers(self, table: ComponentTable, nodes: Sequence[int]) -> list[dict[str, float]]:
        means = level_means(table)
        return [answers(means, table.ego_size, node) for node in nodes]

    def caveats(
        self, graph: AttributedGraph, table: ComponentTable, num_significant: int
    ) -> list[Note]:
        return []

    def explainer(
        self, graph: AttributedGraph, table: ComponentTable, job: Job
    ) -> ReconstructionExplainer:
        fitted = self.fitted
        egos = fitted.ego_graphs(graph, job.device)
        networks = fitted.scoring_networks().to(job.device)
        reconstruction = Reconstruction(egos, networks, fitted.settings, fitted.seed)
        return ReconstructionExplainer(reconstruction, graph, fitted.scaling, table)

    @classmethod
    def quicker(cls, settings: PaperSettings) -> None:
        """Training and reconstructing again would take as long as the first time."""

    def inputs(self, graph: AttributedGraph, table: ComponentTable) -> tuple[InputBlock, ...]:
        measured = {name: c for name, c in table.columns().items() if name != "node"}
        return measured_block(measured), *graph_blocks(graph)

    @property
    def model(self) -> FittedModel:
        return self.fitted

    @property
    def losses(self) -> Losses:
        return Losses(self.fitted.history, LOSSES, "epoch")

    @property
    def num_features(self) -> int:
        return len(self.fitted.scaling.mean)

    def to_tensors(self, table: ComponentTable) -> tuple[dict[str, Tensor], Facts]:
        tensors, facts = self.fitted.to_tensors()
        pack(table, "training", tensors, facts)
        return tensors, facts

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, Tensor], facts: Facts
    ) -> tuple[Self, ComponentTable]:
        table = unpack(ComponentTable, "training", tensors, facts)
        return cls(FittedModel.from_tensors(tensors, dict(facts))), table
