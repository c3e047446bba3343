"""Scores from a few formulas: what a model has to beat before it has shown anything.

They sum up the logarithms of tail ranks (Fisher, 1932) of two to four simple quantities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf

from egoscore.graph import AttributedGraph
from egoscore.graph.scaling import standardised
from egoscore.graph.structure import STRUCTURE, structure
from egoscore.rivals.trivial import Floats, Trivial

_RIDGE = 0.01
_PLACE = ("log_degree", "clustering", "neighbours_degree", "return_2", "return_3")


class _Quantities:
    """What the scores are made of, from features with zero mean and unit deviation."""

    def __init__(self, graph: AttributedGraph) -> None:
        self.x = standardised(graph).features.astype(np.float64)
        self.links = graph.neighbours.to_scipy().astype(np.float64)
        self.degree = graph.neighbours.degrees.astype(np.float64)
        found = structure(graph)
        self.clustering = found[:, STRUCTURE.index("clustering")]
        self.place = _usual(found[:, [STRUCTURE.index(name) for name in _PLACE]])
        self.around = self.mean(self.x)

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
        energy: Floats = own + others - 2.0 * (self.x * self.around).sum(axis=1)
        return energy

    def distance(self) -> Floats:
        """Distance to the neighbours' mean, (N,); zero without neighbours."""
        gap: Floats = np.linalg.norm(self.x - self.around, axis=1)
        return np.where(self.degree > 0, gap, 0.0)

    def unexplained(self) -> Floats:
        """How unusual the rest is when features are predicted from what is around, (N,)."""
        known = np.column_stack([self.around, self.place, np.ones(len(self.x))])
        gram = known.T @ known + _RIDGE * len(known) * np.eye(known.shape[1])
        return mahalanobis(self.x - known @ np.linalg.solve(gram, known.T @ self.x))


def _usual(values: Floats) -> Floats:
    deviation = values.std(axis=0)
    varies = deviation > 1e-9
    usual: Floats = (values[:, varies] - values[:, varies].mean(axis=0)) / deviation[varies]
    return usual


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


def _gaussian(graph: AttributedGraph, seed: int) -> Floats:
    known = _Quantities(graph)
    return fisher(known.ego_squares(), mahalanobis(known.place))


def _clustered(graph: AttributedGraph, seed: int) -> Floats:
    known = _Quantities(graph)
    return fisher(known.clustering, known.dirichlet())


def _centre(graph: AttributedGraph, seed: int) -> Floats:
    known = _Quantities(graph)
    return fisher(known.dirichlet(), mahalanobis(known.place))


def _four(graph: AttributedGraph, seed: int) -> Floats:
    known = _Quantities(graph)
    parts = known.dirichlet(), mahalanobis(known.place), known.squares, known.clustering
    return fisher(*parts)


def _linear(graph: AttributedGraph, seed: int) -> Floats:
    known = _Quantities(graph)
    return fisher(known.unexplained(), mahalanobis(known.place))


TRAINING_FREE: dict[str, Trivial] = {
    "neighbour-distance": Trivial(
        "Distance to neighbours' mean", lambda graph, seed: _Quantities(graph).distance()
    ),
    "clustering-dirichlet": Trivial("Clustering + Dirichlet", _clustered),
    "gaussian": Trivial("Ego-graph's features + structure", _gaussian),
    "centre-dirichlet": Trivial("Centre's Dirichlet + structure", _centre),
    "centre-dirichlet-4": Trivial("The same + features + clustering", _four),
    "linear": Trivial("Linear residual + structure", _linear),
}
