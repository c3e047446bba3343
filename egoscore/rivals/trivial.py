"""Scores that need no model; a method that does not beat them has learned nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph
from egoscore.graph.scaling import standardised
from egoscore.rivals.egonets import count_triangles

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trivial:
    """A title for tables, and a score (N,) from a network and a seed; higher is more abnormal."""

    title: str
    score: Callable[[AttributedGraph, int], Floats]


def random_order(graph: AttributedGraph, seed: int) -> Floats:
    """Uniform numbers, (N,)."""
    return np.random.default_rng(seed).random(graph.num_nodes)


def degree(graph: AttributedGraph) -> Floats:
    """Number of neighbours, whichever way the edges point, (N,)."""
    return graph.neighbours.degrees.astype(np.float64)


def feature_norm(graph: AttributedGraph) -> Floats:
    """‖x‖ of every node's features, (N,)."""
    return np.sqrt(_squares(graph))


def ego_norm(graph: AttributedGraph) -> Floats:
    """‖X‖_F / (n·F) over the n nodes of every node's whole 1-hop ego-graph, (N,)."""
    own = _squares(graph)
    norm: Floats = np.sqrt(own + graph.neighbours.to_scipy() @ own)
    return norm / ((degree(graph) + 1) * graph.num_features)


def clustering(graph: AttributedGraph) -> Floats:
    """Share of the pairs of a node's neighbours that are neighbours themselves, (N,).

    0 where there is no pair.
    """
    count = degree(graph)
    pairs = np.maximum(count * (count - 1) / 2, 1.0)
    return count_triangles(graph.neighbours) / pairs


def _squares(graph: AttributedGraph) -> Floats:
    x = graph.features
    squares: Floats = np.einsum("nf,nf->n", x, x, dtype=np.float64)
    return squares


TRIVIAL: dict[str, Trivial] = {
    "random": Trivial("Random", random_order),
    "degree": Trivial("Degree", lambda graph, seed: degree(graph)),
    "-degree": Trivial("-Degree", lambda graph, seed: -degree(graph)),
    "norm": Trivial("Feature norm", lambda graph, seed: feature_norm(graph)),
    "norm-standardised": Trivial(
        "Feature norm (standardised)", lambda graph, seed: feature_norm(standardised(graph))
    ),
    "ego-norm": Trivial("Ego-graph norm", lambda graph, seed: ego_norm(standardised(graph))),
    "clustering": Trivial("Clustering", lambda graph, seed: clustering(graph)),
}
