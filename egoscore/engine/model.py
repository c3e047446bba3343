"""What fitting leaves behind, and how it becomes inert bytes and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.diffuse import SDES, Sde
from egoscore.ego import EgoGraphs
from egoscore.errors import InputError, RunError
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.graph.positions import NUM_POSITIONS, POSITIONS
from egoscore.keyed import Seeds, as_seeds
from egoscore.learn import MODELS, GenerativeModel
from egoscore.learn.state import named_under
from egoscore.score import ReconstructionConfig
from egoscore.settings import Settings

FORMAT = "egoscore-model"
FORMAT_VERSION = 4


@dataclass(frozen=True)
class FittedModel:
    """Networks, feature scaling, and what is needed to cut ego-graphs as in training.

    Attributes: `average` the running average of the weights by name; `max_nodes` the size limit
    in force; `history` the losses (features, adjacency) of every epoch.
    """

    settings: Settings
    seed: int
    networks: GenerativeModel
    average: Mapping[str, Tensor]
    scaling: FeatureScaling
    directed: bool
    max_nodes: int
    history: list[tuple[float, float]] = field(default_factory=list)

    @property
    def sde(self) -> Sde:
        """The diffusion the networks were trained for."""
        return SDES[self.settings.sde]

    @property
    def reconstruction(self) -> ReconstructionConfig:
        """How ego-graphs are noised and brought back."""
        used = self.settings
        return ReconstructionConfig(used.num_levels, used.num_samples, used.steps, used.solver)

    def scoring_networks(self) -> GenerativeModel:
        """The networks to score with: as trained, or their running average."""
        if not self.settings.use_ema:
            return self.networks
        averaged = _empty_networks(self)
        averaged.load_state_dict(dict(self.average))
        return averaged

    def ego_graphs(self, graph: AttributedGraph, device: torch.device) -> EgoGraphs:
        """The ego-graphs of a network, scaled and cut as in training."""
        return self.cut(self.scaled(graph), device)

    def scaled(self, graph: AttributedGraph) -> AttributedGraph:
        """The network with its features scaled, and its nodes placed, as in training."""
        if graph.directed != self.directed:
            kinds = {True: "directed", False: "undirected"}
            raise InputError(
                f"The detector was fitted on a network that is {kinds[self.directed]}, this one "
                f"is {kinds[graph.directed]}; give both the same way."
            )
        return with_positions(self.scaling.apply(graph), self.settings, self.seed)

    def cut(self, scaled: AttributedGraph, device: torch.device) -> EgoGraphs:
        """The ego-graphs of a network that is scaled already."""
        return EgoGraphs(scaled, self.settings.num_hops, self.max_nodes, self.seed, device)

    def ego_sizes(self, graph: AttributedGraph) -> NDArray[np.int64]:
        """How many nodes each ego-graph of a network has, (N,)."""
        return EgoGraphs(graph, self.settings.num_hops, self.max_nodes, self.seed).sizes

    def tensors(self) -> dict[str, Tensor]:
        """Weights, averages and scaling by name."""
        named = {f"model.{name}": value for name, value in self.networks.state_dict().items()}
        named |= {f"average.{name}": value for name, value in self.average.items()}
        named["scaling.mean"] = torch.from_numpy(self.scaling.mean)
        named["scaling.factor"] = torch.from_numpy(self.scaling.factor)
        named["history"] = torch.tensor(self.history, dtype=torch.float64).view(-1, 2)
        return {name: value.detach().cpu().contiguous() for name, value in named.items()}

    def metadata(self) -> dict[str, Any]:
        """What the tensors are."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "settings": asdict(self.settings),
            "seed": self.seed,
            "directed": self.directed,
            "max_nodes": self.max_nodes,
            "num_features": len(self.scaling.mean),
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], metadata: dict[str, Any]) -> FittedModel:
        """The model that `tensors` and `metadata` describe."""
        settings = Settings(**metadata["settings"])
        networks = make_networks(settings, metadata["num_features"], metadata["directed"], 0)
        networks.load_state_dict(named_under("model.", tensors))
        mean, factor = tensors["scaling.mean"].numpy(), tensors["scaling.factor"].numpy()
        return cls(
            settings=settings,
            seed=metadata["seed"],
            networks=networks,
            average=named_under("average.", tensors),
            scaling=FeatureScaling(mean, factor),
            directed=metadata["directed"],
            max_nodes=metadata["max_nodes"],
            history=[(row[0], row[1]) for row in tensors["history"].tolist()],
        )


def parse_metadata(text: Mapping[str, str] | None, where: str) -> dict[str, Any]:
    """The metadata of a model file, or a clear refusal."""
    try:
        metadata: dict[str, Any] = dict(json.loads((text or {})["egoscore"]))
    except (KeyError, RecursionError, TypeError, ValueError):
        raise RunError(f"{where} is a safetensors file, but not a model of egoscore.") from None
    if metadata.get("format") != FORMAT or metadata.get("format_version") != FORMAT_VERSION:
        raise RunError(
            f"{where} has model format {metadata.get('format_version')}; this version of egoscore "
            f"reads format {FORMAT_VERSION}: update egoscore or fit the model again."
        )
    return metadata


def make_networks(
    settings: Settings, num_features: int, directed: bool, seed: Seeds
) -> GenerativeModel:
    """Untrained networks of the kind that the settings ask for; with several seeds a stack."""
    num_positions = 0 if settings.positions == "none" else NUM_POSITIONS
    make = MODELS[settings.model]
    made = [
        make(num_features, settings.hidden_size, directed, int(one), num_positions)
        for one in as_seeds(seed)
    ]
    return made[0] if len(made) == 1 else GenerativeModel.side_by_side(made)


def with_positions(graph: AttributedGraph, settings: Settings, seed: Seeds) -> AttributedGraph:
    """The network with what the model is told about its nodes, if it is told anything."""
    if settings.positions == "none":
        return graph
    place = POSITIONS[settings.positions]
    known = [place(graph, int(one)) for one in as_seeds(seed)]
    return replace(graph, positions=known[0] if len(known) == 1 else np.stack(known))


def _empty_networks(model: FittedModel) -> GenerativeModel:
    networks = make_networks(model.settings, len(model.scaling.mean), model.directed, model.seed)
    return networks.to(next(model.networks.parameters()).device)
