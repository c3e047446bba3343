"""The component table: everything scoring measured, before it becomes one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

LEVEL_COMPONENTS = (
    "feature_error",
    "structure_error",
    "energy_after",
    "energy_shift",
    "centre_feature_error",
    "centre_structure_error",
)


@dataclass(frozen=True)
class ComponentTable:
    """For every node, level and component one number, averaged over the samples.

    Attributes:
        node: (N,) node numbers; ego_size: (N,) nodes in the ego-graph; energy: (N,) its
            normalised energy as it is.
        values: (N, K, C) float32, in the order of `LEVEL_COMPONENTS`:
            feature_error ‖X - X̂‖/(N·F), structure_error ‖A - Â‖/N², energy_after the normalised
            energy of the reconstruction, energy_shift the absolute difference to `energy`;
            centre_feature_error and centre_structure_error: the centre's own rows, ‖x - x̂‖/F and
            ‖a - â‖/N.
        taus: (K,) the noise levels; num_samples: how many samples were averaged.
    """

    node: NDArray[np.int64]
    ego_size: NDArray[np.int64]
    energy: NDArray[np.float32]
    values: NDArray[np.float32]
    taus: tuple[float, ...]
    num_samples: int

    def component(self, name: str) -> NDArray[np.float32]:
        """One component at all levels, shape (N, K)."""
        return self.values[:, :, LEVEL_COMPONENTS.index(name)]

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Flat columns by name, as they are written to disk: component@tau."""
        flat: dict[str, NDArray[np.generic]] = {
            "node": self.node,
            "ego_size": self.ego_size,
            "energy": self.energy,
        }
        for position, name in enumerate(LEVEL_COMPONENTS):
            for level, tau in enumerate(self.taus):
                flat[f"{name}@{tau:g}"] = self.values[:, level, position]
        return flat

    def apart(self, count: int) -> list[ComponentTable]:
        """The tables of a stack of that many models, whose rows are mixed in turns."""
        return [
            replace(
                self,
                node=self.node[model::count],
                ego_size=self.ego_size[model::count],
                energy=self.energy[model::count],
                values=self.values[model::count],
            )
            for model in range(count)
        ]

    @classmethod
    def join(cls, parts: Sequence[ComponentTable]) -> ComponentTable:
        """Several tables as one, sorted by node."""
        node = np.concatenate([part.node for part in parts])
        order = np.argsort(node, kind="stable")
        return cls(
            node=node[order],
            ego_size=np.concatenate([part.ego_size for part in parts])[order],
            energy=np.concatenate([part.energy for part in parts])[order],
            values=np.concatenate([part.values for part in parts])[order],
            taus=parts[0].taus,
            num_samples=parts[0].num_samples,
        )
