"""The time grid: noise levels, numbers of steps, and the times of a step."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor

from egoscore.detectors.paper.sde import END_TIME

LAST_TIME = 1e-4
StepTimes = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Start and end time of a step, given its level tau, the number of steps and how many remain."""


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
    """Equal steps."""
    return time_left(tau, steps, remaining), time_left(tau, steps, remaining - 1)


def shrinking_steps(tau: Tensor, steps: Tensor, remaining: Tensor) -> tuple[Tensor, Tensor]:
    """Steps that shrink towards the end, equal in the square root of time."""
    return time_left(tau, steps, remaining, 2.0), time_left(tau, steps, remaining - 1, 2.0)


def steps_too_far(tau: Tensor, steps: Tensor, remaining: Tensor) -> tuple[Tensor, Tensor]:
    """The times of a known implementation, whose last step starts at 1e-4 and ends below zero.

    Its steps start at evenly spaced times from tau to 1e-4, but every step is tau/steps long.
    """
    start = time_left(tau, (steps - 1).clamp(min=1), remaining - (steps > 1).to(remaining))
    return start, start - tau / steps
