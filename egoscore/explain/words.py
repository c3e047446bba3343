"""Reasons as one sentence that can be pasted into a ticket."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.explain.alone import far_by_itself
from egoscore.explain.causes import is_rare
from egoscore.explain.explanation import Explanation
from egoscore.explain.reasons import Reasoner, shortened
from egoscore.explain.short import says
from egoscore.graph import AttributedGraph
from egoscore.numerals import counted
from egoscore.printable import printable

_LOOKED_THROUGH = 2_000  # ids, for one that looks like a name that is not there


@dataclass(frozen=True)
class Scores:
    """The scores and p-values (N,) of all nodes, and above which score they are flagged."""

    score: NDArray[np.float64]
    p_value: NDArray[np.float64]
    threshold: float

    def is_apart(self, row: int) -> bool:
        """Whether no other node is half as rare."""
        return int((self.p_value <= 2.0 * self.p_value[row]).sum()) == 1

    def standing(self, row: int) -> dict[str, Any]:
        """Where a node stands, by the names of `Explanation`; of equals the earlier is first."""
        mine, size = self.score[row], len(self.score)
        lower = int((self.score < mine).sum())
        return {
            "score": float(mine),
            "rank": size - lower - int((self.score[row:] == mine).sum()) + 1,
            "num_nodes": size,
            "percentile": 100.0 * lower / size,
            "p_value": float(self.p_value[row]),
            "flag": bool(mine > self.threshold),
        }


def explanation(
    row: int, graph: AttributedGraph, scores: Scores, reasoner: Reasoner
) -> Explanation:
    """Standing and reasons of a node together, in words."""
    reasons, standing = reasoner.of(row), scores.standing(row)
    node = str(graph.ids[row])
    told = reasons.causes[:2] or tuple(reasons.questions)[:1]
    because = ", and ".join(reasoner.phrase(cause, reasons) for cause in told)
    alone = far_by_itself(reasons)
    is_usual = not reasons.causes and not is_rare(standing["p_value"])
    if is_usual and alone is not None:
        all_in_all = "" if standing["flag"] else ", though all in all it is usual"
        because = f"one quantity is far off{all_in_all}: {says(alone)}"
    elif is_usual:
        because = f"nothing about it stands out; if anything, {because}"
    elif not reasons.causes:
        because = f"by no question alone but by all together, most of all {because}"
    proviso = reasoner.proviso if scores.is_apart(row) and not is_usual else None
    summary = f"Node {shortened(node)} is {_stands(standing, proviso)}: {because}."
    return Explanation(
        node=node,
        **standing,
        reason=reasoner.in_short(told[0], reasons),
        summary=summary,
        **vars(reasons),
    )


def _stands(standing: dict[str, Any], proviso: str | None) -> str:
    """How high a node is; and that it is rarer than its rank says, if one has a `proviso` for it.

    Of several that score about as high the rank says how many there are, and that is what counts.
    """
    size = standing["num_nodes"]
    place = f"number {standing['rank']:,} of {size:,} by abnormality"
    if proviso is None or standing["p_value"] * size >= 1.0:
        return place
    return f"{place} (rarer than 1 in {counted(size, 'node')}{proviso})"


def rows_of(graph: AttributedGraph, nodes: Sequence[Any]) -> list[int]:
    """The numbers of the nodes that the user calls so; text means the id that looks like it.

    Where none does, the one that is shown so: control characters are spelled out.
    """
    ids = graph.ids.tolist()
    alike = _by_text(ids, nodes, str)
    if not all(alike.values()):
        shown = _by_text(ids, nodes, printable)
        alike = {text: rows or shown[text] for text, rows in alike.items()}
    return [_row(node, ids, alike[str(node)]) for node in nodes]


def _by_text(
    ids: list[Any], nodes: Sequence[Any], written: Callable[[Any], str]
) -> dict[str, list[int]]:
    """The rows of the ids that are `written` as one of the nodes is, by that text."""
    alike: dict[str, list[int]] = {str(node): [] for node in nodes}
    for row, name in enumerate(ids):
        if (text := written(name)) in alike:
            alike[text].append(row)
    return alike


def _row(node: Any, ids: list[Any], alike: list[int]) -> int:
    """Of the rows whose ids look like `node`: the first whose id is of its kind, else the first.

    Where none looks like it, the one whose id equals it.
    """
    if alike:
        return next((row for row in alike if type(ids[row]) is type(node)), alike[0])
    try:
        return ids.index(node)  # {8, 0} equals {0, 8} and does not look like it
    except (RuntimeError, ValueError):  # the first from tensors, which cannot be compared
        known = f"There is no node {node!r} in the network; {_near(ids, str(node))}"
        raise InputError(known) from None


def _near(ids: list[Any], name: str) -> str:
    some = [str(one) for one in ids[:_LOOKED_THROUGH]]
    alike = difflib.get_close_matches(name, some, n=1)
    return f"did you mean {alike[0]!r}?" if alike else f"its ids look like {some[0]!r}."
