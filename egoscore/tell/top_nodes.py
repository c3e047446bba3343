"""The list of the most abnormal nodes: a row for each, with how unusual its parts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.explain.explanation import Explanation

TOP = 50
_MOST_PARTS = 12
_MOST_COLUMNS = 3  # of the user's own
_HIDDEN = ("significant",)  # components that are decisions, not measurements


@dataclass(frozen=True)
class Part:
    """How unusual one part of a score is: the percent of nodes that have less; None: unknown."""

    name: str
    percentile: float | None


@dataclass(frozen=True)
class Row:
    """A node of the list; `own` are the user's columns, `cause` is empty without explanation."""

    rank: int
    node: Any
    score: float
    p_value: float | None
    flag: bool
    ego_size: int
    own: tuple[Any, ...]
    cause: str
    is_explained: bool
    parts: tuple[Part, ...]


def own_columns(ranking: pa.Table) -> list[str]:
    """The names of the user's columns: those between the flag and the components."""
    names: list[str] = ranking.column_names
    between = names[names.index("flag") + 1 : names.index("ego_size")]
    return [name for name in between if name not in _HIDDEN]


def top_rows(ranking: pa.Table, explanations: Sequence[Explanation]) -> list[Row]:
    """The first rows of the ranking."""
    by_rank = {found.rank: found for found in explanations}
    names = part_names(ranking, explanations)
    rows = ranking.slice(0, TOP).to_pylist()
    shares = _percentiles(ranking, names, len(rows))
    own = own_columns(ranking)[:_MOST_COLUMNS]
    return [
        _row(row, own, by_rank.get(row["rank"]), names, shares[:, number])
        for number, row in enumerate(rows)
    ]


def _row(
    row: dict[str, Any],
    own: Sequence[str],
    found: Explanation | None,
    names: Sequence[str],
    shares: NDArray[np.float64],
) -> Row:
    measured: dict[str, float] = dict(zip(names, shares, strict=True))
    components = () if found is None else found.components
    for name in names:
        levels = [p.percentile for p in components if plain(p.name) == name]
        measured[name] = float(np.mean(levels)) if levels else measured[name]
    known = {name: None if np.isnan(measured[name]) else measured[name] for name in names}
    return Row(
        rank=row["rank"],
        node=row["node"],
        score=row["score"],
        p_value=row.get("p_value"),
        flag=bool(row["flag"]),
        ego_size=row["ego_size"],
        own=tuple(row[name] for name in own),
        cause=found.causes[0] if found is not None and found.causes else "",
        is_explained=found is not None,
        parts=tuple(Part(name, known[name]) for name in names),
    )


def plain(column: str) -> str:
    """A component's name as people say it: without what all share and without the level."""
    return column.removeprefix("surprise_").partition("@")[0].replace("_", " ")


def part_names(ranking: pa.Table, explanations: Sequence[Explanation]) -> list[str]:
    """What the bars of every row show: the questions first, then what answers them."""
    columns = _components(ranking)
    if explanations:
        columns = [part.name for part in explanations[0].components]
    asked = [name for name in columns if name.startswith("surprise_")]
    return list(dict.fromkeys(map(plain, [*asked, *columns])))[:_MOST_PARTS]


def _components(ranking: pa.Table) -> list[str]:
    names: list[str] = ranking.column_names
    after = names[names.index("ego_size") + 1 :]
    return [name for name in after if name not in _HIDDEN]


def _percentiles(ranking: pa.Table, names: Sequence[str], count: int) -> NDArray[np.float64]:
    """Percent of all nodes that have less, (parts, count); levels are averaged; NaN if unknown."""
    found = np.full((len(names), count), np.nan)
    columns = _components(ranking)
    for place, name in enumerate(names):
        levels = [column for column in columns if plain(column) == name]
        if not levels:
            continue
        values = np.mean([ranking[column].to_numpy() for column in levels], axis=0)
        below = np.searchsorted(np.sort(values), values[:count], side="left")
        found[place] = 100.0 * below / len(values)
    return found
