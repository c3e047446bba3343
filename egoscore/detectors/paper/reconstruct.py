"""Noise ego-graphs to several levels and denoise them: the reconstruction operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from egoscore.detectors.paper.ego import EgoBatch, EgoGraphs
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.noise import EgoNoise, PairOrder, pair_order
from egoscore.detectors.paper.sde import SDES, per_graph, perturb
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.solve import SOLVERS, ReverseProcess
from egoscore.detectors.paper.steps import levels, num_steps
from egoscore.random import Keys, Purpose


@dataclass(frozen=True)
class _Fixed:
    """What does not change while B chains are denoised: masks and positions.

    `mask` (B, n), `nodes` (B, n, 1) and `pairs` (B, 1, P) are 1 for real nodes and pairs and 0 for
    padding; without padding `nodes` and `pairs` are (B, 1, 1). `positions` is (B, n, C).
    """

    mask: Tensor
    nodes: Tensor
    pairs: Tensor
    positions: Tensor

    @classmethod
    def of(cls, batch: EgoBatch, order: PairOrder, copies: int) -> _Fixed:
        """The masks and positions of `copies` copies of a batch."""
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
    """Noises and denoises the ego-graphs of a graph; call it in torch's inference mode."""

    def __init__(
        self, egos: EgoGraphs, model: GenerativeModel, settings: PaperSettings, seed: int
    ) -> None:
        self.egos = egos
        self.sde = SDES[settings.sde]
        self.settings = settings
        self.seed = seed
        self.taus = levels(settings.num_levels)
        self._networks = model.predictor()

    def _gradients(
        self, fixed: _Fixed, x: Tensor, pairs: Tensor, t: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Gradients of log p at t (B,) for the first B chains: (B, n, F) and (B, 1, P)."""
        count = len(x)
        noise_x, noise_pairs = self._networks.predict_noise(
            x, pairs.squeeze(1), fixed.mask[:count], t, fixed.positions[:count]
        )
        scale = per_graph(-1.0 / self.sde.std(t), x)
        real_x, real_pairs = (part[:count] * scale for part in (fixed.nodes, fixed.pairs))
        return noise_x.mul_(real_x), noise_pairs.unsqueeze(1).mul_(real_pairs)

    def restore(self, batch: EgoBatch, samples: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Reconstructed features (K, S, B, n, F) and adjacencies (K, S, B, n, n).

        K levels in ascending order, the given samples, the ego-graphs of the batch. In between an
        adjacency is the vector of its pairs.
        """
        count, size, num_features = batch.x.shape
        shape = (self.settings.num_levels, len(samples), count, size)
        noise = self._noise(batch, samples)
        level = torch.from_numpy(noise.keys.level)
        tau = torch.tensor(self.taus, dtype=torch.float64)[level]
        steps = torch.tensor([num_steps(tau, self.settings.steps) for tau in self.taus])[level]
        order = pair_order(size, noise.directed, batch.x.device)
        copies = shape[0] * shape[1]
        fixed = _Fixed.of(batch, order, copies)
        process = ReverseProcess(
            self.sde, SOLVERS[self.settings.solver], partial(self._gradients, fixed)
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
        """Noise for all chains: descending levels, samples in a level, nodes in a sample."""
        num_levels, count = self.settings.num_levels, len(batch.node)
        copies = num_levels * len(samples)
        keys = Keys(
            self.seed,
            np.tile(batch.node, copies),
            np.repeat(np.arange(num_levels)[::-1], len(samples) * count),
            np.tile(np.repeat(np.asarray(samples), count), num_levels),
        )
        graph = self.egos.graph
        sizes = np.tile(batch.sizes, copies)
        return EgoNoise(
            keys, sizes, graph.num_features, graph.directed, self.egos.device, packed=True
        )
