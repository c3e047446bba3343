"""What some nodes are expected to be, in the units of their features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph
from egoscore.surprise.centre import parts_of
from egoscore.surprise.covariance import Floats
from egoscore.surprise.judged import judged_features
from egoscore.surprise.model import SurpriseModel, surroundings
from egoscore.surprise.neighbours import as_seen_by_others


@dataclass(frozen=True)
class Expectation:
    """Features of n nodes as they are and as expected, (n, F) each, scaled to unit deviation."""

    observed: Floats
    expected: Floats

    @property
    def errors(self) -> Floats:
        """What is not explained, (n, F)."""
        return self.observed - self.expected


def expect(
    model: SurpriseModel,
    graph: AttributedGraph,
    structure: NDArray[np.float64],
    nodes: NDArray[np.int64],
    is_training: bool,
) -> Expectation:
    """The expectation of `nodes` (n,), whose neighbours alone are looked at.

    `structure` (N, 7) is that of the whole network. Nodes of the training network are predicted by
    what has not seen them.
    """
    observed = scaled_features(model, graph, nodes)
    links = graph.neighbours.to_scipy()[nodes]
    others = np.unique(links.indices)
    white = as_seen_by_others(model.whitening.apply(scaled_features(model, graph, others)))
    degrees = np.maximum(np.diff(links.indptr), 1)[:, None].astype(np.float32)
    around = ((links[:, others] @ white) / degrees).astype(np.float32)
    known = surroundings(around, structure[nodes] if model.is_told_structure else None)
    folds = parts_of(graph.num_nodes, model.seed)[:, nodes] if is_training else None
    guess = model.centre.expected(known, model.whitening.apply(observed), folds)
    return Expectation(observed, model.whitening.revert(guess))


def scaled_features(
    model: SurpriseModel, graph: AttributedGraph, nodes: NDArray[np.integer]
) -> Floats:
    """The features of nodes as the model sees them, (n, F)."""
    return judged_features(model.scaling, graph, nodes)
