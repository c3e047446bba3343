"""From scores to decisions and probabilities, as PyGOD defines them."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.stats import binom
from torch import Tensor

from egoscore.errors import ParameterError

FENCE = 3.0


def threshold(score: Tensor, contamination: float | str, stands_out: Tensor | None = None) -> float:
    """The score that a share of about `contamination` of the nodes exceeds.

    "auto": Tukey's fence, lowered where needed so that all nodes exceed it that stand out (N,).
    """
    if contamination == "auto":
        lowest = fence(score)
        return lowest if stands_out is None else _below(score, stands_out > 0, lowest)
    return float(np.percentile(score.numpy(), 100 * (1 - float(contamination))))


def fence(score: Tensor) -> float:
    """The upper quartile plus three times the distance between the quartiles.

    Tukey ("Exploratory Data Analysis", 1977) calls a value beyond it far out. At most a quarter of
    the nodes lie there; of scores that fall off exponentially, as calibrated ones do, 0.9%.
    """
    lower, upper = np.quantile(score.numpy(), (0.25, 0.75))
    return float(upper + FENCE * (upper - lower))


def _below(score: Tensor, chosen: Tensor, cut: float) -> float:
    """`cut`, or a lower number that all `chosen` scores exceed.

    That one lies halfway to the next lower score, so that a score that is computed again and
    differs in its last digits is on the same side.
    """
    least = float(score[chosen].min()) if bool(chosen.any()) else np.inf
    if least > cut:
        return cut
    lower = score[score < least]
    just_below = float(np.nextafter(least, -np.inf))
    if len(lower) == 0:
        return just_below
    nearest = float(lower.max())
    return min(nearest + (least - nearest) / 2, just_below)


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


def confidence(score: Tensor, training: Tensor, contamination: float | str, cut: float) -> Tensor:
    """How surely the same decision would be made with another training sample, (N,).

    Perini et al., "Quantifying the confidence of anomaly detectors in their example-wise
    predictions", 2020.
    """
    count = len(training)
    share = float((training > cut).double().mean() if contamination == "auto" else contamination)
    below = np.searchsorted(np.sort(training.numpy()), score.numpy(), side="right")
    posterior = (1 + below) / (2 + count)
    flagged_surely = 1 - binom.cdf(count - int(count * share), count, posterior)
    surely = torch.from_numpy(np.asarray(flagged_surely, dtype=np.float64))
    return torch.where(score > cut, surely, 1 - surely)


def significant(p_values: Tensor, rate: float) -> Tensor:
    """Which nodes (N,) stand out, so that about a share `rate` of them is reported wrongly.

    Benjamini & Hochberg, "Controlling the false discovery rate", 1995.
    """
    ordered = torch.sort(p_values).values
    places = torch.arange(1, len(ordered) + 1, dtype=torch.float64)
    allowed = rate * places / len(ordered)
    passing = torch.nonzero(ordered <= allowed).flatten()
    if len(passing) == 0:
        return torch.zeros(len(p_values), dtype=torch.long)
    return (p_values <= ordered[passing[-1]]).long()
