"""The columns of edges as features of the nodes at their ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.feature_column import ROWS, FeatureColumn, narrowed
from egoscore.graph.number_form import WHOLE
from egoscore.load.edge_columns import EdgeColumn
from egoscore.load.node_features import Features

_LEAST_REPEATS = 0.01  # of the edges; fewer are accidents, which say nothing about other nodes
_NEARLY_ALL = 0.99  # of the values are the same: the total says all there is to say
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """The edges of every node in one direction, or in both.

    Attributes: `direction`, "sent", "received" or "" for both; `nodes` and `partners` (E,), of
    every row the node that it is counted for and the other end; `rows` (E,) where its values are;
    `size`, how many nodes there are.
    """

    direction: str
    nodes: NDArray[np.int32]
    partners: NDArray[np.int32]
    rows: NDArray[np.int64] | slice
    size: int

    def named(self, name: str) -> str:
        """The name of a column in this direction."""
        return f"{name} {self.direction}" if self.direction else name

    @cached_property
    def count(self) -> NDArray[np.int64]:
        """How many rows there are for every node, (N,)."""
        count: NDArray[np.int64] = np.bincount(self.nodes, minlength=self.size)
        return count

    def total(self, values: Values) -> Values:
        """The sum of `values` (E,) for every node, (N,)."""
        found = np.bincount(self.nodes, weights=values, minlength=self.size)
        return found.astype(np.float64, copy=False)

    def mean(self, values: Values) -> Values:
        """The mean of `values` (E,) for every node, (N,), zero without any."""
        found: Values = self.total(values) / np.maximum(self.count, 1)
        return found

    def largest(self, values: Values, empty: float = 0.0) -> Values:
        """The largest of `values` (E,) for every node, (N,), `empty` without any."""
        found: Values = np.full(self.size, -np.inf)
        np.maximum.at(found, self.nodes, values)
        found[self.count == 0] = empty
        return found

    def smallest(self, values: Values, empty: float = 0.0) -> Values:
        """The smallest of `values` (E,) for every node, (N,), `empty` without any."""
        return -self.largest(-values, -empty)

    def most_per_group(self, groups: NDArray[np.integer], values: Values) -> tuple[Values, Values]:
        """The largest sum of `values` (E,) in one of a node's `groups` (E,), and their number."""
        width = int(groups.max(initial=0)) + 1
        pairs, place = np.unique(self.nodes.astype(np.int64) * width + groups, return_inverse=True)
        sums = np.bincount(place, weights=values, minlength=len(pairs))
        nodes = pairs // width
        most: Values = np.zeros(self.size)
        np.maximum.at(most, nodes, sums)
        return most, np.bincount(nodes, minlength=self.size).astype(np.float64)


def sides_of(ends: Sequence[NDArray[np.int32]], size: int, directed: bool) -> list[Side]:
    """Both directions of edges from `ends[0]` to `ends[1]`, (E,) each, or both together.

    A self-loop is sent and received, but counts once where both are together.
    """
    sources, targets = ends
    if directed:
        every = slice(None)
        return [
            Side("sent", sources, targets, every, size),
            Side("received", targets, sources, every, size),
        ]
    others = np.flatnonzero(sources != targets)
    nodes = np.concatenate([sources, targets[others]])
    partners = np.concatenate([targets, sources[others]])
    return [Side("", nodes, partners, np.concatenate([np.arange(len(sources)), others]), size)]


def edge_features(
    columns: Sequence[EdgeColumn], ends: Sequence[NDArray[np.int32]], size: int, directed: bool
) -> Features:
    """The features of N nodes that follow from columns of their edges, (N, F).

    A node without edges has zero, and typical dates. Every row counts, also of a repeated edge.
    """
    parts: list[tuple[FeatureColumn, NDArray[np.float32]]] = []
    sides = sides_of(ends, size, directed)
    for column in columns:
        for side in sides:
            for described, values in _features(column, side):
                if column.is_named or np.ptp(values):
                    parts.append(_narrow(described, values))
    table = np.empty((size, len(parts)), dtype=np.float32)
    for place, (_, numbers) in enumerate(parts):
        table[:, place] = numbers
    return Features(table, tuple(described for described, _ in parts))


