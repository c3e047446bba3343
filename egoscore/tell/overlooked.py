"""Nodes that one quantity alone makes stand out, wherever the ranking has them.

The ranking asks how unusual a node is by several questions together, among nodes with about as
many neighbours. One absurd value of a node that is else as usual as can be may come out behind
many who are a little unusual in every respect; whoever reads the list wants to know of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egoscore.explain.alone import far_by_itself
from egoscore.explain.explanation import Explanation
from egoscore.explain.reasons import shortened
from egoscore.explain.short import off
from egoscore.surprise.model import QUESTIONS, Surprises

_MEASURED = ("linear_residual", "structure")
_MOST = 5  # by each of these


def candidates(table: Surprises, listed: Sequence[int]) -> list[int]:
    """The highest nodes by single measurements, those that are not `listed`."""
    found: list[int] = []
    asked = [channel for question in table.questions for channel in QUESTIONS[question]]
    for channel in (name for name in _MEASURED if name in asked):
        order = np.argsort(-table.channels[channel], kind="stable")[: _MOST + len(listed)]
        found += [row for row in order.tolist() if row not in (*listed, *found)][:_MOST]
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
