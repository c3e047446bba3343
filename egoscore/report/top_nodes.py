"""The list of the most abnormal nodes, with their reasons and percentiles by question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from egoscore.detectors import label_of, main_question
from egoscore.explain.explanation import (
    Component,
    Explanation,
    causes_of,
    far_by_itself,
    is_rare,
)
from egoscore.explain.sentences import off
from egoscore.ranking import NAME, has_names, own_columns
from egoscore.report.findings import Findings

TOP = 20  # nodes that the report lists and explains
ANSWERED = 50  # nodes with answers, for longer lists on the console
_MOST_COLUMNS = 3  # of the user's own


@dataclass(frozen=True)
class Part:
    """The answer to one question, and the percentage of nodes that are less unusual by it."""

    question: str
    label: str
    answer: float
    percentile: float
    is_cause: bool


@dataclass(frozen=True)
class Row:
    """A node of the list.

    Attributes: `name` as in `Explanation`; `own`, the user's columns; `reason`, the main cause
    in words.
    """

    rank: int
    node: Any
    name: str | None
    score: float
    p_value: float
    flag: bool
    significant: bool
    ego_size: int
    own: tuple[Any, ...]
    reason: str
    parts: tuple[Part, ...]


def top_rows(ranking: pa.Table, findings: Findings, count: int = TOP) -> list[Row]:
    """The first rows of the ranking; nodes without an explanation have the cause as reason."""
    own = own_columns(ranking)[:_MOST_COLUMNS]
    rows = ranking.slice(0, count).to_pylist()
    reasons = {why.rank: reason_in_short(why) for why in findings.explanations}
    found, is_named = [], has_names(ranking)
    for row, answers in zip(rows, findings.answers, strict=False):
        found.append(
            Row(
                rank=row["rank"],
                node=row["node"],
                name=row[NAME] if is_named else None,
                score=row["score"],
                p_value=row["p_value"],
                flag=bool(row["flag"]),
                significant=bool(row.get("significant")),
                ego_size=row["ego_size"],
                own=tuple(row[name] for name in own),
                reason=reasons.get(row["rank"]) or cause(answers, row["p_value"]),
                parts=parts_of(answers, ranking.num_rows),
            )
        )
    return found


def parts_of(answers: Mapping[str, float], num_nodes: int) -> tuple[Part, ...]:
    """The answers as percentiles; none is rarer than one node of all."""
    causes = causes_of(answers)
    found = []
    for name, answer in answers.items():
        share = max(1.0 / num_nodes, float(np.exp(-answer)))
        found.append(Part(name, label_of(name), answer, 100.0 * (1.0 - share), name in causes))
    return tuple(found)


def other_components(why: Explanation) -> list[Component]:
    """The parts of the score, except the answers, which `parts_of` gives."""
    answers = {f"surprise_{question}" for question in why.questions}
    return [one for one in why.components if one.name not in answers]


def component_label(one: Component) -> str:
    """The name of a part of the score for people."""
    return label_of(one.name).replace("_", " ")


def cause(answers: Mapping[str, float], p_value: float) -> str:
    """The main cause; if there is none, the question that comes closest."""
    if not answers:
        return ""
    first = label_of(main_question(answers))
    if causes_of(answers):
        return first
    if is_rare(p_value):
        return f"all answers together, mostly {first}"
    return f"nothing stands out; if anything, {first}"


def reason_in_short(why: Explanation) -> str:
    """The main cause of an explained node and its reason, in a few words."""
    if why.causes:
        return f"{label_of(why.causes[0])}: {why.reason}"
    if (extreme := far_by_itself(why)) is not None:
        return off(extreme)
    closest = cause(why.questions, why.p_value)
    return f"{closest}: {why.reason}" if closest else why.reason
