"""From scores to decisions and probabilities, as PyGOD defines them."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from egoscore.errors import ParameterError


def threshold(score: Tensor, contamination: float) -> float:
    """The score that a share of about `contamination` of the nodes exceeds."""
    return float(np.percentile(score.numpy(), 100 * (1 - contamination)))


def probability(score: Tensor, training: Tensor, method: str) -> Tensor:
    """Scores (N,) as numbers in [0, 1] by comparison with the training scores.

    "linear": min-max scaling. "unify": Gaussian error function of the standardised score,
    negative values cut off (Kriegel et al., 2011).
    """
    if method == "linear":
        spread = training.max() - training.min()
        return ((score - training.min()) / (spread if spread > 0 else 1.0)).clamp(0, 1)
    if method == "unify":
        deviation = training.std() if len(training) > 1 else torch.zeros(())
        if not deviation > 0:
            return torch.zeros_like(score)
        return torch.erf((score - training.mean()) / (deviation * math.sqrt(2))).clamp(0, 1)
    raise ParameterError("prob_method", "one of 'linear', 'unify'", method, of="predict")


def confidence(score: Tensor, training: Tensor, contamination: float, cut: float) -> Tensor:
    """How surely the same decision would be made with another training sample, (N,).

    Perini et al., "Quantifying the confidence of anomaly detectors in their example-wise
    predictions", 2020.
    """
    count = len(training)
    below = np.searchsorted(np.sort(training.numpy()), score.numpy(), side="right")
    posterior = (1 + below) / (2 + count)
    flagged_surely = 1 - binom.cdf(count - int(count * contamination), count, posterior)
    surely = torch.from_numpy(np.asarray(flagged_surely, dtype=np.float64))
    return torch.where(score > cut, surely, 1 - surely)


def significant(p_values: Tensor, rate: float) -> Tensor:
    """Which nodes (N,) to report so that about a share `rate` of them is reported wrongly.

    Benjamini & Hochberg, "Controlling the false discovery rate", 1995.
    """
    ordered = torch.sort(p_values).values
    places = torch.arange(1, len(ordered) + 1, dtype=torch.float64)
    allowed = rate * places / len(ordered)
    passing = torch.nonzero(ordered <= allowed).flatten()
    if len(passing) == 0:
        return torch.zeros(len(p_values), dtype=torch.long)
    return (p_values <= ordered[passing[-1]]).long()
