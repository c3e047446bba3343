"""An ego-graph before and after, reduced to a size that can be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explainer import shortened
from egoscore.graph import AttributedGraph

MOST_NODES = 24
_SHORT = 3


def shades(
    before: NDArray[np.floating], after: NDArray[np.floating]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both (n,) scaled to 0 for the smallest of all values and 1 for the largest."""
    low = min(float(before.min()), float(after.min()))
    spread = max(float(before.max()), float(after.max())) - low or 1.0
    first, second = (
        np.round((part.astype(np.float64) - low) / spread, _SHORT).tolist()
        for part in (before, after)
    )
    return tuple(first), tuple(second)


def pairs_within(graph: AttributedGraph, nodes: Sequence[int]) -> list[tuple[int, int]]:
    """The edges between `nodes`, as pairs of places in the list, each once."""
    chosen = np.asarray(nodes)
    links = graph.neighbours.to_scipy()[chosen][:, chosen].tocoo()
    upper = links.row < links.col
    pairs = zip(links.row[upper].tolist(), links.col[upper].tolist(), strict=True)
    return sorted(pairs)


def names_of(graph: AttributedGraph, nodes: Sequence[int]) -> tuple[str, ...]:
    """The user's names of nodes, as far as they can be shown."""
    return tuple(shortened(str(graph.ids[node])) for node in nodes)
