"""The paper's recipe: noise whole ego-graphs, denoise them, compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.bars import Bars
from egoscore.engine.fit import fit_model
from egoscore.engine.measure import measure_nodes
from egoscore.engine.model import FittedModel
from egoscore.engine.recipe import Recipe
from egoscore.engine.run import RunDirectory
from egoscore.explain.reconstructing import ReconstructionReasons
from egoscore.graph import AttributedGraph
from egoscore.score import ComponentTable, Reconstruction, combine
from egoscore.settings import Settings


@dataclass(frozen=True)
class Reconstructing(Recipe):
    """A generative model of ego-graphs, and what the paper makes of it."""

    fitted: FittedModel

    @classmethod
    def fit(
        cls,
        graph: AttributedGraph,
        settings: Settings,
        seed: int,
        device: torch.device,
        num_workers: int,
        bars: Bars,
        run: RunDirectory | None,
    ) -> tuple[Reconstructing, ComponentTable]:
        """Learn from a network and measure its nodes, continuing what is in `run`."""
        with bars("Learning ego-graphs", settings.epochs, "epochs") as advance:
            done = 0

            def show(state: Any) -> None:
                nonlocal done
                advance(state.epoch - done)
                done = state.epoch

            recipe = cls(fit_model(graph, settings, seed, device, run, show))
        return recipe, recipe.measure(graph, device, num_workers, bars, run)

    def measure(
        self,
        graph: AttributedGraph,
        device: torch.device,
        num_workers: int,
        bars: Bars,
        run: RunDirectory | None = None,
    ) -> ComponentTable:
        """The component table of a network, shard by shard."""
        with bars("Reconstructing", graph.num_nodes, "nodes") as advance:
            return measure_nodes(self.fitted, graph, device, num_workers, run, advance)

    def score(self, table: ComponentTable) -> NDArray[np.float64]:
        """The paper's equation 7."""
        used = self.fitted.settings
        return combine(table, used.dissimilarity, used.alpha, used.weighting, self.fitted.sde)

    def reasoner(
        self, graph: AttributedGraph, table: ComponentTable, device: torch.device
    ) -> ReconstructionReasons:
        """What comes back different about a node."""
        fitted = self.fitted
        egos, networks = fitted.ego_graphs(graph, device), fitted.scoring_networks().to(device)
        way = Reconstruction(egos, networks, fitted.sde, fitted.reconstruction, fitted.seed)
        return ReconstructionReasons(way, graph, fitted.scaling, table)

    @property
    def model(self) -> FittedModel:
        """Networks, scaling and settings."""
        return self.fitted

    @property
    def history(self) -> NDArray[np.float64]:
        """Losses of features and adjacency (epochs, 2)."""
        return np.array(self.fitted.history, dtype=np.float64).reshape(-1, 2)

    @property
    def num_features(self) -> int:
        """How many features a network must have."""
        return len(self.fitted.scaling.mean)

    def pack(self, table: ComponentTable) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Weights and the component table."""
        tensors = self.fitted.tensors() | {
            "training.node": torch.from_numpy(table.node),
            "training.ego_size": torch.from_numpy(table.ego_size),
            "training.energy": torch.from_numpy(table.energy),
            "training.values": torch.from_numpy(np.ascontiguousarray(table.values)),
        }
        facts = {"taus": table.taus, "num_samples": table.num_samples}
        return tensors, self.fitted.metadata() | facts

    @classmethod
    def unpack(
        cls, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]
    ) -> tuple[Reconstructing, ComponentTable]:
        """What `pack` put away."""
        table = ComponentTable(
            node=tensors["training.node"].numpy(),
            ego_size=tensors["training.ego_size"].numpy(),
            energy=tensors["training.energy"].numpy(),
            values=tensors["training.values"].numpy(),
            taus=tuple(facts["taus"]),
            num_samples=facts["num_samples"],
        )
        return cls(FittedModel.from_tensors(tensors, dict(facts))), table
