"""In which columns a node differs from its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.explain.deviations import Units, deviation_of, far_off
from egoscore.explain.explanation import Deviation
from egoscore.graph import AttributedGraph

_MOST_NEIGHBOURS = 1000  # neighbours, and neighbours of each


def two_away(graph: AttributedGraph, node: int) -> NDArray[np.int64]:
    """The ends of all walks of two steps that do not lead back, (n,), with repetitions."""
    near = graph.neighbours_of(node)[:_MOST_NEIGHBOURS]
    reached = [graph.neighbours_of(other)[:_MOST_NEIGHBOURS] for other in near]
    ends = np.concatenate([near[:0], *reached])
    others: NDArray[np.int64] = ends[ends != node]
    return others


def unlike(
    raw: NDArray[np.floating],
    own: Floats,
    others: Floats,
    deviation: NDArray[np.float64],
    units: Units,
    most: int,
) -> tuple[Deviation, ...]:
    """The features in which a node differs most from `others` (n, F), whose means are expected.

    `raw` (F,) in the user's units; `own` (F,) and the others on the model's scale; `deviation` (F,)
    the usual error of predictions from the neighbourhood: where it is small, small differences
    count.
    """
    if not len(others):
        return ()
    theirs = others.mean(axis=0)
    sizes = (own - theirs) / deviation
    values = units.ranges.clip(units.scaling.unscale(theirs.astype(np.float64)))
    flags = zip(units.columns, raw, strict=True)
    filled = {column.name for column, value in flags if column.kind == "missing" and value}
    found: dict[str, Deviation] = {}
    for j in np.argsort(-np.abs(sizes), kind="stable").tolist():
        column = units.columns[j]
        if column.name in found or column.name in filled:
            continue
        shown = map(float, (raw[j], values[j], sizes[j], units.ranges.least[j]))
        found[column.name] = deviation_of(column, *shown)
        if len(found) == most:
            break
    return tuple(far_off(list(found.values())))
