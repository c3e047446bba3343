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
    extrapolated,
    langevin,
    probability_flow,
    reverse_diffusion,
    symmetric_splitting,
)

Gradients = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
StepRule = Callable[[Tensor, Tensor, Tensor, Tensor, Sde], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Solver:
    """A step rule and what goes with it.

    Attributes:
        rule: mean and standard deviation of the next value given this one.
        corrects: a Langevin correction comes before every step, with `snr` and `scale`.
        evaluations: gradients per step; with a correction either again for the step itself (2),
            or once for both, as S4 does (1).
        extrapolates: the gradient is continued from the last one, and no noise is drawn.
        spacing: 1 for equal steps; with 2 they shrink towards the end.
    """

    rule: StepRule
    corrects: bool = False
    evaluations: int = 1
    snr: float = 0.15
    scale: float = 0.7
    extrapolates: bool = False
    spacing: float = 1.0


SOLVERS = {
    "em": Solver(euler_maruyama),
    "reverse": Solver(reverse_diffusion),
    "em+langevin": Solver(euler_maruyama, corrects=True, evaluations=2),
    "reverse+langevin": Solver(reverse_diffusion, corrects=True, evaluations=2),
    "s4": Solver(symmetric_splitting, corrects=True),
    "dpm": Solver(probability_flow, extrapolates=True, spacing=2.0),
}


@dataclass
class ReverseProcess:
    """Brings noised ego-graphs back, given gradients of log p: (x, adj, t) → (grad_x, grad_adj)."""

    sde: Sde
    solver: Solver
    gradients: Gradients

    def solve(
        self, x: Tensor, adj: Tensor, tau: Tensor, steps: Tensor, noise: EgoNoise
    ) -> tuple[Tensor, Tensor]:
        """Bring x (B, N, F) and adj (B, N, N) from their times tau (B,) back to 1e-4.

        Chain b takes `steps[b]` steps; chains must be sorted by falling number of steps. All run
        in one loop and end together: a chain with fewer steps joins when its turn comes. The last
        step is taken without noise.
        """
        value = [x.clone(), adj.clone()]
        clean = [torch.zeros_like(part) for part in value] if self.solver.extrapolates else []
        for remaining in range(int(steps[0]), 0, -1):
            active = int(torch.count_nonzero(steps >= remaining))
            now = [part[:active] for part in value]
            before, t, s = (
                time_left(tau[:active], steps[:active], left, self.solver.spacing)
                for left in (remaining + 1, remaining, remaining - 1)
            )
            grads = list(self.gradients(now[0], now[1], t))
            if self.solver.corrects:
                now, grads = self._correct(now, grads, t, s, remaining, noise.first(active))
            elif self.solver.extrapolates:
                # a chain that starts has nothing to continue; the last step is long, see `spacing`
                goes_on = (steps[:active] > remaining) & (remaining > 1)
                for i, part in enumerate(clean):
                    grads[i], part[:active] = extrapolated(
                        now[i], grads[i], part[:active], goes_on, (before, t, s), self.sde
                    )
            now = self._step(now, grads, t, s, remaining, noise.first(active))
            for part, moved in zip(value, now, strict=True):
                part[:active] = moved
        return value[0], value[1]

    def _correct(
        self,
        now: list[Tensor],
        grads: list[Tensor],
        t: Tensor,
        s: Tensor,
        remaining: int,
        noise: EgoNoise,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """A Langevin correction of both parts; the gradients to step with."""
        width = now[0].shape[1]
        drawn = (
            noise.features(Purpose.CORRECT_FEATURES, remaining, width),
            noise.adjacency(Purpose.CORRECT_ADJACENCY, remaining, width),
        )
        alpha = self.sde.transition(s, t)[0].square()
        snr, scale = self.solver.snr, self.solver.scale
        now = [
            langevin(part, grad, z, alpha, snr, scale)
            for part, grad, z in zip(now, grads, drawn, strict=True)
        ]
        if self.solver.evaluations == 2:
            grads = list(self.gradients(now[0], now[1], t))
        return now, grads

    def _step(
        self,
        now: list[Tensor],
        grads: list[Tensor],
        t: Tensor,
        s: Tensor,
        remaining: int,
        noise: EgoNoise,
    ) -> list[Tensor]:
        (mean_x, std_x), (mean_adj, std_adj) = (
            self.solver.rule(part, grad, t, s, self.sde)
            for part, grad in zip(now, grads, strict=True)
        )
        if remaining == 1 or self.solver.extrapolates:
            return [mean_x, mean_adj]
        width = mean_x.shape[1]
        noise_x = noise.features(Purpose.REVERSE_FEATURES, remaining, width)
        noise_adj = noise.adjacency(Purpose.REVERSE_ADJACENCY, remaining, width)
        return [mean_x.addcmul_(std_x, noise_x), mean_adj.addcmul_(std_adj, noise_adj)]
