"""Whitened features: uncorrelated, of unit size, and as many as there are nodes for."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from egoscore.detectors.conditional.whitening import Whitening


def features_of(size, width, rank=None, seed=0):
    """Correlated features with zero mean and unit deviation, as the recipe passes them."""
    rng = np.random.default_rng(seed)
    rank = width if rank is None else rank
    x = rng.normal(size=(size, rank)) @ rng.normal(size=(rank, width))
    return ((x - x.mean(axis=0)) / x.std(axis=0)).astype(np.float32)


def wide(size=80, rank=5, width=2100):
    """A few strong directions and much noise, too wide for a covariance matrix."""
    rng = np.random.default_rng(1)
    strong = rng.normal(size=(size, rank)) * 5 @ rng.normal(size=(rank, width))
    return (strong + rng.normal(size=(size, width))).astype(np.float32)


def test_training_rows_get_unit_covariance():
    x = features_of(5000, 6)
    white = Whitening.fit(x, 0).apply(x)
    assert white.shape == (5000, 6)
    assert white.dtype == np.float32
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(white.T), np.eye(6), atol=0.05)


def test_distances_between_rows_are_those_of_mahalanobis():
    x = features_of(2000, 4)
    white = Whitening.fit(x, 0).apply(x)
    inverse = np.linalg.inv(np.cov(x.T))
    gaps = (x[:50] - x[50:100]).astype(np.float64)
    expected = np.einsum("nf,fg,ng->n", gaps, inverse, gaps)
    np.testing.assert_allclose(
        np.square(white[:50] - white[50:100]).sum(axis=1), expected, rtol=0.1
    )


@pytest.mark.parametrize(
    ("size", "width", "axes"),
    [(800, 3, 3), (800, 64, 64), (800, 90, 64), (80, 30, 10), (80, 10, 10), (9, 5, 1), (1, 5, 1)],
)
def test_one_axis_per_eight_nodes_and_64_at_most(size, width, axes):
    whitening = Whitening.fit(np.random.default_rng(0).normal(size=(size, width)), 0)
    assert whitening.axes.shape == (width, axes)


@pytest.mark.parametrize("make", [lambda: features_of(160, 40), wide], ids=["exact", "sketched"])
def test_the_axes_are_principal_ones(make):
    x = make()
    whitening = Whitening.fit(x, 0)
    count = 5
    found = np.linalg.qr(whitening.axes[:, :count])[0]
    expected = PCA(count, svd_solver="full").fit(x.astype(np.float64)).components_
    np.testing.assert_allclose(np.linalg.svd(expected @ found)[1], 1, atol=1e-3)


def test_too_many_features_for_a_covariance_matrix_are_whitened_too():
    x = wide()
    white = Whitening.fit(x, 0).apply(x)
    assert white.shape == (80, 10 + 1)
    np.testing.assert_allclose(np.cov(white[:, :10].T), np.eye(10), atol=1e-3)


def test_the_same_seed_gives_the_same_axes_also_of_many_features():
    x = wide()
    first, again = (Whitening.fit(x, 3) for _ in range(2))
    np.testing.assert_array_equal(first.axes, again.axes)
    assert Whitening.fit(x, 2**64 - 1).apply(x).shape == (80, 11)


def test_what_the_axes_do_not_see_is_one_number_more():
    x = features_of(160, 40)
    whitening = Whitening.fit(x, 0)
    white = whitening.apply(x)
    assert white.shape == (160, 20 + 1)
    basis = np.linalg.qr(whitening.axes)[0]
    centred = x - whitening.mean
    rest = centred - centred @ basis @ basis.T
    size = np.log1p(np.square(rest).sum(axis=1))
    np.testing.assert_allclose(
        white[:, -1], (size - size.mean()) / size.std(), rtol=1e-3, atol=1e-3
    )


def test_a_row_off_the_axes_stands_out_in_that_number():
    x = features_of(400, 90, rank=20)
    x += 0.1 * np.random.default_rng(1).normal(size=x.shape).astype(np.float32)
    whitening = Whitening.fit(x, 0)
    strange = np.random.default_rng(2).normal(size=(1, 90)).astype(np.float32) * 3
    assert whitening.apply(strange)[0, -1] > whitening.apply(x)[:, -1].max()


@pytest.mark.parametrize(("size", "width", "rank"), [(1000, 150, 10), (60, 2100, 3)])
def test_where_nothing_is_left_over_rounding_is_no_feature(size, width, rank):
    whitening = Whitening.fit(features_of(size, width, rank), 0)
    assert whitening.rest is None
    white = whitening.apply(features_of(size, width, rank))
    np.testing.assert_allclose(white.std(axis=0)[:rank], 1, atol=0.02)
    assert white.std(axis=0)[rank:].max(initial=0) < 0.01


@pytest.mark.parametrize("width", [1, 3, 100, 2100])
def test_constant_features_are_one_number_that_is_zero(width):
    x = np.full((30, width), 0.1, dtype=np.float32)
    white = Whitening.fit(x, 0).apply(x)
    assert white.shape == (30, 1)
    assert not white.any()


def test_a_constant_feature_beside_others_changes_little():
    x = features_of(3000, 4)
    padded = np.column_stack([x, np.zeros(3000, dtype=np.float32)])
    alone, beside = (Whitening.fit(part, 0).apply(part) for part in (x, padded))
    sizes = [np.square(white).sum(axis=1) for white in (alone, beside)]
    np.testing.assert_allclose(sizes[1], sizes[0], rtol=0.02)


def test_others_are_whitened_as_those_it_was_fitted_on():
    x = features_of(500, 80)
    whitening = Whitening.fit(x, 0)
    np.testing.assert_allclose(whitening.apply(x[:7]), whitening.apply(x)[:7], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("size", "width"), [(800, 5), (800, 64), (80, 10), (9, 1)])
def test_back_and_forth_nothing_is_lost_if_no_axis_was_dropped(size, width):
    x = features_of(size, width)
    whitening = Whitening.fit(x, 0)
    assert whitening.axes.shape[1] == width
    np.testing.assert_allclose(whitening.revert(whitening.apply(x)), x, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("make", [lambda: features_of(160, 40), wide], ids=["exact", "sketched"])
def test_back_and_forth_what_the_axes_do_not_see_is_at_its_mean(make):
    x = make()
    whitening = Whitening.fit(x, 0)
    assert whitening.rest is not None
    basis = np.linalg.qr(whitening.axes)[0]
    expected = (x - whitening.mean) @ basis @ basis.T + whitening.mean
    found = whitening.revert(whitening.apply(x))
    assert found.shape == x.shape
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("width", [1, 3, 2100])
def test_constant_features_come_back_as_they_were(width):
    x = np.full((30, width), 0.1, dtype=np.float32)
    whitening = Whitening.fit(x, 0)
    np.testing.assert_allclose(whitening.revert(whitening.apply(x)), x, rtol=1e-5)
