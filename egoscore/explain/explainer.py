"""The interface of explainers: each detector finds the reasons of a node in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from egoscore.explain.explanation import Component, Reasons
from egoscore.explain.peers import percentile

_LONGEST = 80
MOST = 8  # features, and ties of each kind, in an explanation


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
        """A cause as a clause of a sentence."""

    @abstractmethod
    def in_short(self, cause: str, reasons: Reasons) -> str:
        """A cause in a few words, for a list."""


def components_of(
    columns: Mapping[str, NDArray[np.floating]], group: NDArray[np.int64], node: int
) -> tuple[Component, ...]:
    """Every column's value at `node`, and how unusual it is among a group of nodes."""
    found = []
    for name, values in columns.items():
        value = float(values[node])
        found.append(Component(name, round(value, 6), round(percentile(values[group], value), 1)))
    return tuple(found)


def shortened(name: str) -> str:
    """A name that fits into a sentence; the middle of a long one is left out."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[-_LONGEST // 2 :]}"
