"""How far a review is: what was found, how precise the ranking is, and what may remain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.review.verdicts import ABNORMAL, KINDS, NORMAL
from egoscore.serve.desk import Standing

_DEPTHS = (10, 20, 50, 100, 200, 500, 1000)
_FEWEST, _NODES = 10, 100


def statistics(standing: Standing, rank: NDArray[np.int64], num_flagged: int) -> dict[str, Any]:
    """Counts of verdicts, precision among the highest nodes, and an estimate of what remains.

    `rank` (N,) is without verdicts.
    """
    kinds = np.array([one.kind for one in standing.verdicts.values()], dtype="U8")
    rows = np.array([*standing.verdicts], dtype=np.int64)
    updated = standing.columns["updated_rank"]
    return {
        "counts": {kind: int((kinds == kind).sum()) for kind in KINDS},
        "in_order": _in_order(kinds),
        "unsupervised": _precisions(rank[rows], kinds),
        "updated": _precisions(updated[rows], kinds),
        "remaining": _remaining(standing, rows, kinds, num_flagged),
    }


def _precisions(ranks: NDArray[np.int64], kinds: NDArray[Any]) -> list[dict[str, Any]]:
    """Precision among the first k places, of the nodes there that are known to be one or other."""
    known = np.isin(kinds, (ABNORMAL, NORMAL))
    deepest = int(ranks.max(initial=0))
    found = []
    for depth in _DEPTHS:
        inside = known & (ranks <= depth)
        abnormal = int((kinds[inside] == ABNORMAL).sum())
        count = int(inside.sum())
        share = abnormal / count if count else None
        found.append({"k": depth, "reviewed": count, "abnormal": abnormal, "precision": share})
        if depth >= deepest:
            break
    return found


def _in_order(kinds: NDArray[Any]) -> list[dict[str, Any]]:
    """How many of the first k verdicts were abnormal, in the order in which they were given."""
    return [
        {"k": depth, "abnormal": int((kinds[:depth] == ABNORMAL).sum())}
        for depth in _DEPTHS
        if depth <= len(kinds)
    ]


def _remaining(
    standing: Standing, rows: NDArray[np.int64], kinds: NDArray[Any], num_flagged: int
) -> dict[str, Any] | None:
    """About how many abnormal nodes are left among the highest; None with too few verdicts.

    The probabilities of the model are scaled so that they agree with the verdicts there are: it
    predicts each verdict from the others, and reviewers look at the highest nodes.
    """
    taught = standing.taught
    learned = np.isin(kinds, (ABNORMAL, NORMAL))
    if taught is None or learned.sum() < _FEWEST or not (kinds == ABNORMAL).any():
        return None
    known = taught.taught_
    _, is_abnormal = known.learned
    predicted = float(known.posterior.left_out(is_abnormal).sum())
    rank = standing.columns["updated_rank"]
    depth = min(len(rank), max(num_flagged, _NODES, int(rank[rows].max())))
    unseen = rank <= depth
    unseen[rows] = False
    probability = known.probability(standing.columns["updated_score"][unseen])
    factor = float(is_abnormal.sum()) / max(predicted, 1e-9)
    count = float(np.minimum(probability * factor, 1.0).sum())
    return {"among": int(unseen.sum()), "depth": depth, "about": round(count, 1)}
