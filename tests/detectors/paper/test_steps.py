"""Step rules against Gaussian data, whose exact score is known.

With data N(mu, s²) the gradient of log p at time t is -(x - m·mu)/(m²s² + sigma²). Every rule is
affine in x then, so that mean and variance can be followed exactly, without sampling, and compared
with the true marginal at the last time.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

from egoscore.detectors.paper.sde import VE, VP, SubVP
from egoscore.detectors.paper.solve import SOLVERS
from egoscore.detectors.paper.steps import (
    LAST_TIME,
    euler_maruyama,
    even_steps,
    langevin,
    levels,
    num_steps,
    overshooting_steps,
    reverse_diffusion,
    shrinking_steps,
    symmetric_splitting,
    time_left,
)

MEAN, STD = 1.5, 0.7
RULES = {solver.rule.__name__: solver.rule for solver in SOLVERS.values()}
STOCHASTIC = [solver.rule for solver in SOLVERS.values() if not solver.extrapolates]
SDE_KINDS = {"vp": VP(), "vp-wide": VP(0.1, 20.0), "ve": VE(0.05, 3.0), "subvp": SubVP()}


def times(*values):
    return torch.tensor(values, dtype=torch.float64)


def marginal(sde, t, mean=MEAN, std=STD):
    """Mean and variance at the times t."""
    decay = sde.decay(t)
    return decay * mean, decay.square() * std**2 + sde.variance(t)


def apply(rule, value, sde, t, s, mean=MEAN, std=STD):
    """Mean and deviation after steps from the number `value`, for all times t and s at once."""
    centre, variance = marginal(sde, t, mean, std)
    keep, push, deviation = rule(t, s, sde)
    return keep * value - push * (value - centre) / variance, deviation


def follow(rule, sde, tau, num_steps, last_noise=True):
    """Exact mean and variance of the solver's result, started from the true marginal at tau."""
    grid = torch.linspace(tau, LAST_TIME, num_steps + 1, dtype=torch.float64)
    offsets, deviations = apply(rule, 0.0, sde, grid[:-1], grid[1:])
    slopes = apply(rule, 1.0, sde, grid[:-1], grid[1:])[0] - offsets
    if not last_noise:
        deviations[-1] = 0.0
    mean, variance = (float(moment) for moment in marginal(sde, times(tau)))
    for offset, slope, deviation in zip(
        offsets.tolist(), slopes.tolist(), deviations.tolist(), strict=True
    ):
        mean = offset + slope * mean
        variance = slope**2 * variance + deviation**2
    return mean, variance


@pytest.mark.parametrize("kind", SDE_KINDS)
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("tau", [1.0, 0.6, 0.2])
def test_mean_and_variance_converge_to_the_truth_at_first_order(name, kind, tau):
    sde = SDE_KINDS[kind]
    true_mean, true_variance = (float(moment) for moment in marginal(sde, times(LAST_TIME)))
    errors = []
    for count in (1000, 2000, 4000):
        mean, variance = follow(RULES[name], sde, tau, count)
        errors.append(np.hypot(mean - true_mean, variance - true_variance))
    assert errors[-1] < 0.005
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders.min() > 0.9, orders


@pytest.mark.parametrize("kind", SDE_KINDS)
@pytest.mark.parametrize("name", RULES)
def test_leaving_out_the_last_noise_only_costs_that_noise(name, kind):
    sde = SDE_KINDS[kind]
    mean, variance = follow(RULES[name], sde, 0.8, 400)
    quiet_mean, quiet_variance = follow(RULES[name], sde, 0.8, 400, last_noise=False)
    step = (0.8 - LAST_TIME) / 400
    _, deviation = apply(RULES[name], 0.0, sde, times(LAST_TIME + step), times(LAST_TIME))
    assert quiet_mean == mean
    assert quiet_variance == pytest.approx(variance - float(deviation) ** 2, rel=1e-9)


@pytest.mark.parametrize("kind", ["vp", "subvp", "ve"])
@pytest.mark.parametrize("name", RULES)
def test_one_point_of_data_is_found_again_up_to_the_last_step(name, kind):
    """A known implementation jumps from an error of 0.001 to 3.3 in its last step."""
    sde, point = SDE_KINDS[kind], 2.0
    grid = torch.linspace(0.8, LAST_TIME, 81, dtype=torch.float64)
    for sign in (-3.0, 3.0):  # from three deviations away
        value = float(sde.decay(grid[:1]) * point + sign * sde.std(grid[:1]))
        for t, s in pairwise(grid):
            after, _ = apply(RULES[name], value, sde, t.view(1), s.view(1), point, 0.0)
            value = float(after)
        assert abs(value - point) < 0.01


@pytest.mark.parametrize("kind", SDE_KINDS)
def test_all_rules_agree_with_euler_maruyama_for_small_steps(kind):
    sde, t = SDE_KINDS[kind], 0.5
    for rule in STOCHASTIC:
        gaps = []
        for step in (1e-3, 5e-4):
            mean, deviation = apply(rule, 0.3, sde, times(t), times(t - step))
            em_mean, em_deviation = apply(euler_maruyama, 0.3, sde, times(t), times(t - step))
            gaps.append(abs(float(mean - em_mean)))
            assert float(deviation) == pytest.approx(float(em_deviation), rel=0.02)
        assert gaps[1] <= gaps[0] / 3  # the difference is of second order in the step


