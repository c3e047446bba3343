"""A solver of one's own: the ancestral steps of DDPM (Ho et al., 2020)."""

from itertools import pairwise

import torch
from torch import Tensor

from egoscore import EgoScore, load_dataset
from egoscore.detectors.paper.sde import VP, Sde
from egoscore.detectors.paper.solve import SOLVERS, Solver
from egoscore.detectors.paper.steps import LAST_TIME


def ancestral(t: Tensor, s: Tensor, sde: Sde) -> tuple[Tensor, Tensor, Tensor]:
    """x(s) given x(t) and the clean estimate: (x + v·grad)/a, noise √v·sigma_s/sigma_t."""
    factor, variance = sde.transition(s, t)  # a and v of the forward step from s to t
    return 1.0 / factor, variance / factor, variance.sqrt() * sde.std(s) / sde.std(t)


SOLVERS["ancestral"] = Solver(ancestral)


def variance_error(steps: int, spread: float = 0.7) -> float:
    """How far the variance is off after the way back, for Gaussian data, whose score is known."""
    sde, grid = VP(), torch.linspace(0.8, LAST_TIME, steps + 1, dtype=torch.float64)
    true = sde.decay(grid).square() * spread**2 + sde.variance(grid)
    keep, push, std = ancestral(grid[:-1], grid[1:], sde)
    variance = true[0]
    for number in range(steps):
        variance = (keep[number] - push[number] / true[number]) ** 2 * variance + std[number] ** 2
    return float((variance - true[-1]).abs())


if __name__ == "__main__":
    errors = [variance_error(steps) for steps in (50, 100, 200)]
    print("error of the variance, 50, 100, 200 steps:", [f"{error:.4f}" for error in errors])
    # of first order: twice the steps, half the error
    assert all(1.8 < more / less < 2.2 for more, less in pairwise(errors))
    graph = load_dataset("builtin")
    detector = EgoScore("paper", solver="ancestral", steps=20, epochs=20).fit(graph)
    print("highest score:", float(detector.decision_score_.max()))
