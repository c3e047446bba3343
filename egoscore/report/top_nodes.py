"""The list of the most abnormal nodes, with their causes and percentiles by question."""

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

TOP = 50
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

    Attributes: `name` as in `Explanation`; `own`, the user's columns; `cause`, the main cause in
    words.
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
    cause: str
    parts: tuple[Part, ...]


def top_rows(ranking: pa.Table, findings: Findings) -> list[Row]:
    """The first rows of the ranking; explained nodes have their cause in a few words."""
    own = own_columns(ranking)[:_MOST_COLUMNS]
    rows = ranking.slice(0, TOP).to_pylist()
    reasons = {why.rank: cause_in_short(why) for why in findings.explanations}
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
                cause=reasons.get(row["rank"]) or cause(answers, row["p_value"]),
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


def cause_in_short(why: Explanation) -> str:
    """The main cause of an explained node, with its reason in a few words."""
    if not why.causes:
        extreme = far_by_itself(why)
        return cause(why.questions, why.p_value) if extreme is None else off(extreme)
    return f"{label_of(why.causes[0])}: {why.reason}"
