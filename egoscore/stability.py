"""How stable a ranking is: which of its highest nodes are found again by another fit."""

from __future__ import annotations

import numpy as np

from egoscore.detector import EgoScore
from egoscore.detectors import detector_of
from egoscore.detectors.base import Job
from egoscore.graph import AttributedGraph
from egoscore.graph.thinning import thinned
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars
from egoscore.runtime import choose_device, one_thread

DROPPED = 0.1  # of the edges
STABLE, UNSTABLE = 0.7, 0.4  # share of the highest nodes that are found again
_FEWEST, _MOST, _PART = 10, 100, 5  # highest nodes that are compared, at most a fifth of all
_MOST_NODES = 300_000  # beyond, a second fit takes too long


def stability(graph: AttributedGraph, fitted: EgoScore, bars: Bars = no_bars) -> Note | None:
    """The share of the highest nodes that stay highest with another seed and fewer edges.

    None where a second fit would take too long, or where there are too few nodes to compare.
    """
    kind = detector_of(fitted.preset)
    settings = kind.quicker(fitted.settings())
    top = min(max(_FEWEST, int(fitted.label_.sum())), _MOST, graph.num_nodes // _PART)
    if settings is None or not top or graph.num_nodes > _MOST_NODES:
        return None
    seed = (int(fitted.seed) + 1) % 2**64
    with bars("Checking the stability", 1, "fits") as advance, one_thread():
        job = Job(seed, choose_device(fitted.gpu), fitted.num_workers)
        again, table = kind.fit(thinned(graph, DROPPED, seed), settings, job)
        other = again.score(table)
        advance(1)
    kept = len(_highest(fitted.decision_score_.numpy(), top) & _highest(other, top))
    fields = {"kept": kept, "top": top, "dropped": DROPPED}
    if kept < UNSTABLE * top:
        return Note.warning("ranking-unstable", **fields)
    if kept < STABLE * top:
        return Note.warning("ranking-partly-stable", **fields)
    return Note.info("ranking-stable", **fields)


def _highest(score: np.ndarray, count: int) -> set[int]:
    return set(np.argsort(-score, kind="stable")[:count].tolist())
