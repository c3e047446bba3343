"""How stable a ranking is: which of its highest nodes are found again by another fit."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.detector import EgoScore
from egoscore.detectors import detector_of
from egoscore.detectors.base import Job, Store
from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.graph.thinning import thinned
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars
from egoscore.runtime import choose_device, one_thread

DROPPED = 0.1  # of the edges
STABLE, UNSTABLE = 0.7, 0.4  # share of the highest nodes that are found again
_FEWEST, _MOST, _PART = 10, 100, 5  # highest nodes that are compared, at most a fifth of all
_NAME = "stability"
_MOST_NODES = 300_000  # beyond, a second fit takes too long


def stability(
    graph: AttributedGraph, fitted: EgoScore, store: Store | None = None, bars: Bars = no_bars
) -> Note | None:
    """The share of the highest nodes that stay highest with another seed and fewer edges.

    None where a second fit would take too long, or where there are too few nodes to compare. What
    `store` kept of the second fit is not computed again.
    """
    top = min(max(_FEWEST, int(fitted.label_.sum())), _MOST, graph.num_nodes // _PART)
    if not top or graph.num_nodes > _MOST_NODES:
        return None
    with bars("Checking the stability", 1, "fits") as advance:
        found = _load(store)
        if found is None:
            found = _found_again(graph, fitted)
            if found is not None and store is not None:
                store.save(_NAME, {"highest": torch.from_numpy(found)}, {})
        advance(1)
    if found is None:
        return None
    kept = len(set(_highest(fitted.decision_score_.numpy())[:top]) & set(found[:top]))
    fields = {"kept": kept, "top": top, "dropped": DROPPED}
    if kept < UNSTABLE * top:
        return Note.warning("ranking-unstable", **fields)
    if kept < STABLE * top:
        return Note.warning("ranking-partly-stable", **fields)
    return Note.info("ranking-stable", **fields)


def _found_again(graph: AttributedGraph, fitted: EgoScore) -> NDArray[np.int64] | None:
    """The highest nodes of another fit, None if that takes too long."""
    kind = detector_of(fitted.preset)
    settings = kind.quicker(fitted.settings())
    if settings is None:
        return None
    seed = (int(fitted.seed) + 1) % 2**64
    job = Job(seed, choose_device(fitted.gpu), fitted.num_workers)
    with one_thread():
        again, table = kind.fit(thinned(graph, DROPPED, seed), settings, job)
        return _highest(again.score(table))


def _load(store: Store | None) -> NDArray[np.int64] | None:
    """What an interrupted run found; if that is damaged, it is computed again."""
    try:
        kept = None if store is None else store.load(_NAME)
    except RunError:
        return None
    return None if kept is None or "highest" not in kept[0] else kept[0]["highest"].numpy()


def _highest(score: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.argsort(-score, kind="stable")[:_MOST]
