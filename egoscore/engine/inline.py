"""Work in this process, one shard after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from egoscore.engine.base import Shard, Task
from egoscore.graph import AttributedGraph
from egoscore.progress import Advance


class Inline:
    """The engine without further processes."""

    def run(
        self, task: Task, graph: AttributedGraph, shards: Mapping[int, Shard], advance: Advance
    ) -> Iterator[tuple[int, Any]]:
        run = task.prepare(graph)
        for number, nodes in shards.items():
            yield number, run(nodes, advance)
