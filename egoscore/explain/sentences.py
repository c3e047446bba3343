"""The reasons of a node in a few sentences that can be pasted into a ticket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explainer import Explainer, shortened
from egoscore.explain.explanation import Deviation, Explanation, far_by_itself, is_rare
from egoscore.graph import AttributedGraph
from egoscore.text import counted, times

_LEAST, _MOST = 1.5, 1e4  # ratios in between are worth stating
_COUNTABLE = 10.0


def clause(one: Deviation, source: str = "its neighbours") -> str:
    """The actual and the expected value, as a clause; `source` is what the latter follows from."""
    if one.kind == "category":
        return _category(one, "{} ({})", source)
    return f"{_fact(one)} (expected {one.expected})"


def off(one: Deviation, source: str = "its neighbours") -> str:
    """Which quantity deviates, and in which direction."""
    if one.observed == "missing":
        return _fact(one)
    if one.kind == "category":
        return _category(one, "{}; {}", source)
    if one.kind in ("yes/no", "missing"):
        return f"{_fact(one)}, which is unexpected"
    observed, expected = one.observed_value or 0.0, one.expected_value or 0.0
    if one.is_amount and (more := multiple(observed, expected)):
        return f"{one.name} is {more} times the expected value"
    if one.is_amount and multiple(expected, observed) and not _is_small_count(observed):
        return f"{one.name} is {times(100 * observed / expected)}% of the expected value"
    return clause(one)


def _is_small_count(value: float) -> bool:
    """Whether a number says more than its ratio: 2 where 21 is expected."""
    return value < _COUNTABLE and value.is_integer()


def _fact(one: Deviation) -> str:
    """The actual value."""
    if one.kind == "missing" and one.observed == "no":
        return f"{one.name.removesuffix(' is missing')} is not missing"
    return f"{one.name} is {one.observed}"


def _category(one: Deviation, form: str, source: str) -> str:
    """The actual and the expected category, put into `form` if both are known."""
    column, is_one_value, value = one.name.partition(" = ")
    if one.observed == "missing":
        return f"{column} is missing"
    if not is_one_value:
        return form.format(f"{column} is {one.observed}", f"{source} suggest {one.expected}")
    if one.observed == "yes":
        return f"{column} is {value}, which is unexpected"
    return f"{column} is not {value}, which {source} suggest"


def by_column(deviations: Sequence[Deviation]) -> list[Deviation]:
    """One deviation per column, although a category is one per value, and so is a missing value.

    A category has the value that is there and the one that is more likely than not, if both are
    among the `deviations`.
    """
    actual, likely = dict[str, str](), dict[str, str]()
    for one in deviations:
        column, _, value = one.name.partition(" = ")
        if one.kind == "category" and one.observed == "yes":
            actual[column] = value
        elif one.kind == "category" and (one.expected_value or 0.0) > 0.5:
            likely[column] = value
    found: dict[tuple[str, str], Deviation] = {}
    for one in deviations:
        column = one.name.partition(" = ")[0]
        if one.kind == "category" and column in actual and column in likely:
            one = replace(one, name=column, observed=actual[column], expected=likely[column])
        found.setdefault((one.name, one.observed), one)
    return list(found.values())


def multiple(value: float, of: float) -> str:
    """How many times as much one is as the other; empty if a number does not help."""
    return times(value / of) if of > 0 and _LEAST <= value / of < _MOST else ""


@dataclass(frozen=True)
class Scores:
    """The scores and p-values (N,) of all nodes, and above which score they are flagged."""

    score: NDArray[np.float64]
    p_value: NDArray[np.float64]
    threshold: float

    def is_apart(self, row: int) -> bool:
        """Whether no other node is half as rare."""
        return int((self.p_value <= 2.0 * self.p_value[row]).sum()) == 1

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Score, rank, percentile, p-value and flag of all nodes, (N,) each, by name.

        Rank 1 is the most abnormal; of equal scores the earlier row comes first. The percentile is
        the percentage of nodes with a lower score.
        """
        size = len(self.score)
        rank = np.empty(size, dtype=np.int64)
        rank[np.argsort(-self.score, kind="stable")] = np.arange(1, size + 1)
        return {
            "score": self.score,
            "rank": rank,
            "percentile": 100.0 * np.searchsorted(np.sort(self.score), self.score) / size,
            "p_value": self.p_value,
            "flag": (self.score > self.threshold).astype(np.int8),
        }

    def standing(self, row: int) -> dict[str, Any]:
        """The rank of a node and related fields of `Explanation`."""
        found = {name: values[row].item() for name, values in self.columns.items()}
        return found | {"flag": bool(found["flag"]), "num_nodes": len(self.score)}


def explanation(
    row: int, graph: AttributedGraph, scores: Scores, explainer: Explainer
) -> Explanation:
    """The rank and the reasons of a node, with a summary."""
    reasons, standing = explainer.reasons(row), scores.standing(row)
    told = reasons.causes[:2] or tuple(reasons.questions)[:1]
    because = [text for cause in told if (text := explainer.phrase(cause, reasons))]
    alone = far_by_itself(reasons)
    is_usual = not reasons.causes and not is_rare(standing["p_value"])
    if is_usual and alone is not None:
        overall = "" if standing["flag"] else ", although the node is ordinary overall"
        because = [f"one value is extreme{overall}: {clause(alone)}"]
    elif is_usual:
        because = [f"nothing stands out; if anything, {because[0]}"]
    elif not reasons.causes:
        because = [f"no single answer stands out, but all together do; most of all, {because[0]}"]
    proviso = explainer.proviso if scores.is_apart(row) and not is_usual else None
    sentences = [
        f"{shortened(graph.shown(row))} {_stands(standing, proviso)}",
        *map(_capitalised, because),
    ]
    return Explanation(
        node=str(graph.ids[row]),
        name=graph.name_of(row),
        **standing,
        reason=explainer.in_short(told[0], reasons),
        summary=" ".join(f"{sentence}." for sentence in sentences),
        **vars(reasons),
    )


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _stands(standing: dict[str, Any], proviso: str | None) -> str:
    """The rank of a node, and whether it is rarer than its rank says, unless `proviso` is None.

    If several nodes score about as high, their number matters, which the rank shows.
    """
    size = standing["num_nodes"]
    place = f"ranks {standing['rank']:,} of {counted(size, 'node')}"
    if proviso is None or standing["p_value"] * size >= 1.0:
        return place
    return f"{place} (rarer than 1 in {size:,}{proviso})"
