"""Bayesian logistic regression on the reviewed nodes, with the unsupervised score as prior.

The log-odds that node v is abnormal are

    0.7 z(v) - 2 + b + w · x(v),    w ~ N(0, 0.6² I),  b ~ N(0, 1)

with the standardised unsupervised score z and the inputs x. Without verdicts w and b are zero, so
the ranking is that of the score. The posterior is approximated by a Gaussian at its mode (Laplace),
which Newton's method finds in the space of the n reviewed nodes: w = 0.36 Xᵀa (Rasmussen &
Williams, Gaussian Processes for Machine Learning, 2006, algorithm 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, logit

Floats = NDArray[np.float64]
_MOST_STEPS = 100
_TOLERANCE = 1e-10
_LEAST_STEP = 1e-6


@dataclass(frozen=True)
class Prior:
    """What is believed without any verdict.

    Attributes: `slope` of the standardised score; `log_odds` of a node with the mean score, by
    default 1 in 8; `weights` and `intercept`, their standard deviations.
    """

    slope: float = 0.7
    log_odds: float = -2.0
    weights: float = 0.6
    intercept: float = 1.0

    def offset(self, score: Floats) -> Floats:
        """The log-odds (n,) of nodes with these standardised scores."""
        return self.slope * score + self.log_odds

    def covariance(self, one: Floats, other: Floats) -> Floats:
        """The prior covariance (m, n) of what is learned about nodes with two sets of inputs."""
        covariance: Floats = self.weights**2 * (one @ other.T) + self.intercept**2
        return covariance


@dataclass(frozen=True)
class Posterior:
    """What was learned from verdicts.

    Attributes: the `prior`; `weights` (D,) and `intercept` at the mode; `reviewed` (n, D) the
    inputs of the reviewed nodes; `curvature` (n,) of their likelihoods; `probability` (n,) that
    each is abnormal.
    """

    prior: Prior
    weights: Floats
    intercept: float
    reviewed: Floats
    curvature: Floats
    probability: Floats

    def deviation(self, inputs: Floats) -> Floats:
        """The posterior standard deviation (m,) of the log-odds, given inputs (m, D)."""
        near = self.prior.covariance(inputs, self.reviewed)
        own = self.prior.weights**2 * np.square(inputs).sum(axis=1) + self.prior.intercept**2
        root = np.sqrt(self.curvature)
        inner = _inner(self.prior.covariance(self.reviewed, self.reviewed), root)
        known = cho_solve(cho_factor(inner), (near * root).T)
        left = np.maximum(own - np.einsum("mn,nm->m", near * root, known), 0.0)
        deviation: Floats = np.sqrt(left)
        return deviation

    def left_out(self, is_abnormal: NDArray[np.bool_]) -> Floats:
        """The probability (n,) that each reviewed node is abnormal, given the other verdicts.

        One step away from the mode (Rasmussen & Williams, section 5.4.2).
        """
        if not len(self.probability):
            return self.probability
        variance = np.square(self.deviation(self.reviewed))
        remaining = np.maximum(1.0 - variance * self.curvature, 1e-6)
        without = (is_abnormal - self.probability) * variance / remaining
        found: Floats = expit(logit(self.probability) - without)
        return found


def learn(
    inputs: Floats, score: Floats, is_abnormal: NDArray[np.bool_], prior: Prior | None = None
) -> Posterior:
    """The posterior, from the inputs (n, D) and standardised scores (n,) of reviewed nodes.

    Rows must come in an order that does not depend on when they were reviewed.
    """
    prior = prior or Prior()
    kernel, offset = prior.covariance(inputs, inputs), prior.offset(score)
    dual = _mode(kernel, offset, is_abnormal.astype(np.float64))
    probability = expit(offset + kernel @ dual)
    return Posterior(
        prior=prior,
        weights=prior.weights**2 * (inputs.T @ dual),
        intercept=prior.intercept**2 * float(dual.sum()),
        reviewed=inputs,
        curvature=probability * (1.0 - probability),
        probability=probability,
    )


def _inner(kernel: Floats, root: Floats) -> Floats:
    inner: Floats = np.eye(len(root)) + root[:, None] * kernel * root
    return inner


def _mode(kernel: Floats, offset: Floats, verdict: Floats) -> Floats:
    """The dual coefficients (n,) of the mode, by Newton's method with step halving."""

    def objective(dual: Floats) -> float:
        log_odds = offset + kernel @ dual
        likelihood = float(verdict @ log_odds - np.logaddexp(0.0, log_odds).sum())
        return likelihood - 0.5 * float(dual @ kernel @ dual)

    dual = np.zeros(len(verdict))
    value = objective(dual)
    for _ in range(_MOST_STEPS if len(verdict) else 0):
        direction = _newton(kernel, offset, verdict, dual) - dual
        step, better = 1.0, objective(dual + direction)
        while better < value and step > _LEAST_STEP:
            step /= 2.0
            better = objective(dual + step * direction)
        if better - value <= _TOLERANCE:
            # the last full step is as close as rounding allows
            return dual + direction if step == 1.0 else dual
        dual, value = dual + step * direction, better
    return dual


def _newton(kernel: Floats, offset: Floats, verdict: Floats, dual: Floats) -> Floats:
    """The dual coefficients (n,) of the next full step."""
    own = kernel @ dual
    probability = expit(offset + own)
    curvature = probability * (1.0 - probability)
    root = np.sqrt(curvature)
    target = curvature * own + verdict - probability
    factor = cho_factor(_inner(kernel, root))
    solved: Floats = target - root * cho_solve(factor, root * (kernel @ target))
    return solved
