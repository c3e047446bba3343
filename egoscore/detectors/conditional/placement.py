"""Is a node's position in the graph unusual?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Distance, Floats, sample_rows
from egoscore.graph.structure import STRUCTURE

_DEGREE, _CLUSTERING = STRUCTURE.index("log_degree"), STRUCTURE.index("clustering")
_MOST_NODES = 200_000
_NODES_AT_ONCE = 65_536


@dataclass(frozen=True)
class Place:
    """The expected structure of a node, and how much nodes differ from it.

    Attributes: `mean` and `deviation` (S,) of the structure; `overall`, the distance from the mean;
    `coefficients` (6, S - 1) of a smooth curve that predicts the rest from the degree; `scale`
    (S - 1,) of the deviations from it; `given_degree`, the distance from that prediction.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    overall: Distance
    coefficients: NDArray[np.float64]
    scale: NDArray[np.float64]
    given_degree: Distance

    @classmethod
    def fit(cls, structure: NDArray[np.float64], seed: int) -> Place:
        """From the structure (N, S) of all nodes, or of many."""
        structure = structure[sample_rows(len(structure), _MOST_NODES, seed)]
        mean, deviation = structure.mean(axis=0), _deviation(structure)
        overall = Distance.fit(((structure - mean) / deviation).astype(np.float32), seed)
        known, others = _known(structure), _others(structure)
        coefficients: NDArray[np.float64] = np.linalg.pinv(known, rcond=1e-8) @ others
        left = others - known @ coefficients
        scale = _deviation(left)
        given_degree = Distance.fit((left / scale).astype(np.float32), seed)
        return cls(mean, deviation, overall, coefficients, scale, given_degree)

    def distance(self, structure: NDArray[np.float64]) -> Floats:
        """Squared distances (N,) of structures (N, S) from the usual one."""

        def from_mean(rows: NDArray[np.float64]) -> Floats:
            usual = (rows - self.mean) / self.deviation
            return self.overall.squared(usual.astype(np.float32))

        return _in_parts(from_mean, structure)

    def distance_given_degree(self, structure: NDArray[np.float64]) -> Floats:
        """Squared distances (N,) of structures (N, S) from what the degree predicts."""

        def from_prediction(rows: NDArray[np.float64]) -> Floats:
            left = _others(rows) - _known(rows) @ self.coefficients
            return self.given_degree.squared((left / self.scale).astype(np.float32))

        return _in_parts(from_prediction, structure)

    @staticmethod
    def clustering(structure: NDArray[np.float64]) -> Floats:
        """The clustering coefficients (N,), which are high in cliques.

        Where many nodes are in a clique, the rest of their structure is not unusual.
        """
        return structure[:, _CLUSTERING].astype(np.float32)

    def compare(self, structure: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Observed and expected structure of one node, and the deviation, (S,) each.

        The deviation is in standard deviations. The expected degree is the mean; the rest is
        predicted from the degree.
        """
        others = _known(structure[None])[0] @ self.coefficients
        expected = np.insert(others, _DEGREE, self.mean[_DEGREE])
        usual = np.insert(self.scale, _DEGREE, self.deviation[_DEGREE])
        return structure, expected, (structure - expected) / usual


def _in_parts(
    measure: Callable[[NDArray[np.float64]], Floats], structure: NDArray[np.float64]
) -> Floats:
    found = np.empty(len(structure), dtype=np.float32)
    for start in range(0, len(structure), _NODES_AT_ONCE):
        rows = slice(start, start + _NODES_AT_ONCE)
        found[rows] = measure(structure[rows])
    return found


def _deviation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviations of the columns; infinite where nothing varies and nothing counts."""
    found = values.std(axis=0)
    return np.where(found > 1e-9, found, np.inf)


def _known(structure: NDArray[np.float64]) -> NDArray[np.float64]:
    """The regressors of the curve (N, 6), with an indicator for each of the smallest degrees."""
    degree = structure[:, _DEGREE]
    few = [np.isclose(degree, np.log1p(count)) for count in (0, 1, 2)]
    return np.column_stack([np.ones_like(degree), degree, np.square(degree), *few])


def _others(structure: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.delete(structure, _DEGREE, axis=1)
