"""Caveats that apply to the ranking of any detector; labels are not used."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import spearmanr

from egoscore.graph import AttributedGraph
from egoscore.graph.feature_column import ROWS
from egoscore.graph.scaling import standardised
from egoscore.notes import Note
from egoscore.thresholds import fence

_EXPLAINED = 0.5  # rank correlation with a trivial quantity that deserves a warning
_FEW_NODES, _TOO_FEW_NODES = 200, 10
_MANY = 0.1  # share of the nodes; if scores fall off exponentially, 0.9% are far out


def ranking_caveats(graph: AttributedGraph, score: NDArray[np.float64]) -> list[Note]:
    """Warnings if a ranking follows a trivial quantity or rests on too little data."""
    found = _trivial(graph, score)
    if len(score) > 1 and np.ptp(score) == 0:
        found.append(Note.warning("all-scores-equal"))
    elif len(score) >= _TOO_FEW_NODES:
        found += _tail(score)
    if not graph.num_edges:
        found.append(Note.warning("no-edges", self_loops=graph.dropped_self_loops))
    count = graph.num_nodes
    if count < _TOO_FEW_NODES:
        found.append(Note.warning("too-few-nodes", nodes=count))
    elif count < _FEW_NODES:
        found.append(Note.warning("few-nodes", nodes=count))
    return found


def _tail(score: NDArray[np.float64]) -> list[Note]:
    """Whether there are a few nodes far above the others."""
    count = int((score > fence(torch.from_numpy(score))).sum())
    if not count:
        return [Note.warning("nothing-far-out", nodes=len(score))]
    if count > _MANY * len(score):
        return [Note.warning("many-far-out", count=count, nodes=len(score))]
    return []


def _trivial(graph: AttributedGraph, score: NDArray[np.float64]) -> list[Note]:
    trivial = {"degree": graph.neighbours.degrees}
    if not graph.is_structural:
        trivial["norm"] = np.square(standardised(graph).features).sum(axis=1)
    found = []
    for name, values in trivial.items():
        if np.ptp(values) == 0 or np.ptp(score) == 0:
            continue
        correlation = float(spearmanr(score, values).statistic)
        if abs(correlation) >= _EXPLAINED:
            found.append(Note.warning("follows-trivial", quantity=name, correlation=correlation))
    return found


def left_out(graph: AttributedGraph) -> list[Note]:
    """Notes on edges that were dropped; `weight` is the title of a feature that counts them.

    There is none on repeated edges if their number is a feature: a note on loading says so.
    """
    of_edges = [column for column in graph.columns if column.kind == "weight"]
    weight = next((column.title for column in of_edges if column.detail != ROWS), None)
    has_rows = any(column.detail == ROWS for column in of_edges)
    dropped = {
        "self-loops-dropped": graph.dropped_self_loops,
        "duplicates-dropped": 0 if has_rows else graph.dropped_duplicates,
    }
    return [Note.info(c, count=count, weight=weight) for c, count in dropped.items() if count]


def threshold_rule(contamination: float | str, threshold: float, fence: float) -> Note:
    """How the threshold was chosen; `fence` is where Tukey's rule alone would put it."""
    if contamination != "auto":
        return Note.info("threshold-share", threshold=threshold, share=float(contamination))
    if threshold < fence:
        return Note.info("threshold-significant", threshold=threshold, fence=fence)
    return Note.info("threshold-far-out", threshold=threshold)
