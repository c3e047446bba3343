"""The default recipe: is a node what its surroundings let one expect?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.bars import Bars
from egoscore.engine.model import FORMAT, FORMAT_VERSION
from egoscore.engine.pack import pack, unpack
from egoscore.engine.recipe import Recipe
from egoscore.engine.run import RunDirectory
from egoscore.explain.surprising import SurpriseReasons
from egoscore.graph import AttributedGraph
from egoscore.surprise.model import SurpriseModel, Surprises
from egoscore.surprise.network import Training


@dataclass(frozen=True)
class Surprising(Recipe):
    """What was learned, and the fingerprint of the network it was learned from."""

    learned: SurpriseModel
    settings: Training
    fingerprint: str

    @classmethod
    def fit(
        cls,
        graph: AttributedGraph,
        settings: Training,
        seed: int,
        device: torch.device,
        num_workers: int,
        bars: Bars,
        run: RunDirectory | None,
    ) -> tuple[Surprising, Surprises]:
        """Learn from a network and judge its nodes, with networks that `run` has already.

        All on the CPU and in one process: it takes seconds, or minutes for millions of nodes.
        """
        learned, table = SurpriseModel.fit(graph, settings, seed, run, bars)
        return cls(learned, settings, graph.fingerprint()), table

    def measure(
        self, graph: AttributedGraph, device: torch.device, num_workers: int, bars: Bars
    ) -> Surprises:
        """The surprises of a network; nodes it was learned from are judged as when it was."""
        return self.learned.judge(graph, graph.fingerprint() == self.fingerprint, bars)

    def score(self, table: Surprises) -> NDArray[np.float64]:
        """All surprises together."""
        return table.score

    def reasoner(
        self, graph: AttributedGraph, table: Surprises, device: torch.device
    ) -> SurpriseReasons:
        """What surprises about a node."""
        is_training = graph.fingerprint() == self.fingerprint
        return SurpriseReasons(self.learned, graph, table, is_training)

    @property
    def model(self) -> SurpriseModel:
        """Everything learned."""
        return self.learned

    @property
    def history(self) -> NDArray[np.float64]:
        """Losses of the networks (updates, networks)."""
        return self.learned.centre.history

    @property
    def num_features(self) -> int:
        """How many features a network must have."""
        return len(self.learned.scaling.shift)

    def pack(self, table: Surprises) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The model and the table, by their fields."""
        tensors: dict[str, Tensor] = {}
        facts: dict[str, Any] = {}
        pack(self.learned, "model", tensors, facts)
        pack(table, "training", tensors, facts)
        about = {"format": FORMAT, "format_version": FORMAT_VERSION, "recipe": "surprise"}
        known = {"settings": asdict(self.settings), "fingerprint": self.fingerprint}
        return tensors, about | known | {"facts": facts}

    @classmethod
    def unpack(
        cls, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]
    ) -> tuple[Surprising, Surprises]:
        """What `pack` put away."""
        learned = unpack(SurpriseModel, "model", tensors, facts["facts"])
        table = unpack(Surprises, "training", tensors, facts["facts"])
        return cls(learned, Training(**facts["settings"]), facts["fingerprint"]), table
