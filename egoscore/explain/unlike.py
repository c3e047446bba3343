"""In which columns a node is unlike those around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Deviation
from egoscore.explain.features import Units, beside, far_off
from egoscore.graph import AttributedGraph
from egoscore.surprise.covariance import Floats

_MOST_LOOKED_AT = 1000  # neighbours, and neighbours of each


def two_away(graph: AttributedGraph, node: int) -> NDArray[np.int64]:
    """Where walks of two steps end that do not lead back, (n,), as often as they end there."""
    near = graph.neighbours_of(node)[:_MOST_LOOKED_AT]
    reached = [graph.neighbours_of(other)[:_MOST_LOOKED_AT] for other in near]
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
    """The features in which a node differs most from `others` (n, F), theirs as what is expected.

    `raw` (F,) as the user gave them; `own` (F,) and the others as the model sees them; `deviation`
    (F,) how far off what the surroundings let one expect usually is: where they tell much, little
    is unlike.
    """
    if not len(others):
        return ()
    theirs = others.mean(axis=0)
    sizes = (own - theirs) / deviation
    values = units.scaling.unscale(theirs.astype(np.float64))
    flags = zip(units.columns, raw, strict=True)
    filled = {column.name for column, value in flags if column.kind == "missing" and value}
    found: dict[str, Deviation] = {}
    for j in np.argsort(-np.abs(sizes), kind="stable").tolist():
        column = units.columns[j]
        if column.name in found or column.name in filled:
            continue
        shown = map(float, (raw[j], values[j], sizes[j], units.seen.least[j]))
        found[column.name] = beside(column, *shown)
        if len(found) == most:
            break
    return tuple(far_off(list(found.values())))
