"""Negative log-likelihood of ego-graphs under the generative model, as an anomaly score.

The probability flow dx = [f·x - g²/2·grad] dt is deterministic and has the marginals of the SDE. It
maps an ego-graph to the prior, and log p changes by the integral of its divergence (Song et al.,
2021, section 4.3 and appendix D.2), which Hutchinson's estimator (1989) computes from
vector-Jacobian products with random signs (Grathwohl et al., "FFJORD", 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.detectors.paper.components import not_finite
from egoscore.detectors.paper.ego import CAPACITY, FILL, EgoBatch, EgoGraphs
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.noise import EgoNoise, PairOrder, pair_order
from egoscore.detectors.paper.sde import END_TIME, VE, Sde
from egoscore.detectors.paper.steps import time_left
from egoscore.random import Keys, Purpose


@dataclass(frozen=True)
class LikelihoodConfig:
    """How the flow is integrated: steps of Heun's method, and probes for the divergence."""

    num_steps: int = 8
    num_probes: int = 1


_DEFAULT = LikelihoodConfig()


def negative_log_likelihood(
    egos: EgoGraphs,
    model: GenerativeModel,
    sde: Sde,
    seed: int,
    centres: NDArray[np.int64],
    config: LikelihoodConfig = _DEFAULT,
) -> NDArray[np.float64]:
    """-log p of the ego-graph of every node of `centres` (B,), in nats per free value, (B,).

    Free values are the features of all nodes and the node pairs; an undirected pair is one value.
    The prior is standard normal, or N(0, sigma_max²) for VE. With the paper's betas, three quarters
    of the signal are left at the end time, so that this is the likelihood of a flow from that
    prior, not under the learned marginals: a score, not the probability of an ego-graph.
    """
    graph = egos.graph
    found = np.empty(len(egos))
    for chunk in egos.chunks(centres, CAPACITY, FILL):
        keys, sizes = Keys.for_nodes(seed, chunk), egos.sizes[chunk]
        noise = EgoNoise(keys, sizes, graph.num_features, graph.directed, egos.device, packed=True)
        found[chunk] = -_log_density(egos.batch(chunk), noise, model, sde, config)
    finite = np.isfinite(found[centres])
    if not finite.all():
        raise not_finite("likelihood", graph.ids[centres[~finite][0]])
    return found[centres]


def _log_density(
    batch: EgoBatch, noise: EgoNoise, model: GenerativeModel, sde: Sde, config: LikelihoodConfig
) -> NDArray[np.float64]:
    """log p of the ego-graphs per free value, (B,); `noise` gives the probes."""
    order = pair_order(batch.x.shape[1], noise.directed, batch.x.device)
    predict = partial(_predict_noise, model, batch.mask, batch.positions, order)
    probes = torch.stack([_draw_signs(noise, i, order.size) for i in range(config.num_probes)])
    values = _join(batch.x, order.pack(batch.adj))
    ends, growth = follow_flow(predict, values, probes, sde, config.num_steps)
    std = sde.sigma_max if isinstance(sde, VE) else 1.0
    gained = (growth - 0.5 * (ends / std).square().sum(dim=1)).double().cpu().numpy()
    num_pairs = noise.sizes * (noise.sizes - 1) // (1 if noise.directed else 2)
    num_free = noise.sizes * noise.num_features + num_pairs
    density: NDArray[np.float64] = gained / num_free - math.log(std * math.sqrt(2.0 * math.pi))
    return density


def follow_flow(
    predict_noise: Callable[[Tensor, Tensor], Tensor],
    values: Tensor,
    probes: Tensor,
    sde: Sde,
    num_steps: int,
) -> tuple[Tensor, Tensor]:
    """The end point of `values` (B, D), and the integral of the flow's divergence, (B,).

    With u = x/m and v = sigma/m the flow of a linear SDE is du = noise·dv, where networks predict
    noise = -sigma·grad from values (B, D) and times (B,). The linear part is then exact, there is
    no singularity 1/sigma at the start, and Heun's method needs few steps.
    """
    number = torch.arange(num_steps + 1, dtype=torch.float64)
    # v grows like √t at first: with times like n^(3/2) Heun's method keeps its second order
    times = time_left(torch.full_like(number, END_TIME), number[-1], number, spacing=1.5)
    decays = sde.decay(times)
    lengths = (sde.std(times) / decays).diff()

    def slope(step: int, u: Tensor) -> tuple[Tensor, Tensor]:
        t = times[step].expand(len(u))
        return hutchinson(lambda u: predict_noise(decays[step] * u, t), u, probes)

    u = values / decays[0]
    # the linear part scales all values equally, and signs square to 1
    growth = probes[0].square().sum(dim=1) * (decays[-1] / decays[0]).log()
    for step, length in enumerate(lengths):
        now, divergence_now = slope(step, u)
        ahead, divergence_ahead = slope(step + 1, u + length * now)
        u = u + length / 2 * (now + ahead)
        growth = growth + length / 2 * (divergence_now + divergence_ahead)
    return decays[-1] * u, growth


def hutchinson(
    function: Callable[[Tensor], Tensor], point: Tensor, probes: Tensor
) -> tuple[Tensor, Tensor]:
    """`function` at `point` (B, D), and an estimate of its divergence there, (B,).

    It is the mean over probes e (Q, B, D) of eᵀJe; a row of the function depends on its own row.
    """
    point = point.detach().requires_grad_()
    with torch.enable_grad():
        value = function(point)
    pulled = [torch.autograd.grad(value, point, e, retain_graph=True)[0] for e in probes]
    return value.detach(), (torch.stack(pulled) * probes).sum(dim=2).mean(dim=0)


def _predict_noise(
    model: GenerativeModel,
    mask: Tensor,
    positions: Tensor,
    order: PairOrder,
    values: Tensor,
    t: Tensor,
) -> Tensor:
    """The noise in features and pairs (B, D) at times t (B,)."""
    num_pairs = len(order.lower)
    x, pairs = values.tensor_split([values.shape[1] - num_pairs], dim=1)
    noise_x, noise_adj = model.predict_noise(
        x.view(*mask.shape, -1), order.unpack(pairs), mask, t, positions
    )
    return _join(noise_x, order.pack(noise_adj))


def _draw_signs(noise: EgoNoise, number: int, size: int) -> Tensor:
    """A random sign for every feature and pair, (B, D), zero where padded."""
    return _join(
        noise.features(Purpose.PROBE_FEATURES, number, size),
        noise.adjacency(Purpose.PROBE_ADJACENCY, number, size).squeeze(1),
    ).sign()


def _join(x: Tensor, pairs: Tensor) -> Tensor:
    """Features (B, N, F) and pairs (B, P) as vectors of free values (B, D)."""
    return torch.cat([x.flatten(1), pairs], dim=1)
