"""Nodes that one quantity alone makes stand out, wherever the ranking has them.

The ranking asks how unusual a node is by several questions together, among nodes with about as
many neighbours. One absurd value of a node that is else as usual as can be may come out behind
many who are a little unusual in every respect; whoever reads the list wants to know of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.alone import far_by_itself
from egoscore.explain.explanation import Explanation
from egoscore.explain.reasons import shortened
from egoscore.explain.short import off
from egoscore.graph import AttributedGraph
from egoscore.surprise.model import QUESTIONS, SurpriseModel, Surprises

_MEASURED = ("linear_residual", "structure")
_MOST = 5  # by each of these
_AT_ONCE = 1 << 14  # nodes


def candidates(
    table: Surprises, graph: AttributedGraph, model: SurpriseModel, listed: Sequence[int]
) -> list[int]:
    """The highest nodes by single measurements and numbers, those that are not `listed`."""
    found: list[int] = []
    asked = [channel for question in table.questions for channel in QUESTIONS[question]]
    measured = [table.channels[name] for name in _MEASURED if name in asked]
    if "features" in table.questions:
        measured.append(_furthest(graph, model))
    for values in measured:
        order = np.argsort(-values, kind="stable")[: _MOST + len(listed)]
        found += [row for row in order.tolist() if row not in (*listed, *found)][:_MOST]
    return found


def _furthest(graph: AttributedGraph, model: SurpriseModel) -> NDArray[np.float32]:
    """How far out the furthest number of every node is in deviations, (N,).

    Among thousands of columns one absurd number is next to nothing to all other measurements.
    """
    numbers = np.flatnonzero([not column.is_yes_or_no for column in graph.described])
    found = np.zeros(graph.num_nodes, dtype=np.float32)
    for start in range(0, graph.num_nodes if len(numbers) else 0, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        scaled = model.scaling.scale(graph.features[part])
        found[part] = np.abs(scaled[:, numbers]).max(axis=1)
    return found


def sentence(explanations: Sequence[Explanation], num_listed: int) -> str | None:
    """Those of the candidates that are far off by a single quantity, and by which."""
    parts = []
    for why in explanations:
        far = far_by_itself(why)
        if far is not None:
            parts.append(f"{shortened(why.node)} (number {why.rank:,}): {off(far)}")
    if not parts:
        return None
    return f"Not among the first {num_listed}, but far off by one quantity: {'; '.join(parts)}."
