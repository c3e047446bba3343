"""Fit a model to a network, continuing an earlier attempt where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from egoscore.diffuse import SDES
from egoscore.ego import EgoGraphs
from egoscore.engine.model import FittedModel, make_networks, with_positions
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.learn import TrainingConfig, TrainingState, train
from egoscore.settings import Settings


class TrainingStore(Protocol):
    """Where the state of training is kept, so that nothing is lost when a machine dies."""

    def resume(self, state: TrainingState) -> None:
        """Bring `state` to what was kept last, if anything was."""

    def keep(self, state: TrainingState, finished: bool) -> None:
        """Keep `state`, now or when enough has happened since the last time."""


def fit_model(
    graph: AttributedGraph,
    settings: Settings,
    seed: int,
    device: torch.device,
    store: TrainingStore | None = None,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> FittedModel:
    """Scale the features, cut the ego-graphs, train the networks."""
    (fitted,) = fit_models(graph, [settings], [seed], device, store, after_epoch)
    return fitted


def fit_models(
    graph: AttributedGraph,
    all_settings: Sequence[Settings],
    seeds: Sequence[int],
    device: torch.device,
    store: TrainingStore | None = None,
    after_epoch: Callable[[TrainingState], None] = lambda state: None,
) -> list[FittedModel]:
    """Several models as one stack, each what it is alone.

    Their settings may differ in lr, and batches must take all nodes. `store` is for one model.
    """
    settings, lr = all_settings[0], [settings.lr for settings in all_settings]
    scaling = FeatureScaling.fit(graph.features)
    scaled = with_positions(scaling.apply(graph), settings, seeds)
    egos = EgoGraphs(scaled, settings.num_hops, settings.max_nodes, seeds, device)
    networks = make_networks(settings, graph.num_features, graph.directed, seeds).to(device)
    state = TrainingState(networks, lr if networks.stack else lr[0], settings.weight_decay)
    if store is not None:
        store.resume(state)
    config = TrainingConfig(
        epochs=settings.epochs,
        lr=lr,
        weight_decay=settings.weight_decay,
        batch_size=settings.batch_size,
    )

    def finish_epoch(state: TrainingState) -> None:
        if store is not None:
            store.keep(state, finished=state.epoch == config.epochs)
        after_epoch(state)

    train(state, egos, SDES[settings.sde], config, seeds, finish_epoch)
    learned = zip(
        all_settings, seeds, networks.apart(), state.averages, state.histories, strict=True
    )
    return [
        FittedModel(
            settings=own,
            seed=seed,
            networks=network,
            average=average,
            scaling=scaling,
            directed=graph.directed,
            max_nodes=egos.max_nodes,
            history=history,
        )
        for own, seed, network, average, history in learned
    ]
