"""Step rules: one step back in time from t to s < t, the same for features and adjacency.

Every rule is linear: the next value has mean keep·value + push·grad, with the gradient of log p at
t, and a standard deviation. A rule computes (keep, push, std) for times of any shape.
"""

from __future__ import annotations

import torch
from torch import Tensor

from egoscore.detectors.paper.sde import Sde, per_graph

Coefficients = tuple[Tensor, Tensor, Tensor]


def euler_maruyama(t: Tensor, s: Tensor, sde: Sde) -> Coefficients:
    """x - [f·x - g²·grad]·(t - s), noise g·√(t - s)."""
    dt = t - s
    diffusion = sde.diffusion(t)
    return 1.0 - sde.drift(t) * dt, diffusion.square() * dt, diffusion * dt.sqrt()


def reverse_diffusion(t: Tensor, s: Tensor, sde: Sde) -> Coefficients:
    """The forward step discretised, then reversed (Song et al., 2021, appendix E).

    The discretisation is the exact kernel from s to t, x(t) = a·x(s) + √v·z, which makes the
    betas correct for every step size: (2 - a)·x + v·grad, noise √v.
    """
    factor, variance = sde.transition(s, t)
    return 2.0 - factor, variance, variance.sqrt()


def symmetric_splitting(t: Tensor, s: Tensor, sde: Sde) -> Coefficients:
    """S4 (Jo et al., 2022, section 3.3): half a linear step, the gradient step, the other half.

    The reversed linear part has an exact solution over each half. Both halves add independent
    Gaussian noise, and the rest is linear, so their sum is drawn at once: the noise of the whole
    linear step, √v / a.
    """
    factor, variance = sde.transition(s, t)
    half_factor, _ = sde.transition(s, (s + t) / 2)
    push = sde.diffusion(t).square() * (t - s) / half_factor
    return 1.0 / factor, push, variance.sqrt() / factor


def probability_flow(t: Tensor, s: Tensor, sde: Sde) -> Coefficients:
    """The deterministic process with the same marginals; exact for a constant clean estimate.

    With D = (x + sigma²·grad)/m, the estimate of the clean value at t, the flow is integrated as
    sigma_s/sigma_t·x + (m_s - m_t·sigma_s/sigma_t)·D (Song et al., 2021b, DDIM; Lu et al., 2022b,
    equation 9 with D constant).
    """
    factor = sde.decay(s) / sde.decay(t)
    push = factor * sde.variance(t) - sde.std(s) * sde.std(t)
    return factor, push, torch.zeros_like(t)


def extrapolation_weight(before: Tensor, t: Tensor, s: Tensor, sde: Sde) -> Tensor:
    """How far the change of the clean estimate since the last step goes on: h/(2·h').

    h and h' are the lengths of this step and of the last in log(m/sigma). With D replaced by
    D + h/(2·h')·(D - D') the flow becomes DPM-Solver++(2M) (Lu et al., 2022b, algorithm 2).
    """
    return (sde.snr(s).log() - sde.snr(t).log()) / (
        2.0 * (sde.snr(t).log() - sde.snr(before).log())
    )


def extrapolated_gradient(
    value: Tensor, grad: Tensor, last_clean: Tensor, decay: Tensor, variance: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradient whose clean estimate is D + weight·(D - D'), and D itself.

    `last_clean` is D', the clean estimate of the step before; decay, variance and weight are
    coefficients of each ego-graph, (B, 1, 1).
    """
    clean = (value + variance * grad) / decay
    moved = clean + weight * (clean - last_clean)
    return (decay * moved - value) / variance, clean


def langevin(
    value: Tensor, grad: Tensor, noise: Tensor, alpha: Tensor, snr: float, scale: float
) -> Tensor:
    """One Langevin correction at constant time (Song et al., 2021, algorithms 4 and 5).

    The step size compares the norms of noise and gradient of each ego-graph by itself, not of
    the batch: a node's score must not depend on its company. `alpha` (B, 1, 1) is a² of the step.
    """
    grad_norm = per_graph(grad.flatten(1).norm(dim=1), value)
    ratio = per_graph(noise.flatten(1).norm(dim=1), value) / grad_norm.clamp(min=1e-12)
    size = 2.0 * alpha * (snr * ratio).square()
    # no gradient, no correction: a graph of one node has no adjacency to correct
    size = size.where(grad_norm > 1e-12, 0.0)
    return value + size * grad + (2.0 * size).sqrt() * scale * noise
