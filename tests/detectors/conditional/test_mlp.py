"""The denoiser: exact for Gaussian data, better than that after training where they are not."""

import random

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from egoscore.detectors.conditional.mlp import (
    LEVELS,
    SCORING_LEVEL,
    CentreNetwork,
    Centres,
    _losses,
    _robust_mean,
    corrections,
    left_by_the_linear_guess,
    train_centre,
)
from egoscore.detectors.conditional.settings import ConditionalSettings

QUICK = ConditionalSettings(hidden_size=8, updates=3, batch_size=32)


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


def centres(white, expected=None, variance=None, known=None):
    """Centres with what is left out filled in: nothing expected, unit variance, nothing known."""
    white = np.asarray(white, dtype=np.float32)
    expected = np.zeros_like(white) if expected is None else np.asarray(expected, np.float32)
    variance = np.ones(white.shape[1]) if variance is None else np.asarray(variance)
    known = np.zeros((len(white), 1), np.float32) if known is None else known
    return Centres.of(white, expected, variance, known.astype(np.float32))


def gaussian(size=200, width=3, seed=0):
    return centres(np.random.default_rng(seed).normal(size=(size, width)))


def binary(size=1200, width=3, seed=0):
    """Two-valued features: what a Gaussian denoiser gets most wrong."""
    return centres(np.random.default_rng(seed).choice([-1.0, 1.0], size=(size, width)))


def new_network(seed=0, fold=0, num_axes=3, num_known=1, hidden_size=8):
    network = CentreNetwork(num_axes, num_known, hidden_size)
    network.initialise(seed, fold)
    return network


def denoising_errors(network, data, seed=99):
    """Squared errors of the linear guess and with the network, over the noise, which is numpy's."""
    rng = np.random.default_rng(seed)
    shape = data.white.shape
    clarity = torch.from_numpy(rng.uniform(*LEVELS, size=(shape[0], 1))).float()
    noise = torch.from_numpy(rng.normal(size=shape)).float()
    spread = (-clarity).sigmoid().sqrt()
    noisy = clarity.sigmoid().sqrt() * data.white + spread * noise
    guess = data.linear_guess(noisy, clarity)
    with torch.no_grad():
        better = guess + spread * network(noisy, guess, data.known, clarity)
    missed = [(answer - data.white) / spread for answer in (guess, better)]
    return [float(error.square().mean()) for error in missed]


def best_for_binary(count=200_000):
    """The same of the exact denoiser of two-valued features, which is a hyperbolic tangent."""
    rng = np.random.default_rng(0)
    signal, x = sigmoid(rng.uniform(*LEVELS, size=count)), rng.choice([-1.0, 1.0], size=count)
    noisy = np.sqrt(signal) * x + np.sqrt(1 - signal) * rng.normal(size=count)
    best = np.tanh(np.sqrt(signal) * noisy / (1 - signal))
    return np.mean(np.square(x - best) / (1 - signal))


def weights(network):
    return torch.cat([parameter.detach().flatten() for parameter in network.parameters()])


class TestLinearGuess:
    @pytest.mark.parametrize("clarity", [-3.0, -1.0, 0.0, 2.5])
    @pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (0.7, 0.3), (-2.0, 0.02)])
    def test_it_is_the_mean_of_the_posterior(self, clarity, mean, variance):
        noisy, signal = 0.9, sigmoid(clarity)
        data = centres([[0.0]], [[mean]], [variance])
        found = data.linear_guess(torch.tensor([[noisy]]), torch.tensor([[clarity]]))
        prior = norm(mean, np.sqrt(variance))

        def weight(x):
            return prior.pdf(x) * norm.pdf(noisy, np.sqrt(signal) * x, np.sqrt(1 - signal))

        reach = mean - 12 * variance**0.5, mean + 12 * variance**0.5
        total, first = (quad(f, *reach, epsabs=1e-13)[0] for f in (weight, lambda x: x * weight(x)))
        assert float(found) == pytest.approx(first / total, abs=1e-4)

    def test_every_axis_is_guessed_by_itself(self):
        data = centres(np.zeros((2, 2)), [[1.0, 0.0], [0.0, 2.0]], [1.0, 0.1])
        clarity = torch.zeros(2, 1)  # as much signal as noise
        noisy = torch.tensor([[1.0, 1.0], [0.0, 0.0]])
        half = np.sqrt(0.5)
        gain = half / 1.0, half * 0.1 / 0.55
        expected = [
            [1 + gain[0] * (1 - half), gain[1]],
            [0.0, 2 - gain[1] * half * 2],
        ]
        np.testing.assert_allclose(data.linear_guess(noisy, clarity), expected, rtol=1e-5)

    def test_what_was_never_seen_is_clipped(self):
        far = np.array([[1e6, -1e6]])
        data = centres(far, far, known=far)
        for part in (data.white, data.expected, data.known):
            assert part.abs().max() < 10


