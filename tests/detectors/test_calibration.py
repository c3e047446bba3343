"""Calibrations, where the distribution is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import expon, norm, rankdata

from egoscore.detectors.calibration import Calibration

RNG = np.random.default_rng(0)
EXPONENTIAL = RNG.exponential(size=20_000)
numbers = st.integers(-(10**5), 10**5).map(float)
few_values = st.sampled_from([0.0, 1.0, 1.5])


def surprise(values, of=None):
    return Calibration.fit(values).surprise(values if of is None else np.asarray(of))


@pytest.mark.parametrize("size", [100, 4096, 20_000])
def test_of_exponential_values_surprises_are_the_values(size):
    values = expon.ppf((np.arange(size) + 0.5) / size)  # evenly spread: no luck involved
    found = surprise(values)
    assert found.mean() == pytest.approx(1, abs=0.05)
    np.testing.assert_allclose(found, -expon.logsf(values), rtol=0.05, atol=0.02)


def test_of_other_values_they_are_those_of_their_distribution_up_to_the_tail():
    values = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = surprise(values)
    usual = values < 0.5
    np.testing.assert_allclose(found[usual], -norm.logsf(values[usual]), atol=0.005)
    assert found.mean() == pytest.approx(1, abs=0.05)


def test_a_tail_of_next_to_nothing_is_no_warning():
    found = surprise([0.0, 2.8e-307, -30.0], of=[-30.0, 0.0, 1e6])
    assert np.isfinite(found).all()


@given(st.lists(numbers, min_size=1, max_size=60) | st.lists(few_values, min_size=1, max_size=60))
@settings(deadline=None, max_examples=150)
def test_in_the_lower_half_they_are_counted_and_equal_values_share_a_rank(values):
    values = np.array(values)
    share = 1 - (rankdata(values) - 0.5) / len(values)
    lower = values <= np.median(values)
    known = lower & (share >= 0.5)
    np.testing.assert_allclose(surprise(values)[known], -np.log(share[known]), atol=1e-9)


@given(
    st.lists(numbers, min_size=1, max_size=60) | st.lists(few_values, min_size=1, max_size=60),
    st.lists(numbers, min_size=2, max_size=30),
)
@settings(deadline=None, max_examples=150)
def test_more_is_never_less_surprising(values, others):
    asked = np.sort(np.concatenate([values, others]))
    found = surprise(np.array(values), asked)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("size", [1, 2, 5000])
def test_where_all_are_equal_nobody_is_surprising(size):
    values = np.full(size, 0.3)
    np.testing.assert_allclose(surprise(values), np.log(2))
    below, above = surprise(values, [-5.0, 7.0])
    assert below == 0
    assert np.isfinite(above)
    assert above > np.log(2)


def test_beyond_what_the_tail_supports_surprises_rise_by_their_logarithm():
    calibration = Calibration.fit(EXPONENTIAL)
    assert calibration.most == pytest.approx(np.log(20_000 * 4_001))
    asked = calibration.start + calibration.decay * (calibration.most - np.log(5))
    asked = asked + calibration.decay * np.array([-1, 0, 1, 50])
    found = calibration.surprise(asked)
    expected = calibration.most + np.array([-1, 0, np.log(2), np.log(51)])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_p_values_claim_no_more_than_nodes_and_tail_support():
    calibration = Calibration.fit(EXPONENTIAL)
    found = calibration.p_value(calibration.surprise(np.array([1.0, 5.0, 1e9])))
    np.testing.assert_allclose(found[:2], np.exp([-1.0, -5.0]), rtol=0.05)
    assert found[2] == pytest.approx(1 / (20_000 * 4_001))


def test_one_deviating_value_among_91_is_not_rarer_than_one_in_91():
    values = np.r_[np.full(90, 0.3), 7.0]
    calibration = Calibration.fit(values)
    assert calibration.p_value(calibration.surprise(values)).min() >= 1 / (91 * 2) - 1e-12


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_what_differs_in_the_seventh_digit_is_equal(size):
    values = size * (1.0 + 1e-8 * np.arange(100))
    noisy = np.r_[values, 2.0 * size]
    np.testing.assert_array_equal(surprise(values), np.log(2))
    found = surprise(noisy)
    assert np.ptp(found[:-1]) == 0
    assert found[-1] > found[0] + 1


def test_rarer_than_one_in_all_nodes_counts_by_its_logarithm_only():
    calibration = Calibration.fit(EXPONENTIAL)
    most = np.log(len(EXPONENTIAL))
    asked = calibration.start + calibration.decay * (most - np.log(5) + np.array([-1, 0, 1, 50]))
    found = calibration.bounded_surprise(asked)
    np.testing.assert_allclose(found, most + np.array([-1, 0, np.log(2), np.log(51)]), atol=1e-6)


def test_below_the_smallest_value_there_is_nothing_surprising():
    assert surprise(EXPONENTIAL, [-1.0, -100.0]).tolist() == [0, 0]


def test_there_is_no_jump_where_the_tail_begins():
    asked = np.linspace(0.5, 4, 20_001)
    assert np.diff(surprise(EXPONENTIAL, asked)).max() < 0.05


def test_a_few_outliers_change_the_others_little():
    spoilt = np.concatenate([EXPONENTIAL, np.full(100, 1e6)])
    clean, dirty = surprise(EXPONENTIAL), surprise(spoilt)[:-100]
    np.testing.assert_allclose(dirty, clean, rtol=0.1, atol=0.05)
    assert surprise(spoilt)[-100:].min() > Calibration.fit(spoilt).most


def test_more_values_than_the_grid_holds_are_as_good_as_counted():
    calibration = Calibration.fit(EXPONENTIAL)
    assert len(calibration.grid) < len(EXPONENTIAL)
    assert (np.diff(calibration.grid) >= 0).all()
    share = 1 - (rankdata(EXPONENTIAL) - 0.5) / len(EXPONENTIAL)
    usual = share > 0.5
    found = calibration.surprise(EXPONENTIAL)
    np.testing.assert_allclose(found[usual], -np.log(share[usual]), atol=0.002)


@pytest.mark.parametrize("order", [slice(None, None, -1), RNG.permutation(300)])
def test_the_order_of_values_does_not_matter(order):
    values = EXPONENTIAL[:300]
    np.testing.assert_array_equal(surprise(values[order]), surprise(values)[order])


def test_neither_shift_nor_scale_matters():
    values = EXPONENTIAL[:3000]
    np.testing.assert_allclose(surprise(7 * values - 3), surprise(values), atol=1e-3)


def test_float32_will_do():
    values = EXPONENTIAL[:1000].astype(np.float32)
    found = surprise(values)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, surprise(values.astype(np.float64)))


@pytest.mark.parametrize("above", [1, 10, 150])
def test_beyond_a_value_that_most_have_rarity_is_counted(above):
    values = np.concatenate([np.zeros(1000 - above), np.arange(1, above + 1)])
    found = Calibration.fit(values).surprise(values)
    assert (found[-above:] >= -np.log(above / 1000)).all()
    middle = found[1000 - (above + 1) // 2]
    assert middle == pytest.approx(-np.log(above / 2000), abs=0.2 if above > 1 else 1e-9)
