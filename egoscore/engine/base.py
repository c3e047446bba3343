"""What an engine does, run a task on shards of a graph's nodes; and the simplest engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph
from egoscore.progress import Advance

Shard = NDArray[np.int64]
Run = Callable[[Shard, Advance], Any]


class Task(Protocol):
    """Work on shards of a graph. It is pickled; the graph is passed separately."""

    def prepare(self, graph: AttributedGraph) -> Run:
        """What a process needs once, before it works on any shard."""


class Engine(Protocol):
    """A place where tasks run."""

    def run(
        self, task: Task, graph: AttributedGraph, shards: Mapping[int, Shard], advance: Advance
    ) -> Iterator[tuple[int, Any]]:
        """The number and the result of every shard as it is finished.

        `advance` is called with the number of nodes that are done.
        """


@dataclass(frozen=True)
class Inline:
    """Works in this process, one shard after the other."""

    num_workers: int = 1

    def run(
        self, task: Task, graph: AttributedGraph, shards: Mapping[int, Shard], advance: Advance
    ) -> Iterator[tuple[int, Any]]:
        run = task.prepare(graph)
        for number, nodes in shards.items():
            yield number, run(nodes, advance)
