"""The linear part: ridge regression, and nodes left out by closed form or truly."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from egoscore.detectors.conditional import ridge as context
from egoscore.detectors.conditional.ridge import Context


def data(size=80, num_known=6, width=3, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(size, num_known)) * np.geomspace(0.1, 30, num_known) + 4
    slope = rng.normal(size=(num_known, width))
    usual = (known - known.mean(axis=0)) / known.std(axis=0)
    white = usual @ slope + noise * rng.normal(size=(size, width)) + 1
    return known.astype(np.float32), (white / white.std(axis=0)).astype(np.float32)


def usual_of(known):
    """Columns as the fit sees them: mean and deviation are those of all nodes, also left out."""
    known = known.astype(np.float64)
    return (known - known.mean(axis=0)) / known.std(axis=0)


def truly_left_out(known, white, ridge):
    """What a regression without the node misses, node by node."""
    usual, size = usual_of(known), len(known)
    rest = np.empty(white.shape)
    for node in range(size):
        others = np.arange(size) != node
        regression = Ridge(alpha=ridge * size, solver="cholesky")
        regression.fit(usual[others], white[others].astype(np.float64))
        rest[node] = white[node] - regression.predict(usual[[node]])[0]
    return rest


@pytest.mark.parametrize("noise", [0.1, 3.0])
def test_left_out_is_what_leaving_out_gives(noise):
    known, white = data(noise=noise)
    fitted = Context.fit(known, white, 0)
    expected = truly_left_out(known, white, fitted.ridge)
    np.testing.assert_allclose(fitted.left_out(known, white), expected, rtol=1e-3, atol=1e-4)


def test_left_out_holds_also_for_an_outlier_with_much_weight():
    known, white = data()
    known[5] += 3 * known.std(axis=0)
    white[5] -= 5
    fitted = Context.fit(known, white, 0)
    expected = truly_left_out(known, white, fitted.ridge)
    np.testing.assert_allclose(fitted.left_out(known, white)[5], expected[5], rtol=1e-3)
    assert np.linalg.norm(expected[5]) > np.linalg.norm(white[5] - fitted.predict(known)[5])


def test_predictions_are_scikit_learns_also_of_new_rows():
    known, white = data()
    fitted = Context.fit(known, white, 0)
    regression = Ridge(alpha=fitted.ridge * len(known)).fit(usual_of(known), white)
    np.testing.assert_allclose(
        fitted.predict(known), regression.predict(usual_of(known)), rtol=1e-3, atol=1e-4
    )
    new, _ = data(20, seed=7)
    usual = (new - known.mean(axis=0)) / known.std(axis=0)
    np.testing.assert_allclose(fitted.standardised(new), usual, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(fitted.predict(new), regression.predict(usual), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("num_outliers", [0, 3])
def test_the_ridge_is_the_one_that_predicts_usual_nodes_best(num_outliers):
    known, white = data(60, 12, noise=0.3)
    white[:num_outliers] *= 6
    fitted = Context.fit(known, white, 0)
    squares = {
        ridge: np.square(truly_left_out(known, white, ridge)).sum(axis=1)
        for ridge in context._RIDGES
    }
    best = min(squares, key=lambda ridge: np.median(squares[ridge]))
    step = context._RIDGES[1] / context._RIDGES[0]  # between two of them a parabola decides
    assert best / step < fitted.ridge < best * step
    by_mean = min(squares, key=lambda ridge: np.mean(squares[ridge]))
    assert (by_mean == best) == (num_outliers == 0)


def test_more_noise_asks_for_more_ridge():
    clear, noisy = (Context.fit(*data(60, 40, noise=noise), 0).ridge for noise in (0.01, 30.0))
    assert clear < noisy


def test_the_variance_is_of_what_is_left_but_no_more_than_all_and_no_less_than_a_little():
    known, white = data(noise=1.0)
    fitted = Context.fit(known, white, 0)
    left = truly_left_out(known, white, fitted.ridge)
    np.testing.assert_allclose(fitted.variance, np.square(left).mean(axis=0), rtol=1e-3)
    hopeless = Context.fit(known, 10 * np.random.default_rng(1).normal(size=white.shape), 0)
    assert hopeless.variance.tolist() == [1, 1, 1]
    assert 0 < Context.fit(*data(noise=0.0), 0).variance.max() < 0.1


def test_what_says_nothing_is_not_listened_to():
    known, white = data()
    with_constant = np.column_stack([known, np.full(len(known), 3, dtype=np.float32)])
    plain, padded = Context.fit(known, white, 0), Context.fit(with_constant, white, 0)
    assert not padded.standardised(with_constant)[:, -1].any()
    with_constant[:, -1] = 99
    np.testing.assert_allclose(
        padded.predict(with_constant), plain.predict(known), rtol=1e-4, atol=1e-5
    )


def test_with_nothing_known_the_mean_is_expected():
    white = data()[1]
    known = np.zeros((len(white), 4), dtype=np.float32)
    fitted = Context.fit(known, white, 0)
    np.testing.assert_allclose(
        fitted.predict(known), np.tile(white.mean(axis=0), (80, 1)), rtol=1e-4, atol=1e-5
    )
    others = (white.sum(axis=0) - white) / (len(white) - 1)
    np.testing.assert_allclose(fitted.left_out(known, white), white - others, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_smallest_networks_give_finite_numbers(size):
    known, white = np.ones((size, 8)), np.arange(2 * size).reshape(size, 2)
    fitted = Context.fit(known.astype(np.float32), white.astype(np.float32), 0)
    assert np.isfinite(fitted.left_out(known, white)).all()


def test_of_very_many_nodes_some_choose_the_ridge(monkeypatch):
    known, white = data(300)
    monkeypatch.setattr(context, "_ROWS_TO_CHOOSE", 100)
    some = Context.fit(known, white, 0)
    assert np.isfinite(some.variance).all()
    expected = truly_left_out(known, white, some.ridge)
    np.testing.assert_allclose(some.left_out(known, white), expected, rtol=1e-3, atol=1e-3)
