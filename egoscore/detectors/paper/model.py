"""The fitted model: networks, feature scaling, and the size limit of ego-graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.reconstruct import ReconstructionConfig
from egoscore.detectors.paper.sde import SDES, Sde
from egoscore.detectors.paper.settings import MODELS, PaperSettings
from egoscore.detectors.paper.train import TrainingConfig, TrainingState, train
from egoscore.detectors.serialization import named_under
from egoscore.errors import InputError
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.graph.positions import NUM_POSITIONS, POSITIONS

if TYPE_CHECKING:
    from egoscore.detectors.paper.storage import PaperStore


@dataclass(frozen=True)
class FittedModel:
    """Trained networks, and what is needed to prepare a graph as in training.

    Attributes: `average` the running average of the weights by name; `max_nodes` the size limit of
    ego-graphs; `history` the losses (features, adjacency) of every epoch.
    """

    settings: PaperSettings
    seed: int
    networks: GenerativeModel
    average: Mapping[str, Tensor]
    scaling: FeatureScaling
    directed: bool
    max_nodes: int
    history: list[tuple[float, float]] = field(default_factory=list)

    @property
    def sde(self) -> Sde:
        """The diffusion process that the networks were trained with."""
        return SDES[self.settings.sde]

    @property
    def reconstruction(self) -> ReconstructionConfig:
        """How ego-graphs are noised and denoised."""
        used = self.settings
        return ReconstructionConfig(used.num_levels, used.num_samples, used.steps, used.solver)

    def scoring_networks(self) -> GenerativeModel:
        """The networks to score with: the trained ones, or their running average."""
        if not self.settings.use_ema:
            return self.networks
        averaged = _empty_networks(self)
        averaged.load_state_dict(dict(self.average))
        return averaged

    def ego_graphs(self, graph: AttributedGraph, device: torch.device) -> EgoGraphs:
        """The ego-graphs of a graph, scaled and cut as in training."""
        return self.cut(self.scaled(graph), device)

    def scaled(self, graph: AttributedGraph) -> AttributedGraph:
        """The graph with features scaled and positions added as in training."""
        if graph.directed != self.directed:
            kinds = {True: "directed", False: "undirected"}
            raise InputError(
                f"The detector was fitted on a graph that is {kinds[self.directed]}, but this one "
                f"is {kinds[graph.directed]}; both must be of the same kind."
            )
        return with_positions(self.scaling.apply(graph), self.settings, self.seed)

    def cut(self, scaled: AttributedGraph, device: torch.device) -> EgoGraphs:
        """The ego-graphs of a graph that `scaled` has prepared."""
        return EgoGraphs(scaled, self.settings.num_hops, self.max_nodes, self.seed, device)

    def ego_sizes(self, graph: AttributedGraph) -> NDArray[np.int64]:
        """The size of every ego-graph of a graph, (N,)."""
        return EgoGraphs(graph, self.settings.num_hops, self.max_nodes, self.seed).sizes

    def tensors(self) -> dict[str, Tensor]:
        """Weights, averages, scaling and losses by name."""
        named = {f"model.{name}": value for name, value in self.networks.state_dict().items()}
        named |= {f"average.{name}": value for name, value in self.average.items()}
        named["scaling.mean"] = torch.from_numpy(self.scaling.mean)
        named["scaling.factor"] = torch.from_numpy(self.scaling.factor)
        named["history"] = torch.tensor(self.history, dtype=torch.float64).view(-1, 2)
        return {name: value.detach().cpu().contiguous() for name, value in named.items()}

    def metadata(self) -> dict[str, Any]:
        """What `from_tensors` needs beside the tensors."""
        return {
            "settings": asdict(self.settings),
            "seed": self.seed,
            "directed": self.directed,
            "max_nodes": self.max_nodes,
            "num_features": len(self.scaling.mean),
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], metadata: dict[str, Any]) -> FittedModel:
        """The model that `tensors` and `metadata` were taken from."""
        settings = PaperSettings(**metadata["settings"])
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


def make_networks(
    settings: PaperSettings, num_features: int, directed: bool, seed: int
) -> GenerativeModel:
    """Untrained networks as the settings describe them."""
    num_positions = 0 if settings.positions == "none" else NUM_POSITIONS
    make = _model_class(settings.model)
    return make(num_features, settings.hidden_size, directed, seed, num_positions)


def _model_class(name: str) -> Callable[..., GenerativeModel]:
    found = MODELS[name]
    if not isinstance(found, str):
        return found
    module, _, attribute = found.partition(":")
    kind: Callable[..., GenerativeModel] = getattr(import_module(module), attribute)
    return kind


def with_positions(graph: AttributedGraph, settings: PaperSettings, seed: int) -> AttributedGraph:
    """The graph with positional encodings of its nodes, if the settings ask for them."""
    if settings.positions == "none":
        return graph
    return replace(graph, positions=POSITIONS[settings.positions](graph, seed))


def _empty_networks(model: FittedModel) -> GenerativeModel:
    networks = make_networks(model.settings, len(model.scaling.mean), model.directed, model.seed)
    return networks.to(next(model.networks.parameters()).device)


def fit_model(
    graph: AttributedGraph,
    settings: PaperSettings,
    seed: int,
    device: torch.device,
    store: PaperStore | None = None,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> FittedModel:
    """Scale the features, cut the ego-graphs, train the networks from the last checkpoint on."""
    scaling = FeatureScaling.fit(graph.features)
    scaled = with_positions(scaling.apply(graph), settings, seed)
    egos = EgoGraphs(scaled, settings.num_hops, settings.max_nodes, seed, device)
    networks = make_networks(settings, graph.num_features, graph.directed, seed)
    state = TrainingState(networks.to(device), settings.lr, settings.weight_decay)
    if store is not None:
        store.resume(state)
    config = TrainingConfig(
        epochs=settings.epochs,
        lr=settings.lr,
        weight_decay=settings.weight_decay,
        batch_size=settings.batch_size,
    )

    def finish_epoch(state: TrainingState) -> None:
        if store is not None:
            store.keep(state, finished=state.epoch == config.epochs)
        after_epoch(state)

    train(state, egos, SDES[settings.sde], config, seed, finish_epoch)
    return FittedModel(
        settings=settings,
        seed=seed,
        networks=networks,
        average=state.average,
        scaling=scaling,
        directed=graph.directed,
        max_nodes=egos.max_nodes,
        history=state.history,
    )
