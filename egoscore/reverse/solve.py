"""The one loop that owns time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from egoscore.diffuse import EgoNoise, Sde
from egoscore.keyed import Purpose
from egoscore.reverse.grid import time_left
from egoscore.reverse.steps import (
    euler_maruyama,
    langevin,
    reverse_diffusion,
    symmetric_splitting,
)

Gradients = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
StepRule = Callable[[Tensor, Tensor, Tensor, Tensor, Sde], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Solver:
    """A step rule, with or without a Langevin correction before every step.

    `evaluations` says how often the gradients are computed per step: with a correction either
    again for the step itself (2), or once for both, as S4 does (1).
    """

    rule: StepRule
    corrects: bool = False
    evaluations: int = 1
    snr: float = 0.15
    scale: float = 0.7


SOLVERS = {
    "em": Solver(euler_maruyama),
    "reverse": Solver(reverse_diffusion),
    "em+langevin": Solver(euler_maruyama, corrects=True, evaluations=2),
    "reverse+langevin": Solver(reverse_diffusion, corrects=True, evaluations=2),
    "s4": Solver(symmetric_splitting, corrects=True),
}


def solve(
    x: Tensor,
    adj: Tensor,
    mask: Tensor,
    tau: Tensor,
    steps: Tensor,
    gradients: Gradients,
    sde: Sde,
    solver: Solver,
    noise: EgoNoise,
) -> tuple[Tensor, Tensor]:
    """Bring x (B, N, F) and adj (B, N, N) from their times tau (B,) back to 1e-4.

    Chain b takes `steps[b]` equal steps; chains must be sorted by falling number of steps. All
    run in one loop and end together: a chain with fewer steps joins when its turn comes. The
    last step is taken without noise.
    """
    x, adj = x.clone(), adj.clone()
    for remaining in range(int(steps[0]), 0, -1):
        active = int(torch.count_nonzero(steps >= remaining))
        t = time_left(tau[:active], steps[:active], remaining)
        s = time_left(tau[:active], steps[:active], remaining - 1)
        state = (x[:active], adj[:active], mask[:active])
        x[:active], adj[:active] = _step(
            *state, t, s, remaining, gradients, sde, solver, noise.first(active)
        )
    return x, adj


def _step(
    x: Tensor,
    adj: Tensor,
    mask: Tensor,
    t: Tensor,
    s: Tensor,
    remaining: int,
    gradients: Gradients,
    sde: Sde,
    solver: Solver,
    noise: EgoNoise,
) -> tuple[Tensor, Tensor]:
    width = x.shape[1]
    grad_x, grad_adj = gradients(x, adj, mask, t)
    if solver.corrects:
        alpha = sde.transition(s, t)[0].square()
        noise_x = noise.features(Purpose.CORRECT_FEATURES, remaining, width)
        noise_adj = noise.adjacency(Purpose.CORRECT_ADJACENCY, remaining, width)
        x = langevin(x, grad_x, noise_x, alpha, solver.snr, solver.scale)
        adj = langevin(adj, grad_adj, noise_adj, alpha, solver.snr, solver.scale)
        if solver.evaluations == 2:
            grad_x, grad_adj = gradients(x, adj, mask, t)
    mean_x, std_x = solver.rule(x, grad_x, t, s, sde)
    mean_adj, std_adj = solver.rule(adj, grad_adj, t, s, sde)
    if remaining == 1:
        return mean_x, mean_adj
    noise_x = noise.features(Purpose.REVERSE_FEATURES, remaining, width)
    noise_adj = noise.adjacency(Purpose.REVERSE_ADJACENCY, remaining, width)
    return mean_x + std_x * noise_x, mean_adj + std_adj * noise_adj
