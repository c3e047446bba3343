"""Scores without a model, from simple formulas: what any model has to beat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf

from egoscore.bench.rivals.egonets import amen, oddball
from egoscore.graph import AttributedGraph
from egoscore.graph.scaling import standardised
from egoscore.graph.structure import STRUCTURE, structure

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Formula:
    """A title for tables, and a score (N,) from a graph and a seed; higher is more abnormal."""

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
    """Share of the pairs of a node's neighbours that are neighbours themselves, (N,)."""
    return structure(graph)[:, STRUCTURE.index("clustering")]


def _squares(graph: AttributedGraph) -> Floats:
    x = graph.features
    squares: Floats = np.einsum("nf,nf->n", x, x, dtype=np.float64)
    return squares


def _of_graph(title: str, score: Callable[[AttributedGraph], Floats]) -> Formula:
    """A formula without chance."""
    return Formula(title, lambda graph, seed: score(graph))


TRIVIAL = {
    "random": Formula("Random", random_order),
    "degree": _of_graph("Degree", degree),
    "-degree": _of_graph("-Degree", lambda graph: -degree(graph)),
    "norm": _of_graph("Feature norm", feature_norm),
    "norm-standardised": _of_graph(
        "Feature norm (standardised)", lambda graph: feature_norm(standardised(graph))
    ),
    "ego-norm": _of_graph("Ego-graph norm", lambda graph: ego_norm(standardised(graph))),
    "clustering": _of_graph("Clustering", clustering),
}
EGO_NETWORKS = {"oddball": _of_graph("OddBall", oddball), "amen": _of_graph("AMEN", amen)}


_RIDGE = 0.01
_POSITION = ("log_degree", "clustering", "neighbours_degree", "return_2", "return_3")


class _Quantities:
    """The quantities that scores combine, from features with zero mean and unit deviation."""

    def __init__(self, graph: AttributedGraph) -> None:
        self.x = standardised(graph).features.astype(np.float64)
        self.links = graph.neighbours.to_scipy().astype(np.float64)
        self.degree = graph.neighbours.degrees.astype(np.float64)
        found = structure(graph)
        self.clustering = found[:, STRUCTURE.index("clustering")]
        self.position = _standardise(found[:, [STRUCTURE.index(name) for name in _POSITION]])
        self.neighbours_mean = self.mean(self.x)

    def mean(self, values: Floats) -> Floats:
        """Mean over the neighbours of values (N, C), zero where there are none."""
        mean: Floats = (self.links @ values) / np.maximum(self.degree, 1.0)[:, None]
        return mean

    @property
    def squares(self) -> Floats:
        """‖x‖² (N,)."""
        squares: Floats = np.square(self.x).sum(axis=1)
        return squares

    def ego_squares(self) -> Floats:
        """Mean of ‖x‖² over the ego-graph, (N,)."""
        mean: Floats = (self.squares + self.links @ self.squares) / (self.degree + 1.0)
        return mean

    def dirichlet(self) -> Floats:
        """Mean of ‖x - y‖² over the neighbours y, (N,)."""
        own = np.where(self.degree > 0, self.squares, 0.0)
        others = self.mean(self.squares[:, None])[:, 0]
        energy: Floats = own + others - 2.0 * (self.x * self.neighbours_mean).sum(axis=1)
        return energy

    def distance(self) -> Floats:
        """Distance to the neighbours' mean, (N,); zero without neighbours."""
        gap: Floats = np.linalg.norm(self.x - self.neighbours_mean, axis=1)
        return np.where(self.degree > 0, gap, 0.0)

    def unexplained(self) -> Floats:
        """Mahalanobis distance of residuals, predicting features from the neighbourhood, (N,)."""
        known = np.column_stack([self.neighbours_mean, self.position, np.ones(len(self.x))])
        gram = known.T @ known + _RIDGE * len(known) * np.eye(known.shape[1])
        return mahalanobis(self.x - known @ np.linalg.solve(gram, known.T @ self.x))


def _standardise(values: Floats) -> Floats:
    deviation = values.std(axis=0)
    varies = deviation > 1e-9
    scaled: Floats = (values[:, varies] - values[:, varies].mean(axis=0)) / deviation[varies]
    return scaled


def mahalanobis(rows: Floats) -> Floats:
    """Squared distances (N,) of rows (N, C) from their mean, by their shrunk covariance."""
    if len(rows) == 1 or rows.shape[1] == 0:
        return np.zeros(len(rows))
    centred = rows - rows.mean(axis=0)
    covariance, _ = ledoit_wolf(centred, assume_centered=True)
    distance: Floats = (centred * (centred @ np.linalg.pinv(covariance, hermitian=True))).sum(1)
    return distance


def fisher(*scores: NDArray[np.floating]) -> Floats:
    """The sum of minus the logarithms of tail ranks, (N,)."""
    total = np.zeros(len(scores[0]))
    for score in scores:
        total -= np.log((len(score) - rankdata(score) + 0.5) / len(score))
    return total


def _of_quantities(title: str, score: Callable[[_Quantities], Floats]) -> Formula:
    return _of_graph(title, lambda graph: score(_Quantities(graph)))


TRAINING_FREE = {
    "neighbour-distance": _of_quantities("Distance to neighbours' mean", _Quantities.distance),
    "clustering-dirichlet": _of_quantities(
        "Clustering + Dirichlet", lambda q: fisher(q.clustering, q.dirichlet())
    ),
    "gaussian": _of_quantities(
        "Ego-graph's features + structure",
        lambda q: fisher(q.ego_squares(), mahalanobis(q.position)),
    ),
    "centre-dirichlet": _of_quantities(
        "Centre's Dirichlet + structure", lambda q: fisher(q.dirichlet(), mahalanobis(q.position))
    ),
    "centre-dirichlet-4": _of_quantities(
        "The same + features + clustering",
        lambda q: fisher(q.dirichlet(), mahalanobis(q.position), q.squares, q.clustering),
    ),
    "linear": _of_quantities(
        "Linear residual + structure", lambda q: fisher(q.unexplained(), mahalanobis(q.position))
    ),
}