def test_euler_maruyama_is_the_papers_formula():
    sde, t, s = VP(), 0.6, 0.59
    beta = 0.1 + 0.9 * t
    value = 0.4
    decay = np.exp(-0.9 * t**2 / 4 - 0.1 * t / 2)
    grad = -(value - decay * MEAN) / (decay**2 * STD**2 + 1 - decay**2)
    mean, deviation = apply(euler_maruyama, value, sde, times(t), times(s))
    assert float(mean) == pytest.approx(value + (0.5 * beta * value + beta * grad) * 0.01)
    assert float(deviation) == pytest.approx(np.sqrt(beta * 0.01))


def test_reverse_diffusion_uses_betas_of_the_step_not_of_a_fixed_count():
    """Betas discretised for 1000 steps were up to five times too small for 100 steps."""
    sde, t = VP(), 0.2
    for step in (0.001, 0.01, 0.05):
        _, deviation = apply(reverse_diffusion, 0.0, sde, times(t), times(t - step))
        middle = 0.1 + 0.9 * (t - step / 2)
        assert float(deviation) ** 2 == pytest.approx(-np.expm1(-middle * step), rel=1e-9)


def test_splitting_solves_the_linear_part_exactly():
    """Without a gradient S4 must be the exact backward solution, however large the step."""
    sde = VP(0.1, 20.0)
    keep, _, deviation = symmetric_splitting(times(0.9), times(0.4), sde)
    integral = 0.1 * 0.5 + 0.5 * 19.9 * (0.9**2 - 0.4**2)
    assert float(keep) == pytest.approx(np.exp(integral / 2))
    assert float(deviation) ** 2 == pytest.approx(np.expm1(integral))


def test_langevin_moves_each_graph_by_its_own_norms():
    generator = torch.Generator().manual_seed(1)
    value, grad, noise = (torch.randn(3, 4, 5, generator=generator) for _ in range(3))
    alpha = torch.tensor([0.9, 0.8, 0.7]).view(3, 1, 1)
    together = langevin(value, grad, noise, alpha, 0.15, 0.7)
    for i in range(3):
        size = 2 * float(alpha[i]) * (0.15 * noise[i].norm() / grad[i].norm()) ** 2
        expected = value[i] + size * grad[i] + (2 * size).sqrt() * 0.7 * noise[i]
        assert torch.allclose(together[i], expected, atol=1e-6)
        alone = langevin(
            value[i : i + 1], grad[i : i + 1], noise[i : i + 1], alpha[i : i + 1], 0.15, 0.7
        )
        assert torch.equal(alone[0], together[i])


def test_langevin_leaves_a_graph_without_gradient_alone():
    value = torch.zeros(2, 1, 1)
    alpha = torch.ones(2, 1, 1)
    moved = langevin(value, torch.zeros_like(value), torch.zeros_like(value), alpha, 0.15, 0.7)
    assert torch.equal(moved, value)


def test_langevin_keeps_a_gaussian_where_it_is():
    """Many corrections with full noise must have the stationary variance v/(1 - size/2v)."""
    generator = torch.Generator().manual_seed(2)
    variance, snr = 0.6, 0.15
    value = torch.randn(4, 100, 50, generator=generator, dtype=torch.float64)
    for _ in range(400):
        noise = torch.randn(value.shape, generator=generator, dtype=torch.float64)
        value = langevin(value, -value / variance, noise, torch.ones(4, 1, 1), snr, 1.0)
    size = 2 * snr**2 * variance  # norms of noise and gradient have the ratio √v here
    expected = variance / (1 - size / (2 * variance))
    assert float(value.var()) == pytest.approx(expected, rel=0.02)
    assert abs(float(value.mean())) < 0.02


def test_levels_divide_the_time_evenly():
    assert levels(4) == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert levels(1) == [0.5]


@pytest.mark.parametrize("hundredths", range(1, 100))
def test_steps_are_the_exact_floor_in_spite_of_rounding(hundredths):
    tau = hundredths / 100  # 100 * 0.57 is 56.99999999999999
    assert num_steps(tau, 100) == int(Fraction(hundredths, 100) * 100)


def test_a_level_between_two_grid_points_is_floored_and_one_step_is_the_least():
    assert num_steps(0.579, 100) == 57
    assert num_steps(0.001, 100) == 1


def test_a_grid_runs_from_tau_to_the_last_time_in_equal_steps():
    tau, steps = torch.tensor([0.8, 0.2], dtype=torch.float64), torch.tensor([80, 20])
    assert torch.equal(time_left(tau, steps, 0), torch.full_like(tau, LAST_TIME))
    times = torch.stack([time_left(tau[:1], steps[:1], r) for r in range(80, -1, -1)])
    assert float(times[0]) == pytest.approx(0.8)
    gaps = times[:-1] - times[1:]
    assert torch.allclose(gaps, gaps[0].expand_as(gaps))


@pytest.mark.parametrize("times", [even_steps, shrinking_steps])
def test_a_step_begins_where_the_last_one_ended(times):
    tau, steps = torch.tensor([0.8], dtype=torch.float64), torch.tensor([80])
    start, end = times(tau, steps, torch.arange(80, 0, -1))
    assert torch.equal(start[1:], end[:-1])
    assert float(start[0]) == pytest.approx(0.8)
    assert float(end[-1]) == LAST_TIME


@pytest.mark.parametrize("number", [1, 2, 20])
def test_overshooting_steps_start_on_a_grid_that_has_one_time_for_each_step(number):
    tau, steps = torch.tensor([0.2], dtype=torch.float64), torch.tensor([number])
    start, end = overshooting_steps(tau, steps, torch.arange(number, 0, -1))
    grid = torch.linspace(0.2, LAST_TIME, number, dtype=torch.float64)
    torch.testing.assert_close(start, grid)
    torch.testing.assert_close(start - end, torch.full_like(start, 0.2 / number))
