"""The three SDEs against their formulas and against integrating the moment equations."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad, solve_ivp

from egoscore.detectors.paper.sde import SDES, VE, VP, SubVP, perturb

ALL = [VP(), VP(0.1, 20.0), SubVP(), SubVP(0.2, 5.0), VE(), VE(0.01, 50.0)]
TIMES = [1e-4, 0.01, 0.2, 0.4, 0.57, 0.8, 1.0]

every_sde = pytest.mark.parametrize("sde", ALL, ids=str)


def at(*times):
    return torch.tensor(times, dtype=torch.float64)


def number(function, t):
    return float(function(at(t))[0])


def close_to(expected, relative):
    """To so many digits, however small: pytest adds an absolute tolerance of its own."""
    return pytest.approx(np.asarray(expected), rel=relative, abs=0)


def kernel(sde, t):
    return number(sde.decay, t), number(sde.variance, t)


def integrate_moments(sde, start, end):
    """Mean and variance at `end` of a process that stands at 1 at `start`."""

    def change(t, moments):
        f, g = number(sde.drift, t), number(sde.diffusion, t)
        mean, variance = moments
        return [f * mean, 2 * f * variance + g**2]

    found = solve_ivp(change, (start, end), [1.0, 0.0], method="DOP853", rtol=1e-11, atol=1e-20)
    return found.y[:, -1]


@pytest.mark.parametrize("t", [1e-5, 0.2, 0.4, 0.6, 0.8, 1.0])
def test_vp_is_the_papers(t):
    decay, variance = kernel(VP(), t)
    expected = math.exp(-(t**2) * 0.9 / 4 - 0.1 * t / 2)
    assert decay == pytest.approx(expected, rel=1e-14)
    assert variance == close_to(1 - expected**2, 1e-9)
    assert number(VP().beta, t) == pytest.approx(0.1 + 0.9 * t)


@pytest.mark.parametrize(
    ("t", "decay", "variance"),
    [(0.2, 0.9811793, 0.0372871), (0.6, 0.8949387, 0.1990846), (1.0, 0.7595721, 0.4230502)],
)
def test_vp_has_these_numbers(t, decay, variance):
    # exp(-0.019), exp(-0.111), exp(-0.275), and one minus their squares
    assert kernel(VP(), t) == pytest.approx((decay, variance), abs=1e-7)


def test_ve_grows_geometrically_from_sigma_min_to_sigma_max():
    sde = VE(0.1, 1.0)
    for t in TIMES:
        sigma = 0.1 * 10.0**t
        assert number(sde.variance, t) == close_to(sigma**2 - 0.1**2, 1e-9)
        assert number(sde.decay, t) == 1
        # g² is the growth of sigma²
        assert number(sde.diffusion, t) ** 2 == pytest.approx(2 * sigma**2 * math.log(10))


def test_subvp_has_the_decay_of_vp_and_the_square_of_its_variance():
    for t in TIMES:
        decay, variance = kernel(VP(), t)
        assert kernel(SubVP(), t) == close_to((decay, variance**2), 1e-12)


@every_sde
@pytest.mark.parametrize("t", TIMES)
def test_kernel_solves_the_moment_equations(sde, t):
    assert kernel(sde, t) == close_to(integrate_moments(sde, 0.0, t), 1e-9)


@every_sde
@pytest.mark.parametrize(("earlier", "later"), [(0.1, 0.12), (0.3, 0.9), (1e-4, 1.0)])
def test_transition_solves_the_moment_equations(sde, earlier, later):
    factor, variance = sde.transition(at(earlier), at(later))
    expected = integrate_moments(sde, earlier, later)
    assert (float(factor), float(variance)) == close_to(expected, 1e-9)


@every_sde
@pytest.mark.parametrize("t", TIMES)
def test_decay_is_the_exponential_of_the_integrated_drift(sde, t):
    integral, _ = quad(lambda s: number(sde.drift, s), 0.0, t)
    assert number(sde.decay, t) == pytest.approx(math.exp(integral), rel=1e-9)


@every_sde
def test_transition_from_time_zero_is_the_kernel(sde):
    t = at(*TIMES)
    factor, variance = sde.transition(torch.zeros_like(t), t)
    assert torch.allclose(factor, sde.decay(t), rtol=1e-14)
    assert torch.allclose(variance, sde.variance(t), rtol=1e-14)


@every_sde
@pytest.mark.parametrize(("s", "u", "t"), [(0.0, 0.3, 1.0), (0.2, 0.25, 0.3), (1e-4, 0.5, 0.9)])
def test_two_transitions_make_one(sde, s, u, t):
    first_factor, first_variance = sde.transition(at(s), at(u))
    second_factor, second_variance = sde.transition(at(u), at(t))
    factor, variance = sde.transition(at(s), at(t))
    assert torch.allclose(factor, second_factor * first_factor, rtol=1e-12)
    expected = second_factor.square() * first_variance + second_variance
    assert torch.allclose(variance, expected, rtol=1e-10)


@every_sde
def test_a_transition_to_the_same_time_changes_nothing(sde):
    t = at(*TIMES)
    factor, variance = sde.transition(t, t)
    assert torch.equal(factor, torch.ones_like(t))
    assert torch.equal(variance, torch.zeros_like(t))


@pytest.mark.parametrize(("sde", "power"), [(VP(), 1), (SubVP(), 2)], ids=str)
def test_sigma_is_accurate_at_tiny_times(sde, power):
    # 1 - m² would lose ten digits here. sigma² of VP = 1 - exp(-B), B = 0.1 t + 0.45 t²
    t = 1e-5
    noised = 0.1 * t + 0.45 * t**2
    variance = (noised - noised**2 / 2 + noised**3 / 6) ** power
    assert number(sde.std, t) == close_to(math.sqrt(variance), 1e-13)


def test_sigma_of_ve_is_accurate_at_tiny_times():
    grown = 2 * math.log(10.0) * 1e-5
    variance = 0.1**2 * (grown + grown**2 / 2 + grown**3 / 6 + grown**4 / 24)
    assert number(VE().std, 1e-5) == close_to(math.sqrt(variance), 1e-13)


@every_sde
def test_snr_is_what_is_left_of_the_signal_over_the_noise(sde):
    t = at(*TIMES)
    expected = (sde.decay(t) / sde.std(t)) ** 2
    assert torch.allclose(sde.snr(t), expected, rtol=1e-12)
    assert (sde.snr(t).diff() < 0).all()


def test_snr_of_the_papers_levels():
    # m²/(1 - m²) = 1/(exp(B) - 1) with B = 0.1 t + 0.45 t²
    levels = np.array([0.2, 0.4, 0.6, 0.8])
    expected = 1 / (np.exp(0.1 * levels + 0.45 * levels**2) - 1)
    assert np.allclose(VP().snr(at(*levels)), expected, rtol=1e-12)


@every_sde
def test_an_sde_knows_nothing_of_step_counts(sde):
    known = {name.lower() for name in dir(sde)}
    assert not any("step" in name or name in {"n", "num_scales"} for name in known)
    assert set(vars(sde)) in ({"beta_min", "beta_max"}, {"sigma_min", "sigma_max"})


def test_the_named_sdes_are_the_papers_three():
    expected = {"vp": VP(0.1, 1.0), "ve": VE(0.1, 1.0), "subvp": SubVP(0.1, 1.0)}
    assert expected == SDES


@every_sde
def test_perturbing_shrinks_the_signal_and_adds_noise_graph_by_graph(sde):
    random = np.random.default_rng(0)
    value, noise = random.normal(size=(2, 3, 4, 5)).astype(np.float32)
    times = [0.1, 0.5, 1.0]
    found = perturb(torch.from_numpy(value), torch.from_numpy(noise), sde, at(*times))
    assert found.dtype == torch.float32
    for graph, t in enumerate(times):
        decay, variance = kernel(sde, t)
        expected = decay * value[graph] + math.sqrt(variance) * noise[graph]
        np.testing.assert_allclose(found[graph], expected, rtol=1e-5, atol=1e-6)