def _features(column: EdgeColumn, side: Side) -> Iterator[tuple[FeatureColumn, Values]]:
    name, values = side.named(column.name), column.values[side.rows]
    around = (0.0, column.before, column.after)
    of_one, of_all = column.form, WHOLE if column.form else ""  # years add up to no year
    if column.kind == "category":
        most, different = side.most_per_group(values.astype(np.int64), np.ones(len(values)))
        share = most / np.maximum(side.count, 1)
        yield FeatureColumn(name, "weight", "how many different", form=WHOLE), different
        yield FeatureColumn(name, "weight", "share of the most frequent"), share
    elif column.kind in ("date", "year"):
        kind = "time" if column.kind == "date" else "weight"
        usual = float(np.median(values)) if len(values) else 0.0
        yield FeatureColumn(name, kind, "first", form=of_one), side.smallest(values, usual)
        yield FeatureColumn(name, kind, "last", form=of_one), side.largest(values, usual)
    elif column.kind == "yes/no":
        yield FeatureColumn(name, "weight", "how many", form=WHOLE), side.total(values)
        yield FeatureColumn(name, "weight", "share"), side.mean(values)
    else:
        total = side.total(values)
        yield FeatureColumn(name, "weight", "total", *around, of_all), total
        if not column.is_named and float(np.mean(values == np.median(values))) > _NEARLY_ALL:
            return
        yield FeatureColumn(name, "weight", "mean", *around), side.mean(values)
        yield FeatureColumn(name, "weight", "smallest", *around, of_one), side.smallest(values)
        yield FeatureColumn(name, "weight", "largest", *around, of_one), side.largest(values)
        if (values >= 0).all():
            most, _ = side.most_per_group(side.partners, values)
            share = np.divide(most, total, out=np.zeros_like(total), where=total > 0)
            yield FeatureColumn(name, "weight", "share of the largest partner"), share


def _narrow(described: FeatureColumn, values: Values) -> tuple[FeatureColumn, NDArray[np.float32]]:
    if (np.abs(values) > np.finfo(np.float32).max).any():
        raise InputError(
            f"The {described.detail} of column '{described.name}' over a node's edges is beyond "
            "single precision; rescale the column."
        )
    narrow, offset = narrowed(values)
    return replace(described, offset=offset), narrow


def count_rows(
    ends: Sequence[NDArray[np.int32]], size: int, directed: bool
) -> dict[str, NDArray[np.int64]]:
    """How many rows, without self-loops, each node has in each direction, (N,)."""
    kept = ends[0] != ends[1]
    ends = ends if kept.all() else [end[kept] for end in ends]
    counts = [np.bincount(end, minlength=size) for end in ends]
    if directed:
        return {"edges sent": counts[0], "edges received": counts[1]}
    return {"edges": counts[0] + counts[1]}


def with_counts(
    graph: AttributedGraph, counts: dict[str, NDArray[np.int64]]
) -> AttributedGraph | None:
    """The graph with the number of rows as features; None unless they say more than the degree.

    They do not where hardly any edge is repeated, or all are equally often: many files list an
    undirected edge in both directions.
    """
    degrees = [graph.adjacency.degrees]
    if graph.directed:
        degrees.append(graph.adjacency.in_degrees)
    rows, edges = int(next(iter(counts.values())).sum()), int(degrees[0].sum())
    if rows <= (1.0 + _LEAST_REPEATS) * edges or all(
        np.array_equal(count * edges, degree * rows)
        for count, degree in zip(counts.values(), degrees, strict=True)
    ):
        return None
    columns = tuple(FeatureColumn(name, "weight", ROWS, form=WHOLE) for name in counts)
    features = graph.features if graph.columns else graph.features[:, :0]
    more = [count.astype(np.float32)[:, None] for count in counts.values()]
    titles = tuple(column.title for column in columns)
    return replace(
        graph,
        features=np.hstack([features, *more]),
        columns=(*graph.columns, *columns),
        feature_names=(*(graph.feature_names if graph.columns else ()), *titles),
    )


def num_repeated(graph: AttributedGraph, counts: dict[str, NDArray[np.int64]]) -> int:
    """How many rows repeat an edge, if without direction in either one."""
    rows = int(next(iter(counts.values())).sum()) // (1 if graph.directed else 2)
    return rows - graph.num_edges
