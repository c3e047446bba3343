"""Distances against scipy's, with scikit-learn's covariance."""

import numpy as np
import pytest
from scipy.spatial.distance import mahalanobis
from sklearn.covariance import LedoitWolf

from egoscore.detectors.conditional import covariance
from egoscore.detectors.conditional.covariance import Distance, sample_rows, shrunk_covariance


def rows_of(size=200, width=5, seed=0):
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(size, width)) @ rng.normal(size=(width, width)) + rng.normal(
        size=width
    )
    return mixed.astype(np.float32)


@pytest.mark.parametrize(("size", "width"), [(200, 5), (8, 20), (3, 1)])
def test_mean_and_covariance_are_scikit_learns(size, width):
    rows = rows_of(size, width)
    mean, found = shrunk_covariance(rows, 0)
    oracle = LedoitWolf().fit(rows.astype(np.float64))
    np.testing.assert_allclose(mean, oracle.location_)
    np.testing.assert_allclose(found, oracle.covariance_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("width", [1, 5, 30])
def test_distances_are_scipys(width):
    rows, others = rows_of(100, width), rows_of(20, width, seed=1)
    found = Distance.fit(rows, 0).squared(others)
    oracle = LedoitWolf().fit(rows.astype(np.float64))
    inverse = np.linalg.inv(oracle.covariance_)
    expected = [mahalanobis(row, oracle.location_, inverse) ** 2 / width for row in others]
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert found.dtype == np.float32


def test_usual_rows_are_about_one_away():
    rows = rows_of(5000, 4)
    assert Distance.fit(rows, 0).squared(rows).mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3])
def test_rows_that_are_all_equal_are_not_unusual(constant):
    rows = np.full((30, 3), constant, dtype=np.float32)
    assert not Distance.fit(rows, 0).squared(rows).any()


def test_a_constant_column_changes_nothing_but_the_number_of_columns():
    rows = rows_of(3000, 4)
    padded = np.column_stack([rows, np.full(len(rows), 2, dtype=np.float32)])
    alone, beside = (Distance.fit(part, 0).squared(part) for part in (rows, padded))
    np.testing.assert_allclose(beside * 5, alone * 4, rtol=0.05)


def test_a_repeated_column_gives_finite_distances():
    rows = np.repeat(rows_of(50, 1), 6, axis=1)
    found = Distance.fit(rows, 0).squared(rows)
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0


def test_one_row_is_where_it_is():
    row = rows_of(1, 3)
    distance = Distance.fit(row, 0)
    assert distance.squared(row).tolist() == [0]
    assert np.isfinite(distance.squared(rows_of(4, 3, seed=2))).all()


@pytest.mark.parametrize(("count", "most"), [(5, 9), (9, 9), (1, 1)])
def test_few_rows_are_all_taken(count, most):
    np.testing.assert_array_equal(sample_rows(count, most, 3), np.arange(count))


def test_of_many_rows_some_are_taken_in_order_and_by_the_seed():
    first, again, other = (sample_rows(10_000, 1000, seed) for seed in (3, 3, 4))
    assert len(first) == 1000
    assert (np.diff(first) > 0).all()
    assert 0 <= first[0] < first[-1] < 10_000
    np.testing.assert_array_equal(first, again)
    assert len(np.intersect1d(first, other)) < 200
    assert first.mean() == pytest.approx(5000, abs=500)


def test_a_covariance_of_many_rows_is_that_of_the_sample(monkeypatch):
    monkeypatch.setattr(covariance, "_MOST_ROWS", 60)
    rows = rows_of(200)
    chosen = sample_rows(200, 60, 7)
    expected = LedoitWolf().fit(rows[chosen].astype(np.float64)).covariance_
    np.testing.assert_allclose(shrunk_covariance(rows, 7)[1], expected, rtol=1e-8)
