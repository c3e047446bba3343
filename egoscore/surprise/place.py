"""Is a node's place in the network unusual for a node with so many neighbours?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.structure import STRUCTURE
from egoscore.surprise.covariance import Distance, Floats, sample_rows

_DEGREE = STRUCTURE.index("log_degree")
_MOST_NODES = 200_000
_NODES_AT_ONCE = 65_536


@dataclass(frozen=True)
class Place:
    """What the structure of a node is expected to be given its degree, and how far it may differ.

    Attributes: `coefficients` (6, S) of the smooth curve; `scale` (S,) deviations; `distance`
    between what is and what is expected.
    """

    coefficients: NDArray[np.float64]
    scale: NDArray[np.float64]
    distance: Distance

    @classmethod
    def fit(cls, structure: NDArray[np.float64], seed: int) -> Place:
        """From the structure (N, 7) of all nodes, or of many."""
        structure = structure[sample_rows(len(structure), _MOST_NODES, seed)]
        known, others = _known(structure), _others(structure)
        coefficients: NDArray[np.float64] = np.linalg.pinv(known, rcond=1e-8) @ others
        left = others - known @ coefficients
        scale = np.where(left.std(axis=0) > 1e-9, left.std(axis=0), np.inf)
        return cls(coefficients, scale, Distance.fit((left / scale).astype(np.float32), seed))

    def surprise(self, structure: NDArray[np.float64]) -> Floats:
        """Squared distances from what is expected, (N,)."""
        found = np.empty(len(structure), dtype=np.float32)
        for start in range(0, len(structure), _NODES_AT_ONCE):
            part = structure[start : start + _NODES_AT_ONCE]
            left = _others(part) - _known(part) @ self.coefficients
            scaled = (left / self.scale).astype(np.float32)
            found[start : start + _NODES_AT_ONCE] = self.distance.squared(scaled)
        return found

    def compared(self, structure: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Of one node (7,): what is, what its degree lets one expect, and how far off, (6,) each.

        The last in usual deviations.
        """
        observed, known = _others(structure[None])[0], _known(structure[None])[0]
        expected = known @ self.coefficients
        return observed, expected, (observed - expected) / self.scale


def _known(structure: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degree as a curve can use it (N, 6): where there are few neighbours, each number apart."""
    degree = structure[:, _DEGREE]
    few = [np.isclose(degree, np.log1p(count)) for count in (0, 1, 2)]
    return np.column_stack([np.ones_like(degree), degree, np.square(degree), *few])


def _others(structure: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.delete(structure, _DEGREE, axis=1)
