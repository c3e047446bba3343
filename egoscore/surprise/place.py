"""Is a node's place in the network unusual?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.structure import STRUCTURE
from egoscore.surprise.covariance import Distance, Floats, sample_rows

_DEGREE, _CLUSTERING = STRUCTURE.index("log_degree"), STRUCTURE.index("clustering")
_MOST_NODES = 200_000
_NODES_AT_ONCE = 65_536


@dataclass(frozen=True)
class Place:
    """What the structure of a node is expected to be, and how far it may differ.

    Attributes: `mean` and `deviation` (S,) of the structure; `overall`, the distance from what is
    usual; `coefficients` (6, S - 1) of the smooth curve that a degree lets one expect; `scale`
    (S - 1,) deviations from it; `given_degree`, the distance between what is and what is expected.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    overall: Distance
    coefficients: NDArray[np.float64]
    scale: NDArray[np.float64]
    given_degree: Distance

    @classmethod
    def fit(cls, structure: NDArray[np.float64], seed: int) -> Place:
        """From the structure (N, 7) of all nodes, or of many."""
        structure = structure[sample_rows(len(structure), _MOST_NODES, seed)]
        mean, deviation = structure.mean(axis=0), _deviation(structure)
        overall = Distance.fit(((structure - mean) / deviation).astype(np.float32), seed)
        known, others = _known(structure), _others(structure)
        coefficients: NDArray[np.float64] = np.linalg.pinv(known, rcond=1e-8) @ others
        left = others - known @ coefficients
        scale = _deviation(left)
        given_degree = Distance.fit((left / scale).astype(np.float32), seed)
        return cls(mean, deviation, overall, coefficients, scale, given_degree)

    def surprises(self, structure: NDArray[np.float64]) -> dict[str, Floats]:
        """What is measured about places, (N,) each.

        Squared distances from what the degree lets one expect, and from what is usual; and
        clustering, the mark of cliques: where many nodes are in one, the rest is expected of them.
        """
        return {
            "structure_given_degree": _in_parts(self._from_degree, structure),
            "structure": _in_parts(self._from_all, structure),
            "clustering": structure[:, _CLUSTERING].astype(np.float32),
        }

    def _from_degree(self, structure: NDArray[np.float64]) -> Floats:
        left = _others(structure) - _known(structure) @ self.coefficients
        return self.given_degree.squared((left / self.scale).astype(np.float32))

    def _from_all(self, structure: NDArray[np.float64]) -> Floats:
        usual = (structure - self.mean) / self.deviation
        return self.overall.squared(usual.astype(np.float32))

    def compared(self, structure: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Of one node (7,): what is, what one expects, and how far off, (7,) each.

        The last in usual deviations. Of the degree the mean is expected, of the rest what the
        degree lets one expect.
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
    """Degree as a curve can use it (N, 6): where there are few neighbours, each number apart."""
    degree = structure[:, _DEGREE]
    few = [np.isclose(degree, np.log1p(count)) for count in (0, 1, 2)]
    return np.column_stack([np.ones_like(degree), degree, np.square(degree), *few])


def _others(structure: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.delete(structure, _DEGREE, axis=1)
