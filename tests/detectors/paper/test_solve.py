"""The time loop: with the exact score of Gaussian data, and with a counting stand-in."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import SDES, VP, perturb
from egoscore.detectors.paper.solve import SOLVERS, ReverseProcess, Solver
from egoscore.detectors.paper.steps import LAST_TIME, euler_maruyama, probability_flow
from egoscore.random import Keys, Purpose

SDE = VP()
CPU = torch.device("cpu")
WRONG = {"em-overshoot"}  # on purpose


def chain_noise(count, size, num_features, directed=False, sizes=None):
    node = np.arange(count, dtype=np.int64)
    keys = Keys.for_nodes(7, node)
    sizes = np.full(count, size) if sizes is None else np.asarray(sizes)
    return EgoNoise(keys, sizes.astype(np.int64), num_features, directed, CPU)


def gaussian_gradients(mean, std, sde=SDE):
    def gradients(x, adj, t):
        decay, variance = sde.decay(t).view(-1, 1, 1), sde.variance(t).view(-1, 1, 1)
        spread = decay.square() * std**2 + variance
        off_diagonal = 1.0 - torch.eye(adj.shape[-1])
        grad_x = -(x - decay * mean) / spread
        grad_adj = -(adj - decay * mean) / spread * off_diagonal
        return grad_x.float(), grad_adj.float()

    return gradients


def start(count, size, num_features, tau, mean, std, directed=False):
    """Data N(mean, std²) noised to tau, the times, and the noise of the chains."""
    noise = chain_noise(count, size, num_features, directed)
    off_diagonal = 1.0 - torch.eye(size)
    data_x = mean + std * noise.features(Purpose.TRAIN_FEATURES, 0, size)
    data_adj = (mean + std * noise.adjacency(Purpose.TRAIN_ADJACENCY, 0, size)) * off_diagonal
    times = torch.full((count,), tau, dtype=torch.float64)
    x = perturb(data_x, noise.features(Purpose.FORWARD_FEATURES, 0, size), SDE, times)
    adj = perturb(data_adj, noise.adjacency(Purpose.FORWARD_ADJACENCY, 0, size), SDE, times)
    return x, adj, times, noise


def solve(x, adj, tau, steps, gradients, solver, noise, sde=SDE):
    return ReverseProcess(sde, solver, gradients).solve(x, adj, tau, steps, noise)


@pytest.mark.parametrize("tau", [1.0, 0.4])
@pytest.mark.parametrize("name", [name for name in SOLVERS if name not in WRONG])
def test_samples_have_the_mean_and_variance_of_the_data(name, tau):
    solver = replace(SOLVERS[name], corrects=False, evaluations=1)
    mean, std = 0.8, 0.5
    x, adj, times, noise = start(400, 8, 40, tau, mean, std)
    steps = torch.full((400,), int(100 * tau))
    x, adj = solve(x, adj, times, steps, gaussian_gradients(mean, std), solver, noise)
    entries = adj[:, ~torch.eye(8, dtype=torch.bool)]
    for values in (x, entries):
        assert float(values.mean()) == pytest.approx(mean, abs=0.015)
        assert float(values.std()) == pytest.approx(std, rel=0.03)


@pytest.mark.parametrize("name", [name for name in SOLVERS if SOLVERS[name].corrects])
def test_corrected_samples_have_the_data_mean_and_the_variance_that_theory_gives(name):
    """The correction draws 0.7 of the noise Langevin would need, so the variance must shrink.

    Follow the variance of every entry through predictor and corrector exactly: the correction
    multiplies deviations by 1 - size/v and adds 2·size·0.49; size is 2·a²·snr²·|z|²/|grad|².
    """
    mean, std, tau, count = 0.8, 0.5, 0.4, 40
    x, adj, times, noise = start(100, 10, 200, tau, mean, std)
    solver = SOLVERS[name]
    steps = torch.full((100,), count)
    found, _ = solve(x, adj, times, steps, gaussian_gradients(mean, std), solver, noise)
    expected_mean, expected_variance = followed_moments(solver, mean, std, tau, count)
    assert float(found.mean()) == pytest.approx(expected_mean, abs=0.01)
    assert float(found.std()) == pytest.approx(np.sqrt(expected_variance), rel=0.02)
    assert float(found.mean()) == pytest.approx(mean, abs=0.02)


def followed_moments(solver, mean, std, tau, count):
    grid = np.linspace(tau, LAST_TIME, count + 1)
    decay = float(SDE.decay(torch.tensor(tau)))
    level = decay * mean
    variance = decay**2 * std**2 + float(SDE.variance(torch.tensor(tau)))
    for i, (t, s) in enumerate(pairwise(grid)):
        time_t, time_s = (torch.tensor([v], dtype=torch.float64) for v in (t, s))
        decay = float(SDE.decay(time_t))
        spread = decay**2 * std**2 + float(SDE.variance(time_t))
        alpha = float(SDE.transition(time_s, time_t)[0]) ** 2
        mean_square_gradient = (variance + (level - decay * mean) ** 2) / spread**2
        size = 2 * alpha * solver.snr**2 / mean_square_gradient
        keep, push, deviation = (float(v) for v in solver.rule(time_t, time_s, SDE))
        correction = 1 - size / spread
        if solver.evaluations == 2:
            slope = (keep - push / spread) * correction
        else:  # the step uses the gradient from before the correction
            slope = keep * correction - push / spread
        level = keep * decay * mean + slope * (level - decay * mean)
        extra = (keep - push / spread if solver.evaluations == 2 else keep) ** 2
        variance = slope**2 * variance + extra * 2 * size * solver.scale**2
        if i < count - 1:
            variance += deviation**2
    return level, variance


def test_every_step_goes_from_one_grid_point_to_the_next_and_the_last_ends_at_the_last_time():
    seen = []

    def spying_rule(t, s, sde):
        seen.extend(zip(t.flatten().tolist(), s.flatten().tolist(), strict=True))
        return euler_maruyama(t, s, sde)

    x, adj, times, noise = start(1, 2, 3, 0.57, 0.0, 1.0)
    gradients = gaussian_gradients(0.0, 1.0)
    solve(x, adj, times, torch.tensor([57]), gradients, Solver(spying_rule), noise)
    assert len(seen) == 57
    assert seen[0][0] == pytest.approx(0.57)
    assert seen[-1][1] == LAST_TIME
    assert all(a[1] == b[0] for a, b in pairwise(seen))


@pytest.mark.parametrize("name", SOLVERS)
def test_chains_of_several_levels_in_one_loop_equal_chains_on_their_own(name):
    taus, counts = torch.tensor([0.8, 0.5, 0.2], dtype=torch.float64), torch.tensor([8, 5, 2])
    x, adj, _, noise = start(3, 4, 6, 0.5, 0.0, 1.0)
    gradients = gaussian_gradients(0.3, 0.5)
    solver = SOLVERS[name]
    together = solve(x, adj, taus, counts, gradients, solver, noise)
    for i in range(3):
        row = slice(i, i + 1)
        keys = Keys(7, *(a[row] for a in (noise.keys.node, noise.keys.level, noise.keys.sample)))
        own = EgoNoise(keys, noise.sizes[row], 6, False, CPU)
        alone = solve(x[row], adj[row], taus[row], counts[row], gradients, solver, own)
        assert torch.equal(alone[0][0], together[0][i])
        assert torch.equal(alone[1][0], together[1][i])


@pytest.mark.parametrize("name", SOLVERS)
def test_evaluations_are_counted_and_the_input_is_left_alone(name):
    calls = 0
    inner = gaussian_gradients(0.0, 1.0)

    def counting(x, adj, t):
        nonlocal calls
        calls += 1
        return inner(x, adj, t)

    x, adj, times, noise = start(2, 3, 2, 0.3, 0.0, 1.0)
    before = x.clone(), adj.clone()
    solve(x, adj, times, torch.tensor([30, 30]), counting, SOLVERS[name], noise)
    assert calls == 30 * SOLVERS[name].evaluations
    assert torch.equal(x, before[0])
    assert torch.equal(adj, before[1])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", SOLVERS)
def test_padding_and_diagonal_stay_exactly_zero(name, directed):
    sizes = [4, 2, 1]
    mask = torch.tensor([[1.0] * n + [0.0] * (4 - n) for n in sizes])
    noise = chain_noise(3, 4, 5, directed, sizes)
    x = noise.features(Purpose.FORWARD_FEATURES, 0, 4)
    adj = noise.adjacency(Purpose.FORWARD_ADJACENCY, 0, 4)
    pairs = mask.unsqueeze(1) * mask.unsqueeze(2) * (1 - torch.eye(4))

    def gradients(x, adj, t):
        return -x * mask.unsqueeze(-1), -adj * pairs[: len(adj)]

    times = torch.full((3,), 0.2, dtype=torch.float64)
    x, adj = solve(x, adj, times, torch.full((3,), 20), gradients, SOLVERS[name], noise)
    assert torch.isfinite(x).all()
    assert torch.isfinite(adj).all()
    assert not x[mask == 0].any()
    assert not adj[pairs == 0].any()
    assert torch.equal(adj, adj.transpose(1, 2)) != directed


class TestProbabilityFlow:
    """The flow of Gaussian data is known: deviations from the mean grow like its spread."""

    def error(self, sde, tau, count, solver=SOLVERS["dpm"]):
        mean, std = 0.8, 0.5
        noise = chain_noise(1, 3, 4)
        time = torch.tensor([tau], dtype=torch.float64)
        last = torch.tensor([LAST_TIME], dtype=torch.float64)
        x = noise.features(Purpose.FORWARD_FEATURES, 0, 3).double()
        adj = torch.zeros(1, 3, 3, dtype=torch.float64)

        def gradients(x, adj, t):
            decay, variance = sde.decay(t).view(-1, 1, 1), sde.variance(t).view(-1, 1, 1)
            return -(x - decay * mean) / (decay**2 * std**2 + variance), adj

        def spread(t):
            return (sde.decay(t) ** 2 * std**2 + sde.variance(t)).sqrt()

        expected = sde.decay(last) * mean + spread(last) / spread(time) * (
            x - sde.decay(time) * mean
        )
        found, _ = solve(x, adj, time, torch.tensor([count]), gradients, solver, noise, sde)
        return float((found - expected).abs().max())

    @pytest.mark.parametrize("tau", [1.0, 0.4])
    @pytest.mark.parametrize("kind", SDES)
    def test_it_converges_at_second_order(self, kind, tau):
        # from 40 steps on: the errors of VE at fewer have different signs and cancel
        coarse, fine = (self.error(SDES[kind], tau, count) for count in (40, 160))
        assert fine < 1e-6 or np.log2(coarse / fine) / 2 > 1.75, (coarse, fine)

    def test_without_extrapolation_only_at_first(self):
        plain = replace(SOLVERS["dpm"], rule=probability_flow, extrapolates=False, scale=0)
        errors = [self.error(VP(), 1.0, count, plain) for count in (10, 20, 40)]
        orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
        assert orders.max() < 1.3

    def test_a_few_steps_are_close(self):
        assert self.error(VP(), 0.8, 5) < 0.02
        assert self.error(VP(), 0.8, 20) < 0.004

    def test_no_noise_is_drawn(self):
        x, adj, times, noise = start(2, 3, 2, 0.5, 0.0, 1.0)
        gradients = gaussian_gradients(0.0, 1.0)
        steps = torch.tensor([5, 5])
        assert torch.equal(
            solve(x, adj, times, steps, gradients, SOLVERS["dpm"], noise)[0],
            solve(x, adj, times, steps, gradients, SOLVERS["dpm"], Unasked())[0],
        )


class Unasked:
    """Noise that must not be asked for."""

    def first(self, count):
        return self


def test_a_step_after_time_has_run_out_ruins_what_the_others_reached():
    """All data at one point: the exact gradient brings every chain there, and 1e-4 is close."""
    x, adj, times, noise = start(50, 4, 10, 0.5, 0.8, 0.0)
    steps = torch.full((50,), 50)

    def error(name):
        found, _ = solve(x, adj, times, steps, gaussian_gradients(0.8, 0.0), SOLVERS[name], noise)
        return float((found - 0.8).square().mean().sqrt())

    assert error("em") < 0.05
    assert error("em-overshoot") > 20 * error("em")
