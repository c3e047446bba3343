"""The kinds of anomalies that are planted, one function each.

A function changes `draft` in place and returns the case, or None where the tables have no place for
it. It draws only nodes that no other case of the same draft has touched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from egoscore import AttributedGraph
from egoscore.graph.structure import STRUCTURE, structure
from planting.tables import Tables

_TRIES = 200
_STRANGERS, _CLIQUE = 15, 8
_CLUSTERED = 0.1  # clustering coefficient from which strangers are unusual
_RARE = 0.01  # share of nodes with as large a core number as a planted clique
_HIGH = 0.99  # quantile: what thirty times a high value starts from
_LEAST_AGREE, _LEAST_NEIGHBOURS = 0.8, 5
_LEAST_GROWTH = 1.5  # of a hub over the largest, where three times would be more than all nodes


@dataclass(frozen=True)
class Case:
    """One planted anomaly: the `rows` to be found, and what the first reason should be about.

    `column` is the changed one, "" for a position in the graph. `is_clear` is whether the new value
    lies outside the range of the column, or contradicts nearly all of several neighbours; whether
    a clique or strangers are anything unusual in the graph.
    """

    kind: str
    rows: tuple[int, ...]
    column: str = ""
    is_clear: bool = True


@dataclass
class Draft:
    """Tables that are being changed."""

    tables: Tables
    rng: np.random.Generator
    links: sparse.csr_array = field(init=False)
    touched: set[int] = field(default_factory=set)
    more_edges: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = self.tables.nodes.copy()
        ends, size = self.tables.ends, len(self.nodes)
        both = np.concatenate([ends, ends[::-1]], axis=1)
        ones = np.ones(both.shape[1], dtype=np.int8)
        self.links = sparse.csr_array((ones, (both[0], both[1])), shape=(size, size))
        self.links.setdiag(0)
        self.links.eliminate_zeros()
        self.degrees = np.diff(self.links.indptr)
        graph = AttributedGraph.from_edges(ends, np.zeros((size, 1)))
        columns = dict(zip(STRUCTURE, structure(graph).T, strict=True))
        self.clustering = float(columns["clustering"].mean())
        # as large as in a planted clique
        self.large_cores = float((np.expm1(columns["core"]) > _CLIQUE - 1.5).mean())

    def near(self, row: int) -> np.ndarray:
        """The neighbours of a node."""
        return self.links.indices[self.links.indptr[row] : self.links.indptr[row + 1]]

    def pick(self, accepts: Callable[[int], bool] = lambda row: True) -> int | None:
        """An untouched node that has neighbours and is accepted."""
        for _ in range(_TRIES):
            row = int(self.rng.integers(len(self.nodes)))
            if row not in self.touched and self.degrees[row] and accepts(row):
                self.touched.add(row)
                return row
        return None

    def unrelated(self, to: list[int]) -> int | None:
        """A node with neighbours that is not one of them, no neighbour, and shares none."""
        around = {*to, *(int(other) for row in to for other in self.near(row))}

        def is_far(row: int) -> bool:
            return row not in around and not around & set(self.near(row).tolist())

        return self.pick(is_far)

    def set(self, row: int, column: str, value: object) -> None:
        """Change one cell."""
        if self.nodes[column].dtype.kind == "i" and isinstance(value, float):
            value = round(value)
        self.nodes.loc[row, column] = value

    @property
    def changed(self) -> Tables:
        """The tables with everything that was planted."""
        source, target = self.tables.edges.columns[:2]
        ids = self.nodes["id"].to_numpy()
        more = pd.DataFrame(
            {
                source: [ids[a] for a, _ in self.more_edges],
                target: [ids[b] for _, b in self.more_edges],
            }
        )
        edges = pd.concat([self.tables.edges, more], ignore_index=True) if len(more) else None
        t = self.tables
        kept = t.edges if edges is None else edges
        return Tables(t.name, self.nodes, kept, t.left_out, t.numbers, t.categories)


def _value(
    kind: str, change: Callable[[pd.Series, float], float | None]
) -> Callable[[Draft], Case | None]:
    """Plants a number: `change` gets a column and the old value, and returns the new one or None.

    Columns and nodes are drawn until the new value lies outside the range, if there are such.
    """

    def plant(draft: Draft) -> Case | None:
        if not draft.tables.numbers:
            return None
        found = []
        for _ in range(_TRIES):
            column = str(draft.rng.choice(draft.tables.numbers))
            row = int(draft.rng.integers(len(draft.nodes)))
            values = draft.tables.nodes[column]
            new = change(values, float(values[row]))
            if row in draft.touched or not draft.degrees[row] or new is None:
                continue
            if draft.nodes[column].dtype.kind == "i":
                new = float(round(new))
            if new == values[row]:
                continue
            is_clear = not values.min() <= new <= values.max()
            found.append((not is_clear, len(found), row, column, new))
            if is_clear:
                break
        if not found:
            return None
        is_inside, _, row, column, new = min(found)
        draft.touched.add(row)
        draft.set(row, column, new)
        return Case(kind, (row,), column, not is_inside)

    return plant


def _three_times_the_maximum(values: pd.Series, old: float) -> float | None:
    return 3.0 * float(values.max()) if values.max() > 0 else None


def _thirty_times(values: pd.Series, old: float) -> float | None:
    high = float(values.quantile(_HIGH))
    return 30.0 * high if high > 0 else None


def _a_thirtieth(values: pd.Series, old: float) -> float | None:
    return old / 30.0 if old > 0 else None


def _flipped_sign(values: pd.Series, old: float) -> float | None:
    return -old if old > 0 else None


def _category(draft: Draft) -> Case | None:
    """Another category, preferably where nearly all of several neighbours have the old one."""
    if not draft.tables.categories:
        return None
    column = str(draft.rng.choice(draft.tables.categories))
    values = draft.tables.nodes[column].to_numpy()

    def agrees(row: int) -> bool:
        near = values[draft.near(row)]
        return len(near) >= _LEAST_NEIGHBOURS and (near == values[row]).mean() >= _LEAST_AGREE

    row = draft.pick(agrees)
    is_clear = row is not None
    row = draft.pick() if row is None else row
    if row is None:
        return None
    others = values[values != values[row]]
    draft.set(row, column, draft.rng.choice(others))
    return Case("category", (row,), column, is_clear)


def _swap(draft: Draft) -> Case | None:
    """The attributes of two distant nodes are exchanged."""
    first = draft.pick()
    second = None if first is None else draft.unrelated([first])
    if first is None or second is None or not draft.tables.numbers + draft.tables.categories:
        return None
    columns = [*draft.tables.nodes.columns.drop(["id", *draft.tables.left_out])]
    rows = draft.nodes.loc[[second, first], columns].to_numpy()
    for place, row in enumerate((first, second)):
        for column, value in zip(columns, rows[place], strict=True):
            draft.nodes.loc[row, column] = value
    return Case("swap", (first, second))


def _unrelated_group(draft: Draft, count: int) -> list[int] | None:
    group: list[int] = []
    for _ in range(count):
        row = draft.unrelated(group)
        if row is None:
            return None
        group.append(row)
    return group


def _strangers(draft: Draft) -> Case | None:
    """Fifteen edges to nodes that have nothing to do with each other."""
    group = _unrelated_group(draft, 1 + _STRANGERS)
    if group is None:
        return None
    draft.more_edges += [(group[0], other) for other in group[1:]]
    return Case("strangers", (group[0],), is_clear=draft.clustering > _CLUSTERED)


def _clique(draft: Draft) -> Case | None:
    """Eight nodes that have nothing to do with each other are all linked."""
    group = _unrelated_group(draft, _CLIQUE)
    if group is None:
        return None
    draft.more_edges += [(a, b) for place, a in enumerate(group) for b in group[:place]]
    is_clear = draft.large_cores < _RARE or not draft.clustering
    return Case("clique", tuple(group), is_clear=is_clear)


def _hub(draft: Draft) -> Case | None:
    """A node with three times as many neighbours as the largest."""
    row, size, largest = draft.pick(), len(draft.nodes), int(draft.degrees.max())
    wanted = min(3 * largest, size - 1)
    if row is None or wanted < _LEAST_GROWTH * largest:
        return None
    strangers = np.setdiff1d(np.arange(size), [row, *draft.near(row)])
    chosen = draft.rng.choice(strangers, wanted - draft.degrees[row], replace=False)
    draft.more_edges += [(row, int(other)) for other in chosen]
    return Case("hub", (row,))


KINDS: dict[str, Callable[[Draft], Case | None]] = {
    "triple": _value("triple", _three_times_the_maximum),
    "thirty": _value("thirty", _thirty_times),
    "thirtieth": _value("thirtieth", _a_thirtieth),
    "sign": _value("sign", _flipped_sign),
    "category": _category,
    "swap": _swap,
    "strangers": _strangers,
    "clique": _clique,
    "hub": _hub,
}
GROUPS = ("swap", "clique")
ONE_AT_A_TIME = ("hub",)  # several would make each other usual
