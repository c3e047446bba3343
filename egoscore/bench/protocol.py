"""BOND's protocol: what a method gets in a trial, and what it returns.

Liu et al., "BOND: Benchmarking unsupervised outlier node detection on static attributed graphs",
2022, with the grid of the paper: hidden sizes depend on the data set, and so do epochs and batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph

_WEIBO = (32, 64, 128, 256)
HIDDEN_SIZES = {"reddit": (32, 48, 64), "weibo": _WEIBO, "weibo-like": _WEIBO}
EPOCHS = {"dgraph": 2, "dgraph-like": 2}
BATCH_SIZES = {"weibo": 2048, "weibo-like": 2048, "disney": 0, "books": 0}
_GRID: dict[str, tuple[Any, ...]] = {
    "lr": (0.1, 0.05, 0.01),
    "alpha": (0.8, 0.5, 0.2),
    "dropout": (0.0, 0.1, 0.3),
}
WEIGHT_DECAY = 0.01


def ignore_choice(name: str, value: Any) -> None:
    """Report a chosen value to nobody."""


@dataclass
class Hyperparameters:
    """The hyperparameters of one trial.

    A value depends on (data set, job, trial, name) only, not on other values or trials. `chosen`
    collects all values chosen so far; `report` is called with each of them.
    """

    dataset: str
    job: str
    trial: int
    report: Callable[[str, Any], None] = ignore_choice
    chosen: dict[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """The seed of the trial: its number, so that all methods have the same seeds."""
        return self.trial

    @property
    def epochs(self) -> int:
        """Epochs of training: 300, or 2 for graphs of millions of nodes."""
        return EPOCHS.get(self.dataset, 300)

    @property
    def batch_size(self) -> int:
        """Ego-graphs per optimiser step; 0 for all."""
        return BATCH_SIZES.get(self.dataset, 4096)

    def choose(self, name: str, options: Sequence[Any] | None = None) -> Any:
        """One of the options with equal probability, by default from the shared grid."""
        among = self._shared(name) if options is None else options
        key = f"{self.dataset}\0{self.job}\0{self.trial}\0{name}".encode()
        word = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
        value = self.chosen[name] = among[word % len(among)]
        self.report(name, value)
        return value

    def _shared(self, name: str) -> Sequence[Any]:
        if name == "hidden_size":
            return HIDDEN_SIZES.get(self.dataset, (8, 12, 16))
        return _GRID[name]


Score = NDArray[np.floating] | Exception  # (N,), or why there is none
Scores = dict[str, Score]
Run = Callable[[AttributedGraph, Hyperparameters, frozenset[str]], Scores]
_MANY = 4  # methods of a job that are not listed one by one


@dataclass(frozen=True)
class Method:
    """A row of the table: its title, the group that it belongs to, and its known defect."""

    title: str
    group: str
    defect: str = ""


@dataclass(frozen=True)
class Job:
    """The unit of work of a trial, which computes one or several methods, often from one model.

    `run` computes the scores of the wanted methods from a graph without labels; `needs` is the
    module that must be installed, from the extra `bench`; `title` names the methods together.
    """

    name: str
    methods: Mapping[str, Method]
    run: Run
    needs: str = ""
    title: str = ""

    def title_of(self, names: Sequence[str]) -> str:
        """The titles of these methods of the job."""
        titles = [self.methods[name].title for name in names]
        if len(titles) < _MANY:
            listed = "; ".join(titles)
        else:
            listed = f"{titles[0]} … {titles[-1]} ({len(titles)} rows)"
        return f"{self.title}: {listed}" if self.title and len(titles) > 1 else listed
