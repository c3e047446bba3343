"""Noise every ego-graph to several levels, bring it back, and measure what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.compare import binarise, feature_error, normalised_energy, structure_error
from egoscore.diffuse import EgoNoise, Sde, perturb
from egoscore.diffuse.sde import per_graph
from egoscore.ego import EgoBatch, EgoGraphs
from egoscore.errors import TrainingError
from egoscore.keyed import Keys, Purpose
from egoscore.learn import ScoreModel
from egoscore.learn.inference import Inference
from egoscore.learn.pairs import pair_order
from egoscore.reverse import SOLVERS, levels, num_steps, solve
from egoscore.score.table import ComponentTable

_CAPACITY = 65_536  # padded entries of all chains of a batch together


@dataclass(frozen=True)
class ReconstructionConfig:
    """How ego-graphs are noised and brought back."""

    num_levels: int
    num_samples: int
    steps: int
    solver: str


def measure(
    egos: EgoGraphs,
    model: ScoreModel,
    sde: Sde,
    config: ReconstructionConfig,
    seed: int,
    centres: NDArray[np.int64],
    advance: Callable[[int], None] = lambda count: None,
) -> ComponentTable:
    """The component table of the nodes `centres`.

    Ego-graphs of different sizes are never mixed in a batch, so a node's numbers hardly depend
    on what else is measured (matrix products may differ in the last bits).
    """
    chains = config.num_levels * config.num_samples
    parts = []
    with torch.inference_mode():
        networks = Inference(model)
        for chunk in egos.chunks(centres, max(1, _CAPACITY // chains)):
            parts.append(_measure_batch(egos, egos.batch(chunk), networks, sde, config, seed))
            advance(len(chunk))
    return ComponentTable.join(parts)


def _measure_batch(
    egos: EgoGraphs,
    batch: EgoBatch,
    networks: Inference,
    sde: Sde,
    config: ReconstructionConfig,
    seed: int,
) -> ComponentTable:
    taus = levels(config.num_levels)
    many = _chains(batch, config.num_levels * config.num_samples)
    noise = _chain_noise(egos, batch, config, seed)
    restored_x, restored_adj = _reconstruct(many, noise, taus, networks, sde, config)
    per_chain = _compare(many, restored_x, binarise(restored_adj))  # (K·S·B, C)
    shape = (config.num_levels, config.num_samples, len(batch.node), -1)
    # chains run from the highest level to the lowest; the table from the lowest to the highest
    averaged = per_chain.view(shape).mean(dim=1).flip(0).transpose(0, 1)
    if not bool(torch.isfinite(averaged).all()):
        raise TrainingError(
            f"The reconstruction of node {egos.graph.ids[_first_bad(batch.node, averaged)]!r} is "
            "not finite: either the networks did not learn (train with a smaller lr), or features "
            "are far outside the range of the training network (check their units)."
        )
    return ComponentTable(
        node=batch.node,
        ego_size=batch.sizes,
        energy=normalised_energy(batch.x, batch.adj).cpu().numpy(),
        values=averaged.cpu().numpy(),
        taus=tuple(taus),
        num_samples=config.num_samples,
    )


def _first_bad(nodes: NDArray[np.int64], values: Tensor) -> np.int64:
    finite = torch.isfinite(values).flatten(1).all(dim=1).cpu().numpy()
    first: np.int64 = nodes[~finite][0]
    return first


def _chains(batch: EgoBatch, copies: int) -> EgoBatch:
    """Every ego-graph `copies` times, copy after copy."""
    return EgoBatch(
        batch.x.repeat(copies, 1, 1),
        batch.adj.repeat(copies, 1, 1),
        batch.mask.repeat(copies, 1),
        np.tile(batch.node, copies),
    )


def _chain_noise(
    egos: EgoGraphs, batch: EgoBatch, config: ReconstructionConfig, seed: int
) -> EgoNoise:
    """Keys for levels from the highest down, samples within a level, nodes within a sample."""
    count = len(batch.node)
    level = np.repeat(np.arange(config.num_levels)[::-1], config.num_samples * count)
    sample = np.tile(np.repeat(np.arange(config.num_samples), count), config.num_levels)
    copies = config.num_levels * config.num_samples
    keys = Keys(seed, np.tile(batch.node, copies), level, sample)
    graph = egos.graph
    sizes = np.tile(batch.sizes, copies)
    return EgoNoise(keys, sizes, graph.num_features, graph.directed, egos.device, packed=True)


def _reconstruct(
    many: EgoBatch,
    noise: EgoNoise,
    taus: list[float],
    networks: Inference,
    sde: Sde,
    config: ReconstructionConfig,
) -> tuple[Tensor, Tensor]:
    """Noise each chain to its level and solve back; shapes as in `many`.

    On the way an adjacency is the vector of its pairs, (B, 1, P): all graphs have one size.
    """
    level = torch.from_numpy(noise.keys.level)
    tau = torch.tensor(taus, dtype=torch.float64)[level]
    steps = torch.tensor([num_steps(tau, config.steps) for tau in taus])[level]
    width = many.x.shape[1]
    noise_x = noise.features(Purpose.FORWARD_FEATURES, 0, width)
    noise_pairs = noise.adjacency(Purpose.FORWARD_ADJACENCY, 0, width)
    order = pair_order(width, noise.directed, many.x.device)

    def gradients(x: Tensor, pairs: Tensor, mask: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        in_x, in_pairs = networks.predict_noise(x, pairs.squeeze(1))
        scale = per_graph(-1.0 / sde.std(t), x)
        return in_x * scale, in_pairs.unsqueeze(1) * scale

    x, pairs = solve(
        perturb(many.x, noise_x, sde, tau),
        perturb(order.pack(many.adj).unsqueeze(1), noise_pairs, sde, tau),
        many.mask,
        tau,
        steps,
        gradients,
        sde,
        SOLVERS[config.solver],
        noise,
    )
    return x, order.unpack(pairs.squeeze(1))


def _compare(many: EgoBatch, restored_x: Tensor, restored_adj: Tensor) -> Tensor:
    """All components of every chain, (B, C) in the order of `LEVEL_COMPONENTS`."""
    sizes = many.mask.sum(dim=1)
    energy_after = normalised_energy(restored_x, restored_adj)
    centre_x = (many.x[:, 0] - restored_x[:, 0]).norm(dim=1) / many.x.shape[-1]
    centre_adj = (many.adj[:, 0] - restored_adj[:, 0]).norm(dim=1) / sizes
    return torch.stack(
        [
            feature_error(many.x, restored_x, sizes),
            structure_error(many.adj, restored_adj, sizes),
            energy_after,
            (normalised_energy(many.x, many.adj) - energy_after).abs(),
            centre_x,
            centre_adj,
        ],
        dim=1,
    )
