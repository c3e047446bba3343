"""The features that a model predicts for some nodes, on the scale of their features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.denoiser import folds_of
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.neighbours import clipped, neighbour_mean, surplus
from egoscore.detectors.conditional.preprocess import preprocess
from egoscore.detectors.conditional.view import context_of
from egoscore.graph import AttributedGraph


@dataclass(frozen=True)
class Expectation:
    """Observed and predicted features of n nodes, (n, F) each, scaled to unit deviation."""

    observed: Floats
    expected: Floats

    @property
    def errors(self) -> Floats:
        """Prediction errors (n, F)."""
        return self.observed - self.expected


def expect(
    model: ConditionalModel,
    graph: AttributedGraph,
    structure: NDArray[np.float64],
    nodes: NDArray[np.int64],
    is_training: bool,
) -> Expectation:
    """The expectation of `nodes` (n,); only their neighbours are read.

    `structure` (N, S) is that of the whole graph. Nodes of the training graph are predicted by
    networks that were not trained on them.
    """
    observed = scaled_features(model, graph, nodes)
    links = graph.neighbours.to_scipy()[nodes]
    others = np.unique(links.indices)
    white = clipped(model.whitening.apply(scaled_features(model, graph, others)))
    means = [neighbour_mean(links[:, others], white)]
    if graph.directed:
        sent = graph.adjacency.to_scipy()
        means.append(surplus(sent[nodes][:, others], sent[:, nodes][others].T, white))
    known = context_of(means, structure[nodes] if model.uses_structure else None)
    folds = folds_of(graph.num_nodes, model.seed)[:, nodes] if is_training else None
    guess = model.centre.expected(known, model.whitening.apply(observed), folds)
    return Expectation(observed, model.whitening.revert(guess))


def scaled_features(
    model: ConditionalModel, graph: AttributedGraph, nodes: NDArray[np.integer]
) -> Floats:
    """The features of nodes on the model's scale, (n, F)."""
    return preprocess(model.scaling, graph, nodes)
