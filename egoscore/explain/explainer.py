"""The interface of explainers, and what they share: peers of a node, parts of a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Component, Reasons
from egoscore.graph import AttributedGraph
from egoscore.text import counted

MOST = 8  # features, and ties of each kind, in an explanation
MOST_NODES = 24  # in a picture
_LONGEST = 80  # characters of a name
_ENOUGH = 100  # peers
_RATIOS = (1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 16.0, np.inf)


class Explainer(ABC):
    """Finds the reasons of any node of one graph.

    `proviso` is added to statements about how rare a score is.
    """

    proviso = ""

    @abstractmethod
    def reasons(self, node: int) -> Reasons:
        """Why the node of this number has its score."""

    @abstractmethod
    def phrase(self, cause: str, reasons: Reasons) -> str:
        """A cause as a sentence that begins with a small letter and has no full stop."""

    @abstractmethod
    def in_short(self, cause: str, reasons: Reasons) -> str:
        """A cause in a few words, for a list."""


def peers_of(ego_size: NDArray[np.integer], node: int) -> NDArray[np.int64]:
    """The nodes with ego-graphs of a similar size: at least 100 if there are as many."""
    size = int(ego_size[node])
    found = np.arange(len(ego_size))
    for ratio in _RATIOS:
        near = (ego_size >= size / ratio) & (ego_size <= size * ratio)
        found = np.flatnonzero(near)
        if len(found) >= _ENOUGH:
            break
    return found


def describe_peers(ego_size: NDArray[np.integer], group: NDArray[np.int64]) -> str:
    """These nodes in words: how many there are, and the sizes of their ego-graphs."""
    low, high = int(ego_size[group].min()), int(ego_size[group].max())
    span = counted(high, "node") if low == high else f"{low:,} to {counted(high, 'node')}"
    whose = "whose ego-graph has" if len(group) == 1 else "whose ego-graphs have"
    return f"{counted(len(group), 'node')} {whose} {span}"


def percentile(values: NDArray[np.floating], value: float, equals: float = 0.0) -> float:
    """The percentage of `values` that are smaller; `equals` is how much each equal one counts."""
    less, equal = (values < value).mean(), (values == value).mean()
    return 100.0 * float(less + equals * equal)


def surprise(values: NDArray[np.floating], value: float) -> float:
    """Minus the logarithm of how rare `value`, one of `values`, is; equal values count half."""
    return -float(np.log(1.0 - percentile(values, value, equals=0.5) / 100.0))


def components_of(
    columns: Mapping[str, NDArray[np.floating]], group: NDArray[np.int64], node: int
) -> tuple[Component, ...]:
    """Every column's value at `node`, and how unusual it is among a group of nodes."""
    found = []
    for name, values in columns.items():
        value = float(values[node])
        found.append(Component(name, round(value, 6), round(percentile(values[group], value), 4)))
    return tuple(found)


def shortened(name: str) -> str:
    """A name that fits into a sentence; the middle of a long one is left out."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[-_LONGEST // 2 :]}"


def shades(
    actual: NDArray[np.floating], expected: NDArray[np.floating]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both (n,) scaled to 0 for the smallest of all values and 1 for the largest."""
    low = min(float(actual.min()), float(expected.min()))
    spread = max(float(actual.max()), float(expected.max())) - low or 1.0
    first, second = (
        np.round((part.astype(np.float64) - low) / spread, 3).tolist()
        for part in (actual, expected)
    )
    return tuple(first), tuple(second)


def pairs_within(graph: AttributedGraph, nodes: Sequence[int]) -> list[tuple[int, int]]:
    """The edges between `nodes`, as pairs of places in the list, each once."""
    chosen = np.asarray(nodes)
    links = graph.neighbours.to_scipy()[chosen][:, chosen].tocoo()
    upper = links.row < links.col
    pairs = zip(links.row[upper].tolist(), links.col[upper].tolist(), strict=True)
    return sorted(pairs)


def names_of(graph: AttributedGraph, nodes: Sequence[int]) -> tuple[str, ...]:
    """What nodes are shown as, with the middle of long names left out."""
    return tuple(shortened(graph.shown(node)) for node in nodes)
