"""The fitted model: neural networks, feature scaling, and the size limit of ego-graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.base import Facts, Store, require_same_direction
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.positions import NUM_POSITIONS, POSITIONS
from egoscore.detectors.paper.sde import SDES, Sde
from egoscore.detectors.paper.settings import MODELS, PaperSettings
from egoscore.detectors.paper.train import Checkpoints, TrainingState, train
from egoscore.detectors.serialization import named_under, pack, unpack
from egoscore.graph import AttributedGraph, FeatureScaling


@dataclass(frozen=True)
class FittedModel:
    """Trained neural networks, and what is needed to prepare a graph as in training.

    Attributes: `average` the running average of the weights by name; `max_nodes` the size limit of
    ego-graphs; `history` (epochs, 2) the losses of features and adjacency.
    """

    settings: PaperSettings
    seed: int
    networks: GenerativeModel
    average: Mapping[str, Tensor]
    scaling: FeatureScaling
    directed: bool
    max_nodes: int
    history: NDArray[np.float64]

    @property
    def sde(self) -> Sde:
        """The diffusion process that the networks were trained with."""
        return SDES[self.settings.sde]

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
        require_same_direction(self.directed, graph)
        return with_positions(self.scaling.apply(graph), self.settings, self.seed)

    def cut(self, scaled: AttributedGraph, device: torch.device) -> EgoGraphs:
        """The ego-graphs of a graph that `scaled` has prepared."""
        return EgoGraphs(scaled, self.settings.num_hops, self.max_nodes, self.seed, device)

    def ego_sizes(self, graph: AttributedGraph) -> NDArray[np.int64]:
        """The size of every ego-graph of a graph, (N,)."""
        return EgoGraphs(graph, self.settings.num_hops, self.max_nodes, self.seed).sizes

    def to_tensors(self) -> tuple[dict[str, Tensor], Facts]:
        """Everything as named tensors and JSON facts."""
        facts: Facts = {
            "settings": asdict(self.settings),
            "seed": self.seed,
            "directed": self.directed,
            "max_nodes": self.max_nodes,
            "num_features": len(self.scaling.mean),
        }
        tensors = {f"average.{name}": value.clone() for name, value in self.average.items()}
        pack(self.networks, "model", tensors, facts)
        pack(self.scaling, "scaling", tensors, facts)
        pack(self.history, "history", tensors, facts)
        return tensors, facts

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], facts: Facts) -> FittedModel:
        """What `to_tensors` gave."""
        settings = PaperSettings(**facts["settings"])
        networks = make_networks(settings, facts["num_features"], facts["directed"], 0)
        networks.load_state_dict(named_under("model.", tensors))
        return cls(
            settings=settings,
            seed=facts["seed"],
            networks=networks,
            average=named_under("average.", tensors),
            scaling=unpack(FeatureScaling, "scaling", tensors, facts),
            directed=facts["directed"],
            max_nodes=facts["max_nodes"],
            history=tensors["history"].numpy(),
        )


def make_networks(
    settings: PaperSettings, num_features: int, directed: bool, seed: int
) -> GenerativeModel:
    """Untrained neural networks as the settings describe them."""
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
    store: Store | None = None,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> FittedModel:
    """Scale the features, cut the ego-graphs, train the networks from the last checkpoint on."""
    scaling = FeatureScaling.fit(graph.features)
    scaled = with_positions(scaling.apply(graph), settings, seed)
    egos = EgoGraphs(scaled, settings.num_hops, settings.max_nodes, seed, device)
    networks = make_networks(settings, graph.num_features, graph.directed, seed)
    state = TrainingState(networks.to(device), settings.lr, settings.weight_decay)
    checkpoints = Checkpoints(store)
    checkpoints.resume(state)

    def finish_epoch(state: TrainingState) -> None:
        checkpoints.keep(state, finished=state.epoch == settings.epochs)
        after_epoch(state)

    train(state, egos, settings, seed, finish_epoch)
    return FittedModel(
        settings=settings,
        seed=seed,
        networks=networks,
        average=state.average,
        scaling=scaling,
        directed=graph.directed,
        max_nodes=egos.max_nodes,
        history=np.array(state.history, dtype=np.float64).reshape(-1, 2),
    )
