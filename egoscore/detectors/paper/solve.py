"""Solve the reverse system (equation 4 of the paper): the only loop over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import Sde, per_graph
from egoscore.detectors.paper.steps import (
    Coefficients,
    StepTimes,
    euler_maruyama,
    even_steps,
    extrapolated_gradient,
    extrapolation_weight,
    langevin,
    overshooting_steps,
    probability_flow,
    reverse_diffusion,
    shrinking_steps,
    symmetric_splitting,
)
from egoscore.random import Purpose

Gradients = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
StepRule = Callable[[Tensor, Tensor, Sde], Coefficients]


@dataclass(frozen=True)
class Solver:
    """A step rule, and how it is applied.

    Attributes:
        rule: computes the coefficients of a step.
        corrects: a Langevin correction with `snr` and `scale` precedes every step.
        evaluations: gradients per step; with a correction, one for each of both (2) or a shared one
            as in S4 (1).
        extrapolates: the clean estimate is extrapolated from the previous one; no noise is drawn.
        times: the start and end time of every step.
    """

    rule: StepRule
    corrects: bool = False
    evaluations: int = 1
    snr: float = 0.15
    scale: float = 0.7
    extrapolates: bool = False
    times: StepTimes = even_steps


SOLVERS = {
    "em": Solver(euler_maruyama),
    "reverse": Solver(reverse_diffusion),
    "em+langevin": Solver(euler_maruyama, corrects=True, evaluations=2),
    "reverse+langevin": Solver(reverse_diffusion, corrects=True, evaluations=2),
    "s4": Solver(symmetric_splitting, corrects=True),
    "dpm": Solver(probability_flow, extrapolates=True, times=shrinking_steps),
    # reproduces a mistake of a known implementation, to compare with the published figures
    "em-overshoot": Solver(euler_maruyama, times=overshooting_steps),
}


@dataclass(frozen=True)
class _Step:
    """One step of the `active` chains: their times `t` (B,) and coefficients (B, 1, 1).

    `keep`, `push` and `std` are those of the rule; `others` are for the correction or for the
    extrapolation of the clean estimate.
    """

    remaining: int
    active: int
    t: Tensor
    keep: Tensor
    push: Tensor
    std: Tensor
    others: tuple[Tensor, ...]


@dataclass(frozen=True)
class ReverseProcess:
    """Denoises ego-graphs, given gradients of log p: (x, adj, t) → (grad_x, grad_adj)."""

    sde: Sde
    solver: Solver
    gradients: Gradients

    def solve(
        self, x: Tensor, adj: Tensor, tau: Tensor, steps: Tensor, noise: EgoNoise
    ) -> tuple[Tensor, Tensor]:
        """Take x (B, N, F) and adj (B, N, N), or its pairs (B, 1, P), from times tau (B,) to 1e-4.

        Chain b takes `steps[b]` steps; chains must be sorted by descending number of steps. All end
        together, and a chain with fewer steps starts later. The last step adds no noise.
        """
        value = [x.clone(), adj.clone()]
        clean = [torch.zeros_like(part) for part in value] if self.solver.extrapolates else []
        for step in self._schedule(tau, steps, x):
            now = [part[: step.active] for part in value]
            drawn = noise.first(step.active)
            grads = list(self.gradients(now[0], now[1], step.t))
            if self.solver.corrects:
                grads = self._correct(now, grads, step, drawn)
            for i, part in enumerate(clean):
                last = part[: step.active]
                grads[i], estimate = extrapolated_gradient(now[i], grads[i], last, *step.others)
                last.copy_(estimate)
            for part, grad in zip(now, grads, strict=True):
                part.mul_(step.keep).addcmul_(step.push, grad)
            if step.remaining > 1 and not self.solver.extrapolates:
                width = x.shape[1]
                noise_x = drawn.features(Purpose.REVERSE_FEATURES, step.remaining, width)
                noise_adj = drawn.adjacency(Purpose.REVERSE_ADJACENCY, step.remaining, width)
                now[0].addcmul_(step.std, noise_x)
                now[1].addcmul_(step.std, noise_adj)
        return value[0], value[1]

    def _schedule(self, tau: Tensor, steps: Tensor, like: Tensor) -> Iterator[_Step]:
        """All steps, with coefficients computed once per level instead of once per chain."""
        level, chains = torch.unique_consecutive(
            torch.stack([tau, steps.to(tau)]), dim=1, return_counts=True
        )
        left = torch.arange(int(steps[0]), 0, -1).unsqueeze(1)  # (R, 1)
        t, s = self.solver.times(level[0], level[1], left)
        columns = [t, *self.solver.rule(t, s, self.sde)]  # (R, K) each
        if self.solver.corrects:
            columns.append(self.sde.transition(s, t)[0].square())
        elif self.solver.extrapolates:
            # not in the first step of a chain, nor in the last one, which is too long
            extrapolated = (left < level[1]) & (left > 1)
            before, _ = self.solver.times(level[0], level[1], left + 1)
            weight = torch.where(extrapolated, extrapolation_weight(before, t, s, self.sde), 0.0)
            columns += [self.sde.decay(t), self.sde.variance(t), weight]
        table = torch.stack(columns, dim=1)  # (R, C, K)
        for row, remaining in zip(table, left.flatten().tolist(), strict=True):
            joined = level[1] >= remaining
            each = row[:, joined].repeat_interleave(chains[joined], dim=1)  # (C, B)
            time, *rest = each.unbind()
            keep, push, std, *others = (per_graph(column, like) for column in rest)
            yield _Step(remaining, each.shape[1], time, keep, push, std, tuple(others))

    def _correct(
        self, now: list[Tensor], grads: list[Tensor], step: _Step, noise: EgoNoise
    ) -> list[Tensor]:
        """Correct both parts in place; the gradients for the step that follows."""
        width = now[0].shape[1]
        drawn = (
            noise.features(Purpose.CORRECT_FEATURES, step.remaining, width),
            noise.adjacency(Purpose.CORRECT_ADJACENCY, step.remaining, width),
        )
        (alpha,) = step.others
        for part, grad, z in zip(now, grads, drawn, strict=True):
            part.copy_(langevin(part, grad, z, alpha, self.solver.snr, self.solver.scale))
        if self.solver.evaluations == 2:
            return list(self.gradients(now[0], now[1], step.t))
        return grads
