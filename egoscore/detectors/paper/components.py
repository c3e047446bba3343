"""The component table: what changed between each ego-graph and its reconstructions.

Equations 8 to 11 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.paper.ego import EgoBatch, EgoGraphs, padded_entries
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.errors import TrainingError

LEVEL_COMPONENTS = (
    "feature_error",
    "structure_error",
    "energy_after",
    "energy_shift",
    "centre_feature_error",
    "centre_structure_error",
)
EDGE_THRESHOLD = 0.5
_CAPACITY = 131_072  # padded entries of all chains of a batch
_FILL = 16_384  # smaller batches cost more in overhead than padding to this size does


@dataclass(frozen=True)
class ComponentTable:
    """One number per node, level and component, averaged over samples; all scores use these.

    Attributes:
        node: (N,) node numbers; ego_size: (N,) nodes in the ego-graph; energy: (N,) its
            normalised energy.
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
        """Flat columns (N,) named component@tau, as they are written to disk."""
        flat: dict[str, NDArray[np.generic]] = {
            "node": self.node,
            "ego_size": self.ego_size,
            "energy": self.energy,
        }
        for position, name in enumerate(LEVEL_COMPONENTS):
            for level, tau in enumerate(self.taus):
                flat[f"{name}@{tau:g}"] = self.values[:, level, position]
        return flat

    @classmethod
    def from_columns(
        cls, columns: Mapping[str, NDArray[Any]], taus: Sequence[float], num_samples: int
    ) -> ComponentTable:
        """The reverse of `columns`; all of `column_names` must be there."""
        values = [[columns[f"{name}@{tau:g}"] for name in LEVEL_COMPONENTS] for tau in taus]
        return cls(
            node=columns["node"],
            ego_size=columns["ego_size"],
            energy=columns["energy"],
            values=np.transpose(np.array(values, dtype=np.float32), (2, 0, 1)).copy(),
            taus=tuple(taus),
            num_samples=num_samples,
        )

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


def column_names(taus: Sequence[float]) -> list[str]:
    """The columns of a table with these noise levels."""
    of_levels = (f"{name}@{tau:g}" for name in LEVEL_COMPONENTS for tau in taus)
    return ["node", "ego_size", "energy", *of_levels]


def binarise(adj: Tensor) -> Tensor:
    """A reconstructed adjacency (…, N, N) rounded to edges: 1 from 0.5 upwards, else 0."""
    return (adj >= EDGE_THRESHOLD).to(adj.dtype)


def feature_error(x: Tensor, restored: Tensor, sizes: Tensor) -> Tensor:
    """‖X - X̂‖_F / (N·F) for x (…, B, N, F), sizes (B,) the real node counts."""
    distance: Tensor = torch.linalg.vector_norm(x - restored, dim=(-2, -1))
    return distance / (sizes * x.shape[-1])


def structure_error(adj: Tensor, restored: Tensor, sizes: Tensor) -> Tensor:
    """‖A - Â‖_F / N² for adj (…, B, N, N), sizes (B,) the real node counts."""
    distance: Tensor = torch.linalg.vector_norm(adj - restored, dim=(-2, -1))
    return distance / sizes.square()


def normalised_energy(x: Tensor, adj: Tensor) -> Tensor:
    """E(X, L) / ‖X‖² for x (B, N, F) and non-negative adj (B, N, N), shape (B,).

    L = D^(†/2) (D - A) D^(†/2): nodes without edges have zero rows. A directed adjacency is
    symmetrised as (A + Aᵀ)/2. Features that are all zero have energy 0.
    """
    adj = (adj + adj.transpose(-1, -2)) / 2
    # the result does not depend on the scale of x; this avoids overflow of the squares
    largest = x.abs().amax(dim=(1, 2), keepdim=True)
    x = x / largest.where(largest > 0, 1.0)
    degree = adj.sum(dim=-1)  # (B, N)
    scaled = x * degree.clamp(min=1e-12).rsqrt().where(degree > 0, 0.0).unsqueeze(-1)
    own = degree.unsqueeze(-1) * scaled
    energy = (scaled * (own - adj @ scaled)).sum(dim=(1, 2)).clamp(min=0.0)
    squared_norm = x.square().sum(dim=(1, 2))
    return energy / squared_norm.where(squared_norm > 0, 1.0)


