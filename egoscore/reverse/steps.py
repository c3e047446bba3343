"""One step back in time, from t to s < t, for features or adjacency alike.

A step rule returns mean and standard deviation of the next value given this one. `value` and
`grad` (the gradient of log p at t) are (B, N, …); t and s are (B,).
"""

from __future__ import annotations

import torch
from torch import Tensor

from egoscore.diffuse.sde import Sde, per_graph


def euler_maruyama(
    value: Tensor, grad: Tensor, t: Tensor, s: Tensor, sde: Sde
) -> tuple[Tensor, Tensor]:
    """x - [f·x - g²·grad]·(t - s), noise g·√(t - s)."""
    dt = t - s
    diffusion = sde.diffusion(t)
    keep = per_graph(1.0 - sde.drift(t) * dt, value)
    push = per_graph(diffusion.square() * dt, value)
    return keep * value + push * grad, per_graph(diffusion * dt.sqrt(), value)


def reverse_diffusion(
    value: Tensor, grad: Tensor, t: Tensor, s: Tensor, sde: Sde
) -> tuple[Tensor, Tensor]:
    """The forward step discretised, then reversed (Song et al., 2021, appendix E).

    The discretisation is the exact kernel from s to t, x(t) = a·x(s) + √v·z, which makes the
    betas right for every step size: (2 - a)·x + v·grad, noise √v.
    """
    factor, variance = sde.transition(s, t)
    keep = per_graph(2.0 - factor, value)
    push = per_graph(variance, value)
    return keep * value + push * grad, per_graph(variance.sqrt(), value)


def symmetric_splitting(
    value: Tensor, grad: Tensor, t: Tensor, s: Tensor, sde: Sde
) -> tuple[Tensor, Tensor]:
    """S4 (Jo et al., 2022, section 3.3): half a linear step, the score's push, the other half.

    The linear part run backwards has an exact solution over each half. Both halves add
    independent Gaussian noise that passes linearly through the rest, so their sum is drawn at
    once: it is the noise of the whole linear step, √v / a.
    """
    factor, variance = sde.transition(s, t)
    half_factor, _ = sde.transition(s, (s + t) / 2)
    push = sde.diffusion(t).square() * (t - s) / half_factor
    mean = per_graph(1.0 / factor, value) * value + per_graph(push, value) * grad
    return mean, per_graph(variance.sqrt() / factor, value)


def probability_flow(
    value: Tensor, grad: Tensor, t: Tensor, s: Tensor, sde: Sde
) -> tuple[Tensor, Tensor]:
    """The deterministic process with the same marginals; exact where the clean estimate stays.

    With D = (x + sigma²·grad)/m, the estimate of the clean value at t, the flow is integrated as
    sigma_s/sigma_t·x + (m_s - m_t·sigma_s/sigma_t)·D (Song et al., 2021b, DDIM; Lu et al., 2022b,
    equation 9 with D constant).
    """
    factor = sde.decay(s) / sde.decay(t)
    push = factor * sde.variance(t) - sde.std(s) * sde.std(t)
    mean = per_graph(factor, value) * value + per_graph(push, value) * grad
    return mean, mean.new_zeros(())


def extrapolated(
    value: Tensor,
    grad: Tensor,
    last_clean: Tensor,
    goes_on: Tensor,
    times: tuple[Tensor, Tensor, Tensor],
    sde: Sde,
) -> tuple[Tensor, Tensor]:
    """The gradient that makes the next step one of second order, and the clean estimate at t.

    DPM-Solver++(2M) (Lu et al., 2022b, algorithm 2): D + h/(2·h')·(D - D'), where D' is the clean
    estimate of the step before and h' the length of that step in log(m/sigma). `times` are those
    of the step before, of this one and of the next, (B,) each; where `goes_on` is false D stays.
    """
    before, t, s = times
    decay, variance = per_graph(sde.decay(t), value), per_graph(sde.variance(t), value)
    clean = (value + variance * grad) / decay
    length, last_length = (
        0.5 * (sde.snr(b).log() - sde.snr(a).log()) for a, b in ((t, s), (before, t))
    )
    weight = torch.where(goes_on, length / (2.0 * last_length), 0.0)
    moved = clean + per_graph(weight, value) * (clean - last_clean)
    return (decay * moved - value) / variance, clean


def langevin(
    value: Tensor, grad: Tensor, noise: Tensor, alpha: Tensor, snr: float, scale: float
) -> Tensor:
    """One Langevin correction at constant time (Song et al., 2021, algorithms 4 and 5).

    The step size compares the norms of noise and gradient of each ego-graph by itself, not of
    the batch: a node's score must not depend on its company. `alpha` (B,) is a² of the step.
    """
    grad_norm = grad.flatten(1).norm(dim=1)
    ratio = noise.flatten(1).norm(dim=1) / grad_norm.clamp(min=1e-12)
    size = 2.0 * alpha.to(ratio) * (snr * ratio).square()
    # no gradient, no correction: a graph of one node has no adjacency to correct
    size = per_graph(size.where(grad_norm > 1e-12, size.new_zeros(())), value)
    return value + size * grad + (2.0 * size).sqrt() * scale * noise
