"""Noise ego-graphs to several levels and bring them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from egoscore.diffuse import EgoNoise, Sde, perturb
from egoscore.diffuse.sde import per_graph
from egoscore.ego import EgoBatch, EgoGraphs
from egoscore.keyed import Keys, Purpose, Seeds, seeds_of_rows
from egoscore.learn import GenerativeModel
from egoscore.learn.pairs import PairOrder, pair_order
from egoscore.reverse import SOLVERS, ReverseProcess, levels, num_steps


@dataclass(frozen=True)
class ReconstructionConfig:
    """How ego-graphs are noised and brought back."""

    num_levels: int
    num_samples: int
    steps: int
    solver: str


@dataclass(frozen=True)
class _Known:
    """What stays as it is on the way back, for all chains: what is real, and positions.

    `nodes` (B, n, 1) and `pairs` (B, 1, P) are 1 where nodes and pairs are real and 0 where
    padded; where nothing is padded, (B, 1, 1) does.
    """

    mask: Tensor
    nodes: Tensor
    pairs: Tensor
    positions: Tensor

    @classmethod
    def of(cls, batch: EgoBatch, order: PairOrder, copies: int) -> _Known:
        """The same for every copy of a batch."""
        mask = batch.mask
        nodes = pairs = mask[:, :1].unsqueeze(-1)
        if not bool(mask.all()):
            nodes = mask.unsqueeze(-1)
            pairs = order.pack(nodes * mask.unsqueeze(-2)).unsqueeze(1)
        return cls(
            mask.repeat(copies, 1),
            nodes.repeat(copies, 1, 1),
            pairs.repeat(copies, 1, 1),
            batch.positions.repeat(copies, 1, 1),
        )


class Reconstruction:
    """The way there and back of a network's ego-graphs; to be used in torch's inference mode.

    The model may be a stack, with a seed for each of its models, in `egos` as here.
    """

    def __init__(
        self,
        egos: EgoGraphs,
        model: GenerativeModel,
        sde: Sde,
        config: ReconstructionConfig,
        seed: Seeds,
    ) -> None:
        self.egos = egos
        self.sde = sde
        self.config = config
        self.seed = seed
        self.taus = levels(config.num_levels)
        self._networks = model.predictor()

    def _gradients(
        self, known: _Known, x: Tensor, pairs: Tensor, t: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Gradients of log p at t (B,); there may be more chains in `known` than B."""
        count = len(x)
        noise_x, noise_pairs = self._networks.predict_noise(
            x, pairs.squeeze(1), known.mask[:count], t, known.positions[:count]
        )
        scale = per_graph(-1.0 / self.sde.std(t), x)
        real_x, real_pairs = (part[:count] * scale for part in (known.nodes, known.pairs))
        return noise_x.mul_(real_x), noise_pairs.unsqueeze(1).mul_(real_pairs)

    def restore(self, batch: EgoBatch, samples: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Features (K, S, B, n, F) and adjacency (K, S, B, n, n) after the way back.

        K levels from the lowest to the highest, the given samples, the ego-graphs of the batch.
        On the way an adjacency is the vector of its pairs.
        """
        count, size, num_features = batch.x.shape
        shape = (self.config.num_levels, len(samples), count, size)
        noise = self._noise(batch, samples)
        level = torch.from_numpy(noise.keys.level)
        tau = torch.tensor(self.taus, dtype=torch.float64)[level]
        steps = torch.tensor([num_steps(tau, self.config.steps) for tau in self.taus])[level]
        order = pair_order(size, noise.directed, batch.x.device)
        copies = shape[0] * shape[1]
        known = _Known.of(batch, order, copies)
        process = ReverseProcess(
            self.sde, SOLVERS[self.config.solver], partial(self._gradients, known)
        )
        x, pairs = process.solve(
            perturb(
                batch.x.repeat(copies, 1, 1),
                noise.features(Purpose.FORWARD_FEATURES, 0, size),
                self.sde,
                tau,
            ),
            perturb(
                order.pack(batch.adj).unsqueeze(1).repeat(copies, 1, 1),
                noise.adjacency(Purpose.FORWARD_ADJACENCY, 0, size),
                self.sde,
                tau,
            ),
            tau,
            steps,
            noise,
        )
        adj = order.unpack(pairs.squeeze(1))
        return x.view(*shape, num_features).flip(0), adj.view(*shape, size).flip(0)

    def _noise(self, batch: EgoBatch, samples: Sequence[int]) -> EgoNoise:
        """Keys for levels from the highest down, samples within a level, nodes within a sample."""
        num_levels, count = self.config.num_levels, len(batch.node)
        copies = num_levels * len(samples)
        keys = Keys(
            seeds_of_rows(self.seed, copies * count),
            np.tile(batch.node, copies),
            np.repeat(np.arange(num_levels)[::-1], len(samples) * count),
            np.tile(np.repeat(np.asarray(samples), count), num_levels),
        )
        graph = self.egos.graph
        sizes = np.tile(batch.sizes, copies)
        return EgoNoise(
            keys, sizes, graph.num_features, graph.directed, self.egos.device, packed=True
        )
