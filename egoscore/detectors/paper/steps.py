"""Steps back in time: the time grid, and step rules from t to s < t.

Rules are the same for features and adjacency. Every rule is linear: the next value has mean
keep·value + push·grad, with the gradient of log p at t, and a standard deviation. A rule computes
(keep, push, std) for times of any shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from egoscore.detectors.paper.sde import END_TIME, Sde, per_graph

LAST_TIME = 1e-4
StepTimes = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Start and end time of a step, given its level tau, the number of steps and how many remain."""
Coefficients = tuple[Tensor, Tensor, Tensor]


def levels(count: int) -> list[float]:
    """Noise levels tau_i = i·T/(K+1), i = 1 … K, evenly spaced in (0, T)."""
    return [i * END_TIME / (count + 1) for i in range(1, count + 1)]


def num_steps(tau: float, steps: int) -> int:
    """The number of steps from tau back to the start: floor(steps·tau/T), at least 1."""
    # 100·0.57 is 56.99999999999999 in floating point, but should give 57
    return max(1, math.floor(steps * tau / END_TIME + 1e-9))


def time_left(tau: Tensor, steps: Tensor, remaining: int | Tensor, spacing: float = 1.0) -> Tensor:
    """The time at which `remaining` of `steps` steps from tau to 1e-4 are left.

    Steps are equal for spacing 1, and equal in the square root of time for spacing 2.
    """
    return LAST_TIME + (tau - LAST_TIME) * (remaining / steps) ** spacing


def even_steps(tau: Tensor, steps: Tensor, remaining: Tensor) -> tuple[Tensor, Tensor]:
    """Steps of equal length."""
    return time_left(tau, steps, remaining), time_left(tau, steps, remaining - 1)


def shrinking_steps(tau: Tensor, steps: Tensor, remaining: Tensor) -> tuple[Tensor, Tensor]:
    """Steps that shrink towards the end, equal in the square root of time."""
    return time_left(tau, steps, remaining, 2.0), time_left(tau, steps, remaining - 1, 2.0)


def overshooting_steps(tau: Tensor, steps: Tensor, remaining: Tensor) -> tuple[Tensor, Tensor]:
    """The times of a known implementation, whose last step starts at 1e-4 and ends below zero.

    Steps start at evenly spaced times from tau to 1e-4, but each of them is tau/steps long.
    """
    start = time_left(tau, (steps - 1).clamp(min=1), remaining - (steps > 1).to(remaining))
    return start, start - tau / steps


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
    the batch: a node's score must not depend on the others. `alpha` (B, 1, 1) is a² of the step.
    """
    grad_norm = per_graph(grad.flatten(1).norm(dim=1), value)
    ratio = per_graph(noise.flatten(1).norm(dim=1), value) / grad_norm.clamp(min=1e-12)
    size = 2.0 * alpha * (snr * ratio).square()
    # a graph of one node has no adjacency to correct, and its gradient is zero
    size = size.where(grad_norm > 1e-12, 0.0)
    return value + size * grad + (2.0 * size).sqrt() * scale * noise
