"""Levels and step counts against exact rational arithmetic."""

from fractions import Fraction

import pytest
import torch

from egoscore.detectors.paper.grid import (
    LAST_TIME,
    even_steps,
    levels,
    num_steps,
    shrinking_steps,
    steps_too_far,
    time_left,
)


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
def test_steps_too_far_start_on_a_grid_that_has_one_time_for_each_step(number):
    tau, steps = torch.tensor([0.2], dtype=torch.float64), torch.tensor([number])
    start, end = steps_too_far(tau, steps, torch.arange(number, 0, -1))
    grid = torch.linspace(0.2, LAST_TIME, number, dtype=torch.float64)
    torch.testing.assert_close(start, grid)
    torch.testing.assert_close(start - end, torch.full_like(start, 0.2 / number))