class TestUntrained:
    def test_it_changes_nothing(self):
        data = gaussian()
        assert not corrections(new_network(), data).any()
        left = left_by_the_linear_guess(data)
        signal = sigmoid(SCORING_LEVEL)
        np.testing.assert_allclose(left, data.white * (1 - signal), rtol=1e-4, atol=1e-6)

    def test_but_for_the_last_layer_weights_are_random_and_belong_to_seed_and_fold(self):
        first, again = weights(new_network(1, 0)), weights(new_network(1, 0))
        assert torch.equal(first, again)
        for seed, fold in ((2, 0), (1, 1), (1, 2)):
            other = weights(new_network(seed, fold))
            drawn = (first != 0) | (other != 0)
            assert (first[drawn] != other[drawn]).all()

    def test_it_is_as_large_as_its_weights_say(self):
        network = train_centre(gaussian(), np.arange(200), QUICK, 0, 0)[0]
        again = CentreNetwork.restored(network.state_dict())
        assert torch.equal(weights(again), weights(network))
        assert torch.equal(corrections(again, gaussian()), corrections(network, gaussian()))


class TestTraining:
    def test_where_data_are_not_gaussian_it_denoises_nodes_not_seen_better(self):
        config = ConditionalSettings(hidden_size=64, updates=400, batch_size=256)
        network, losses = train_centre(binary(), np.arange(1200), config, 0, 0)
        linear, learned = denoising_errors(network, binary(seed=1))
        assert 0.95 * best_for_binary() < learned < 0.95 * linear
        assert len(losses) == 400
        assert np.mean(losses[-20:]) < 0.95 * np.mean(losses[:5])

    def test_where_they_are_there_is_nothing_to_add(self):
        config = ConditionalSettings(hidden_size=32, updates=150, batch_size=256)
        network, _ = train_centre(gaussian(4000), np.arange(4000), config, 0, 0)
        linear, learned = denoising_errors(network, gaussian(2000, seed=1))
        assert learned == pytest.approx(linear, rel=0.1)

    def test_what_is_around_is_used(self):
        rng = np.random.default_rng(0)
        around = rng.normal(size=(3000, 1))
        white = np.sign(around) * np.ones((3000, 2))
        data = centres(white, known=around)
        config = ConditionalSettings(hidden_size=32, updates=200, batch_size=256)
        network, _ = train_centre(data, np.arange(2000), config, 0, 0)
        left, added = left_by_the_linear_guess(data)[2000:], corrections(network, data)[2000:]
        assert (left - added).square().mean() < 0.3 * left.square().mean()

    def test_all_weights_move(self):
        rng = np.random.default_rng(0)
        data = centres(binary().white, known=rng.normal(size=(1200, 1)))
        network, _ = train_centre(data, np.arange(1200), QUICK, 0, 0)
        for now, before in zip(network.parameters(), new_network().parameters(), strict=True):
            assert not torch.equal(now, before)

    def test_only_the_given_nodes_are_met(self):
        """What others are, even if they are no numbers, does not reach the weights."""
        data, nodes = gaussian(), np.arange(0, 200, 2)
        network, losses = train_centre(data, nodes, QUICK, 0, 0)
        for part in (data.white, data.expected, data.known):
            part[1::2] = torch.nan
        again, same = train_centre(data, nodes, QUICK, 0, 0)
        assert torch.equal(weights(network), weights(again))
        assert losses == same

    def test_the_same_seed_and_fold_give_the_same_bits_others_do_not(self):
        data, nodes = gaussian(), np.arange(200)
        trained = {key: train_centre(data, nodes, QUICK, *key) for key in ((0, 0), (0, 1), (1, 0))}
        network, losses = train_centre(data, nodes, QUICK, 0, 0)
        assert torch.equal(weights(network), weights(trained[0, 0][0]))
        assert losses == trained[0, 0][1]
        for key in ((0, 1), (1, 0)):
            assert not np.isclose(losses, trained[key][1]).any()

    def test_no_global_generator_is_touched(self):
        state = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
        train_centre(gaussian(), np.arange(200), QUICK, 0, 0)
        assert torch.equal(torch.get_rng_state(), state[0])
        assert np.array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002
        assert random.getstate() == state[2]

    def test_the_first_loss_is_that_of_the_linear_guess(self):
        data = gaussian(2000)
        places = np.arange(5000)
        found = _losses(new_network(), data, places % 2000, places, 0, 0)
        assert found.shape == (5000,)
        # signal and noise add up to one: of a unit Gaussian the best guess misses the noise's share
        assert float(found.detach().mean()) == pytest.approx(1, abs=0.05)

    def test_a_few_huge_losses_do_not_lead(self):
        losses = torch.linspace(0.5, 1.5, 500)
        losses[::100] = torch.tensor([1e3, 1e6, 1e9, 1e12, 1e15])
        losses.requires_grad_()
        mean = _robust_mean(losses)
        mean.backward()
        assert float(mean.detach()) == pytest.approx(1, abs=0.05)
        usual = torch.ones(500, dtype=torch.bool)
        usual[::100] = False
        assert not losses.grad[~usual].any()
        assert (losses.grad[usual] > 0).double().mean() > 0.95

    def test_every_update_is_told(self):
        told = []
        train_centre(gaussian(), np.arange(200), QUICK, 0, 0, told.append)
        assert told == [1, 1, 1]

    def test_with_nobody_to_learn_from_it_stays_silent(self):
        told = []
        nobody = np.empty(0, dtype=np.int64)
        network, losses = train_centre(gaussian(), nobody, QUICK, 0, 0, told.append)
        assert not corrections(network, gaussian()).any()
        assert (len(losses), sum(told)) == (3, 3)

    def test_the_largest_learning_rate_gives_finite_weights(self):
        network, losses = train_centre(
            gaussian(), np.arange(200), ConditionalSettings(8, updates=60, lr=10.0), 0, 0
        )
        assert weights(network).isfinite().all()
        assert np.isfinite(losses).all()
