"""The list of the most abnormal nodes: a row for each, with how unusual it is by every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from egoscore.explain.alone import far_by_itself
from egoscore.explain.among import alike, surprise
from egoscore.explain.causes import RETURNED, by_strength, causes_of, is_rare
from egoscore.explain.explanation import Explanation
from egoscore.explain.short import off

TOP = 50
_MOST_COLUMNS = 3  # of the user's own
_HIDDEN = ("significant",)  # a decision, not a column of the user
_SURPRISE = "surprise_"


@dataclass(frozen=True)
class Part:
    """How unusual a node is by one question: the percent of nodes that are less so."""

    question: str
    percentile: float
    is_cause: bool


@dataclass(frozen=True)
class Row:
    """A node of the list; `own` are the user's columns, `cause` is the strongest in words."""

    rank: int
    node: Any
    score: float
    p_value: float | None
    flag: bool
    significant: bool
    ego_size: int
    own: tuple[Any, ...]
    cause: str
    parts: tuple[Part, ...]


def own_columns(ranking: pa.Table) -> list[str]:
    """The names of the user's columns: those between the flag and the components."""
    names: list[str] = ranking.column_names
    between = names[names.index("flag") + 1 : names.index("ego_size")]
    return [name for name in between if name not in _HIDDEN]


def top_rows(ranking: pa.Table, explanations: Sequence[Explanation] = ()) -> list[Row]:
    """The first rows of the ranking, those with `explanations` with the cause in a few words."""
    own = own_columns(ranking)[:_MOST_COLUMNS]
    rows = ranking.slice(0, TOP).to_pylist()
    rarest = 1.0 / ranking.num_rows  # what is rarer cannot have been counted
    both = zip(rows, _answers(ranking), strict=True)
    found = [_row(row, own, answers, rarest) for row, answers in both]
    told = {why.rank: cause_in_short(why) for why in explanations}
    return [replace(row, cause=told.get(row.rank, row.cause)) for row in found]


def _row(row: dict[str, Any], own: list[str], answers: dict[str, float], rarest: float) -> Row:
    strong = causes_of(answers)
    shares = {question: max(rarest, np.exp(-answer)) for question, answer in answers.items()}
    return Row(
        rank=row["rank"],
        node=row["node"],
        score=row["score"],
        p_value=row.get("p_value"),
        flag=bool(row["flag"]),
        significant=bool(row.get("significant")),
        ego_size=row["ego_size"],
        own=tuple(row[name] for name in own),
        cause=cause(answers, row.get("p_value")),
        parts=tuple(Part(q, 100.0 * (1.0 - share), q in strong) for q, share in shares.items()),
    )


def cause(answers: Mapping[str, float], p_value: float | None) -> str:
    """The strongest cause; where none is strong by itself, what is nearest to one."""
    if not answers:
        return ""
    strong, first = causes_of(answers), next(iter(by_strength(answers)))
    if strong:
        return first
    if p_value is not None and is_rare(p_value):
        return f"all together, mostly {first}"
    return f"nothing stands out; if anything, {first}"


def cause_in_short(why: Explanation) -> str:
    """The strongest cause of an explained node and what it is, in a few words."""
    if not why.causes:
        alone = far_by_itself(why)
        return cause(why.questions, why.p_value) if alone is None else off(alone)
    return f"{why.causes[0]}: {why.reason}"


def _answers(ranking: pa.Table) -> list[dict[str, float]]:
    """By question how surprising each of the first nodes is."""
    names: list[str] = ranking.column_names
    columns = names[names.index("ego_size") + 1 :]
    asked = [name for name in columns if name.startswith(_SURPRISE)]
    if not asked:
        return _answers_of_the_paper(ranking, columns)
    rows = ranking.slice(0, TOP).select(asked).to_pylist()
    return [{name.removeprefix(_SURPRISE): row[name] for name in asked} for row in rows]


def _answers_of_the_paper(ranking: pa.Table, columns: list[str]) -> list[dict[str, float]]:
    """As in its explanations: how rare an error, mean over noise levels, is among nodes alike."""
    errors = {}
    for question, part in RETURNED.items():
        levels = [ranking[name].to_numpy() for name in columns if name.partition("@")[0] == part]
        if levels:
            errors[question] = np.mean(levels, axis=0)
    found, ego_size = [], ranking["ego_size"].to_numpy()
    for place in range(min(TOP, ranking.num_rows)):
        group = alike(ego_size, place)
        found.append({q: surprise(v[group], float(v[place])) for q, v in errors.items()})
    return found
