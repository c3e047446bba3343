"""Measure what changed between an ego-graph and its reconstructions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.compare import binarise, feature_error, normalised_energy, structure_error
from egoscore.diffuse import Sde
from egoscore.ego import EgoBatch, EgoGraphs, padded_entries
from egoscore.errors import TrainingError
from egoscore.keyed import Seeds
from egoscore.learn import GenerativeModel
from egoscore.score.reconstruct import Reconstruction, ReconstructionConfig
from egoscore.score.table import ComponentTable

_CAPACITY = 131_072  # padded entries of all chains of a batch together
_LARGEST_STACK = 2**21  # the same of all models of a stack: a few hundred megabytes
_FILL = 16_384  # below this a batch costs more in overhead than padding to it does


def measure(
    egos: EgoGraphs,
    model: GenerativeModel,
    sde: Sde,
    config: ReconstructionConfig,
    seed: Seeds,
    centres: NDArray[np.int64],
    advance: Callable[[int], None] = lambda count: None,
) -> ComponentTable:
    """The component table of the nodes `centres`.

    A node's numbers hardly depend on what else is measured: matrix products may differ in the
    last bits, and padding, where a few ego-graphs of different sizes share a batch, adds nothing.
    With a stack of T models a node has T rows, one for each.
    """
    chains = config.num_levels * config.num_samples
    parts = []
    with torch.inference_mode():
        reconstruction = Reconstruction(egos, model, sde, config, seed)
        for chunk in egos.chunks(centres, max(1, _CAPACITY // chains), _FILL // chains):
            parts.append(_measure_batch(reconstruction, egos.batch(chunk)))
            advance(len(chunk))
    return ComponentTable.join(parts)


def most_models(sizes: NDArray[np.int64], config: ReconstructionConfig) -> int:
    """How many models memory allows in a stack, by the sizes (N,) of the ego-graphs.

    A model's batches are in a stack as large as alone, so that its numbers are the same.
    """
    entries = padded_entries(sizes)
    all_chains = config.num_levels * config.num_samples * int(entries.sum())
    batch = min(all_chains, max(_CAPACITY, config.num_levels * int(entries.max())))
    return max(1, _LARGEST_STACK // batch)


def _measure_batch(reconstruction: Reconstruction, batch: EgoBatch) -> ComponentTable:
    config = reconstruction.config
    energy = normalised_energy(batch.x, batch.adj)
    groups = []
    for samples in _sample_groups(batch, config, len(reconstruction.egos.seeds)):
        restored_x, restored_adj = reconstruction.restore(batch, samples)
        groups.append(_compare(batch, energy, restored_x, binarise(restored_adj)))
    averaged = torch.cat(groups, dim=1).mean(dim=1).transpose(0, 1)  # (B, K, C)
    if not bool(torch.isfinite(averaged).all()):
        bad = reconstruction.egos.graph.ids[_first_bad(batch.node, averaged)]
        raise TrainingError(
            f"The reconstruction of node {bad!r} is not finite: either the networks did not learn "
            "(train with a smaller lr), or features are far outside the range of the training "
            "network (check their units)."
        )
    return ComponentTable(
        node=batch.node,
        ego_size=batch.sizes,
        energy=energy.cpu().numpy(),
        values=averaged.cpu().numpy(),
        taus=tuple(reconstruction.taus),
        num_samples=config.num_samples,
    )


def _sample_groups(batch: EgoBatch, config: ReconstructionConfig, num_models: int) -> list[range]:
    """The samples in groups that fit into memory: one group, unless there are very many."""
    count = len(batch.node) // num_models
    per_sample = config.num_levels * count * int(padded_entries(batch.sizes.max()))
    together = max(1, _CAPACITY // per_sample)
    starts = range(0, config.num_samples, together)
    return [range(start, min(start + together, config.num_samples)) for start in starts]


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
