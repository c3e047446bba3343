"""The model: its mode and its uncertainty, against other software and by what it must do."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from egoscore.review.learning import Prior, learn


def problem(size=40, width=7, seed=0):
    """Inputs, standardised scores and verdicts."""
    draw = np.random.default_rng(seed)
    inputs, score = draw.normal(size=(size, width)), draw.normal(size=size)
    verdicts = inputs[:, 0] + score + draw.normal(size=size) > 0.5
    return inputs, score, verdicts


def log_odds(found, inputs, score):
    return found.prior.offset(score) + found.intercept + inputs @ found.weights


@pytest.mark.parametrize(("size", "width"), [(40, 7), (12, 90)])
def test_the_mode_is_that_of_a_general_optimiser(size, width):
    inputs, score, verdicts = problem(size, width)
    prior = Prior()
    found = learn(inputs, score, verdicts)

    def loss(w):
        odds = prior.offset(score) + w[0] + inputs @ w[1:]
        fit = np.logaddexp(0.0, odds).sum() - odds[verdicts].sum()
        return fit + 0.5 * (w[0] / prior.intercept) ** 2 + 0.5 * (w[1:] ** 2).sum() / 0.36

    best = minimize(loss, np.zeros(width + 1), method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose([found.intercept, *found.weights], best, atol=1e-5)


def test_without_an_offset_it_is_the_logistic_regression_of_scikit_learn():
    inputs, score, verdicts = problem()
    prior = Prior(slope=0.0, log_odds=0.0, weights=0.5, intercept=1e-6)
    known = LogisticRegression(C=0.25, fit_intercept=False, tol=1e-10).fit(inputs, verdicts)
    found = learn(inputs, score, verdicts, prior)
    np.testing.assert_allclose(found.weights, known.coef_[0], atol=1e-5)


def test_the_deviation_is_that_of_the_posterior_in_the_space_of_weights():
    inputs, score, verdicts = problem()
    found = learn(inputs, score, verdicts)
    design = np.column_stack([np.ones(len(inputs)), inputs])
    precision = np.diag([1.0, *[1 / 0.36] * inputs.shape[1]])
    precision += design.T @ (found.curvature[:, None] * design)
    new = np.random.default_rng(1).normal(size=(5, inputs.shape[1]))
    row = np.column_stack([np.ones(5), new])
    expected = np.sqrt(np.einsum("ni,ij,nj->n", row, np.linalg.inv(precision), row))
    np.testing.assert_allclose(found.deviation(new), expected, rtol=1e-8)


def test_a_verdict_that_is_left_out_is_predicted_by_the_others():
    inputs, score, verdicts = problem(60, 3)
    found = learn(inputs, score, verdicts).left_out(verdicts)
    for row in range(10):
        others = np.arange(60) != row
        without = learn(inputs[others], score[others], verdicts[others])
        exact = expit(log_odds(without, inputs[[row]], score[[row]]))[0]
        assert abs(found[row] - exact) < 0.03


def test_no_verdict_teaches_nothing():
    found = learn(np.zeros((0, 3)), np.zeros(0), np.zeros(0, dtype=bool))
    assert not found.weights.any()
    assert found.intercept == 0.0


@pytest.mark.parametrize("verdict", [True, False])
def test_verdicts_of_one_kind_move_like_nodes_in_their_direction(verdict):
    inputs = np.tile([1.0, 0.0], (5, 1))
    found = learn(inputs, np.zeros(5), np.full(5, verdict))
    assert (found.weights[0] > 0) == verdict
    assert found.weights[1] == 0.0


def test_a_verdict_raises_or_lowers_its_own_probability():
    inputs, score, verdicts = problem()
    for row in range(10):
        changed = verdicts.copy()
        changed[row] = ~changed[row]
        one, other = (learn(inputs, score, v).probability[row] for v in (verdicts, changed))
        assert (one > other) == verdicts[row]


def test_one_verdict_changes_little():
    inputs, score, _ = problem()
    found = learn(inputs[:1] / np.linalg.norm(inputs[0]), score[:1], np.array([True]))
    assert np.linalg.norm(found.weights) < 0.36  # what a probability of 0 would add at most


def test_contradictory_verdicts_on_equal_nodes_cancel():
    inputs = np.ones((2, 3))
    prior = Prior(slope=0.0, log_odds=0.0)
    found = learn(inputs, np.zeros(2), np.array([True, False]), prior)
    np.testing.assert_allclose(found.weights, 0.0, atol=1e-9)


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_separable_data_and_far_scores_converge(size):
    inputs = size * np.repeat([[1.0], [-1.0]], 100, axis=0)
    score = np.linspace(-30.0, 30.0, 200)
    verdicts = np.arange(200) < 100
    found = learn(inputs, score, verdicts)
    assert np.isfinite(found.weights).all()
    odds = log_odds(found, inputs, score)
    # where the gradient of the posterior is zero
    gradient = inputs.T @ (verdicts - expit(odds)) - found.weights / 0.36
    np.testing.assert_allclose(gradient / size, 0.0, atol=1e-5)