def measure(
    egos: EgoGraphs,
    model: GenerativeModel,
    settings: PaperSettings,
    seed: int,
    centres: NDArray[np.int64],
    advance: Callable[[int], None] = lambda count: None,
) -> ComponentTable:
    """The component table of the nodes `centres`.

    A node's numbers hardly depend on the other nodes: matrix products may differ in the last bits,
    and padding adds nothing where ego-graphs of different sizes share a batch.
    """
    chains = settings.num_levels * settings.num_samples
    parts = []
    with torch.inference_mode():
        reconstruction = Reconstruction(egos, model, settings, seed)
        for chunk in egos.chunks(centres, max(1, _CAPACITY // chains), _FILL // chains):
            parts.append(_measure_batch(reconstruction, egos.batch(chunk)))
            advance(len(chunk))
    return ComponentTable.join(parts)


def _measure_batch(reconstruction: Reconstruction, batch: EgoBatch) -> ComponentTable:
    settings = reconstruction.settings
    energy = normalised_energy(batch.x, batch.adj)
    groups = []
    for samples in _sample_groups(batch, settings):
        restored_x, restored_adj = reconstruction.restore(batch, samples)
        groups.append(_compare(batch, energy, restored_x, binarise(restored_adj)))
    averaged = torch.cat(groups, dim=1).mean(dim=1).transpose(0, 1)  # (B, K, C)
    if not bool(torch.isfinite(averaged).all()):
        bad = _first_bad(batch.node, averaged)
        raise not_finite("reconstruction", reconstruction.egos.graph.ids[bad])
    return ComponentTable(
        node=batch.node,
        ego_size=batch.sizes,
        energy=energy.cpu().numpy(),
        values=averaged.cpu().numpy(),
        taus=tuple(reconstruction.taus),
        num_samples=settings.num_samples,
    )


def not_finite(what: str, node_id: Any) -> TrainingError:
    """The error for a quantity of a node that is not a finite number."""
    return TrainingError(
        f"The {what} of node {node_id!r} is not finite: either the model did not learn (train with "
        "a smaller lr), or features are far outside the range of the training graph (check their "
        "units)."
    )


def _sample_groups(batch: EgoBatch, settings: PaperSettings) -> list[range]:
    """The samples in groups that fit into memory: usually a single group."""
    per_sample = settings.num_levels * len(batch.node) * int(padded_entries(batch.sizes.max()))
    together = max(1, _CAPACITY // per_sample)
    starts = range(0, settings.num_samples, together)
    return [range(start, min(start + together, settings.num_samples)) for start in starts]


def _first_bad(nodes: NDArray[np.int64], values: Tensor) -> np.int64:
    finite = torch.isfinite(values).flatten(1).all(dim=1).cpu().numpy()
    first: np.int64 = nodes[~finite][0]
    return first


def _compare(batch: EgoBatch, energy: Tensor, restored_x: Tensor, restored_adj: Tensor) -> Tensor:
    """All components of every chain, (K, S, B, C) in the order of `LEVEL_COMPONENTS`."""
    sizes = batch.mask.sum(dim=1)
    energy_after = normalised_energy(restored_x.flatten(0, 2), restored_adj.flatten(0, 2))
    energy_after = energy_after.view(restored_x.shape[:3])
    centre_x = (batch.x[:, 0] - restored_x[..., 0, :]).norm(dim=-1) / batch.x.shape[-1]
    centre_adj = (batch.adj[:, 0] - restored_adj[..., 0, :]).norm(dim=-1) / sizes
    return torch.stack(
        [
            feature_error(batch.x, restored_x, sizes),
            structure_error(batch.adj, restored_adj, sizes),
            energy_after,
            (energy - energy_after).abs(),
            centre_x,
            centre_adj,
        ],
        dim=-1,
    )
