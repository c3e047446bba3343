"""How good a ranking is if outliers are known. For evaluation only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Evaluation:
    """ROC-AUC, average precision and recall among the top k, k the number of known outliers.

    Only the `num_known` nodes whose label is known count.
    """

    roc_auc: float
    average_precision: float
    recall_at_k: float
    num_outliers: int
    num_known: int


def evaluate(labels: ArrayLike, score: ArrayLike) -> Evaluation | None:
    """Compare a ranking with known labels (see `known_only`); None if all are of one kind."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    known, values = known_only(np.asarray(labels), np.asarray(score))
    count = int(known.sum())
    if count in (0, len(known)):
        return None
    return Evaluation(
        roc_auc=float(roc_auc_score(known, values)),
        average_precision=float(average_precision_score(known, values)),
        recall_at_k=recall_at_k(known, values, count),
        num_outliers=count,
        num_known=len(known),
    )


def known_only(labels: NDArray[Any], score: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[Any]]:
    """Labels and scores of the nodes whose label is known: 0 or 1, not -1."""
    is_known = labels >= 0
    return labels[is_known].astype(np.int8), score[is_known]


def recall_at_k(labels: NDArray[Any], score: NDArray[Any], k: int) -> float:
    """Share of the known outliers among the k highest scores; ties go to the earlier node."""
    top = np.argsort(-score, kind="stable")[:k]
    return float(labels[top].sum() / labels.sum())


def auc_interval(
    labels: NDArray[Any], score: NDArray[Any], num_resamples: int = 200
) -> tuple[float, float]:
    """A 95% interval of the ROC-AUC, by resampling outliers and other nodes separately.

    The bootstrap (Efron, 1979): samples are as large as the groups they are drawn from.
    """
    rng = np.random.default_rng(0)
    _, place = np.unique(score, return_inverse=True)
    outliers, others = place[labels == 1], place[labels == 0]
    count = int(place.max()) + 1
    found = np.empty(num_resamples)
    for number in range(num_resamples):
        drawn = np.bincount(rng.choice(others, len(others)), minlength=count)
        below = np.cumsum(drawn) - drawn / 2.0  # a tie counts half
        found[number] = below[rng.choice(outliers, len(outliers))].mean() / len(others)
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)
