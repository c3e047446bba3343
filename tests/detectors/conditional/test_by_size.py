"""What is usual among nodes with a similar number of neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from egoscore.detectors.conditional.by_size import BySize

RNG = np.random.default_rng(0)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
few_values = st.sampled_from([0.0, 1.0, 1.5])


def random_sizes(count=3000):
    return np.random.default_rng(1).integers(1, 6, count) ** 2


def fit_and_apply(values, sizes):
    return BySize.fit(values, sizes).apply(values, sizes)


def test_what_changes_along_a_line_is_taken_off():
    sizes = random_sizes()
    values = sizes**0.5 * RNG.normal(size=3000) + 3 * np.log(sizes)
    found = fit_and_apply(values, sizes)
    for size in np.unique(sizes):
        middle, above = np.quantile(found[sizes == size], [0.5, 0.84])
        assert middle == pytest.approx(0, abs=0.15)
        assert above == pytest.approx(1, abs=0.2)


def test_two_groups_of_ten_full_of_outliers_do_not_become_what_is_usual():
    sizes = np.repeat(np.arange(1, 11) ** 2, 300)
    values = RNG.normal(size=3000)
    strange = sizes >= 81  # a fifth of all, and all there is of these sizes
    values[strange] += 20.0
    found = fit_and_apply(values, sizes)
    assert found[strange].min() > found[~strange].max()


def test_between_groups_what_is_usual_changes_along_a_line():
    by_size = BySize(np.log([1.0, 4.0]), np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    found = by_size.apply(np.full(5, 5.0), np.array([1, 2, 4, 100, 1]))
    np.testing.assert_allclose(found, [5, (5 - 1) / 2, 1, 1, 5])


def test_groups_hold_about_equally_many_nodes():
    sizes = np.arange(1, 1001)
    by_size = BySize.fit(np.log(sizes), sizes)
    expected = [np.log(part).mean() for part in np.array_split(sizes, len(by_size.size))]
    np.testing.assert_allclose(by_size.size, expected, rtol=0.01)
    assert len(by_size.size) > 2


def test_where_all_are_of_a_size_it_is_a_shift_and_a_scale():
    values = RNG.exponential(size=500)
    found = fit_and_apply(values, np.full(500, 7))
    np.testing.assert_array_equal(rankdata(found), rankdata(values))
    slope, shift = np.polyfit(values, found, 1)
    np.testing.assert_allclose(found, slope * values + shift, atol=1e-9)


@given(st.lists(st.tuples(few_values | numbers, st.integers(1, 50)), min_size=1, max_size=60))
@settings(deadline=None, max_examples=150)
def test_any_values_and_sizes_give_finite_numbers(pairs):
    values, sizes = np.array(pairs).T
    by_size = BySize.fit(values, sizes.astype(np.int64))
    assert (np.diff(by_size.size) > 0).all()
    assert (by_size.spread > 0).all()
    found = by_size.apply(values, sizes.astype(np.int64))
    assert np.isfinite(found).all()
    for size in np.unique(sizes):  # among nodes of a size nothing changes places
        mine = sizes == size
        order = np.argsort(values[mine])
        assert (np.diff(found[mine][order]) >= 0).all()


def test_values_that_are_all_equal_are_usual():
    assert not fit_and_apply(np.full(100, 3.3), random_sizes(100)).any()
