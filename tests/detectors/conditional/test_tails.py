"""Tails of distances, where the distribution is known."""

import numpy as np
import pytest

from egoscore.detectors.conditional.tails import Tail

SIZE = 20_000
RANKS = (np.arange(SIZE) + 0.5) / SIZE


@pytest.mark.parametrize("exponent", [1.0, 2.0, 5.0])
def test_of_a_power_law_the_surprise_is_that_of_its_distribution(exponent):
    distances = (1.0 - RANKS) ** (-1.0 / exponent)  # evenly spread: no luck involved
    tail = Tail.fit(distances)
    far = 200.0 ** (1.0 / exponent)  # half a percent of the nodes are beyond
    assert tail.of(np.array([far]))[0] == pytest.approx(np.log(200), abs=0.05)
    beyond = (10.0 * SIZE) ** (1.0 / exponent)
    assert tail.of(np.array([beyond]))[0] == pytest.approx(np.log(10 * SIZE), rel=0.15)


def test_most_nodes_have_none():
    distances = np.linspace(-1.0, 1.0, 1000)
    found = Tail.fit(distances).of(distances)
    assert (found[:900] == 0).all()
    assert (np.diff(found) >= 0).all()
    assert found[-1] > 5


def test_a_value_far_beyond_the_others_is_rarer_than_one_in_all_nodes():
    usual = np.abs(np.random.default_rng(0).normal(size=2000))
    tail = Tail.fit(np.r_[usual, 3.0 * usual.max()])
    assert tail.of(np.array([3.0 * usual.max()]))[0] > np.log(2001) + 2
    assert tail.of(np.array([usual.max()]))[0] < np.log(2001) + 2


def test_no_surprise_claims_more_than_nodes_and_tail_support():
    usual = np.abs(np.random.default_rng(0).normal(size=2000))
    tail = Tail.fit(usual)
    found = tail.of(np.array([1e3, 1e30]))
    assert tail.most == pytest.approx(
        np.log(2000) + np.log1p(max(one.number for one in tail.slopes))
    )
    assert found[0] < found[1] < tail.most + 10


def test_what_many_have_is_not_impossible():
    usual = np.abs(np.random.default_rng(0).normal(size=2000))
    alone = Tail.fit(np.r_[usual, 50.0]).of(np.array([50.0]))[0]
    many = Tail.fit(np.r_[usual, np.full(60, 50.0)]).of(np.array([50.0]))[0]
    assert many < alone - 3
    assert many > -np.log(60 / 2060) - 1e-3


def test_members_of_one_case_are_counted_as_nodes_but_damped_as_cases():
    sizes = np.r_[np.full(8, 7.0), np.tile([1.0, 2.0], 150), np.zeros(2000)]
    together = Tail.fit(sizes, members=sizes + 1.0).of(np.array([7.0]))[0]
    apart = Tail.fit(sizes).of(np.array([7.0]))[0]
    assert together > apart
    assert apart >= -np.log(8 / len(sizes)) - 1e-3


@pytest.mark.parametrize("size", [0, 1, 5, 9])
def test_with_few_distances_they_are_counted(size):
    distances = np.r_[np.arange(1.0, size + 1), np.zeros(100)]
    found = Tail.fit(distances).of(distances)
    share = np.arange(size, 0, -1) / len(distances)
    np.testing.assert_allclose(found[:size], -np.log(share), rtol=1e-5)
    assert not found[size:].any()


def test_what_differs_in_the_seventh_digit_is_as_far():
    distances = np.r_[np.linspace(0.0, 1.0, 500), 5.0 * (1.0 + 1e-8 * np.arange(4))]
    assert np.ptp(Tail.fit(distances).of(distances)[-4:]) == pytest.approx(0.0, abs=1e-4)
