"""Measure all nodes of a graph shard by shard, with any engine; finished shards are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.detectors.base import Facts, Store
from egoscore.detectors.paper.components import ComponentTable, column_names, measure
from egoscore.detectors.paper.ego import padded_entries
from egoscore.detectors.paper.model import FittedModel
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.steps import levels
from egoscore.engine import choose_engine
from egoscore.engine.base import Run
from egoscore.graph import AttributedGraph
from egoscore.progress import Advance
from egoscore.runtime import release_memory

_SMALLEST_SHARD, _LARGEST_SHARD = 2**16, 2**22  # in entries of padded ego-graphs


@dataclass(frozen=True)
class MeasureTask:
    """Measures the nodes of a graph that is scaled already."""

    model: FittedModel
    device: torch.device

    def prepare(self, graph: AttributedGraph) -> Run:
        model = self.model
        egos = model.cut(graph, self.device)
        networks = model.scoring_networks().to(self.device)

        def run(nodes: NDArray[np.int64], advance: Advance) -> ComponentTable:
            table = measure(egos, networks, model.settings, model.seed, nodes, advance)
            release_memory()
            return table

        return run


def measure_nodes(
    model: FittedModel,
    graph: AttributedGraph,
    device: torch.device,
    num_workers: int = 1,
    store: Store | None = None,
    advance: Advance = lambda count: None,
) -> ComponentTable:
    """The component table of all nodes; shards that `store` has are not measured again."""
    tables: dict[int, ComponentTable] = {}
    todo: dict[int, NDArray[np.int64]] = {}
    for number, nodes in enumerate(shards(model.ego_sizes(graph))):
        kept = _load(store, number, nodes, model.settings) if store is not None else None
        if kept is None:
            todo[number] = nodes
        else:
            tables[number] = kept
            advance(len(nodes))
    if todo:
        engine = choose_engine(min(num_workers, len(todo)))
        task = MeasureTask(model, device)
        for number, table in engine.run(task, model.scaled(graph), todo, advance):
            tables[number] = table
            if store is not None:
                store.save_shard(number, table.columns(), _facts(model.settings))
    return ComponentTable.join([tables[number] for number in sorted(tables)])


def _facts(settings: PaperSettings) -> Facts:
    """What the columns of a shard do not say."""
    return {"taus": levels(settings.num_levels), "num_samples": settings.num_samples}


def _load(
    store: Store, number: int, nodes: NDArray[np.int64], settings: PaperSettings
) -> ComponentTable | None:
    """The shard of these nodes if it was finished earlier with these settings."""
    columns, facts = store.load_shard(number) or ({}, {})
    is_whole = facts == _facts(settings) and set(columns) == set(column_names(facts["taus"]))
    if not is_whole or not np.array_equal(columns["node"], nodes):
        return None
    return ComponentTable.from_columns(columns, **facts)


def shards(ego_sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """All node numbers in shards of about equal cost, small enough to lose one.

    They are sorted by the size of the ego-graph, largest first, so that batches are full and the
    most expensive shards do not come last.
    """
    order = np.argsort(-ego_sizes, kind="stable")
    done = np.cumsum(padded_entries(ego_sizes[order]))
    limit = min(max(int(done[-1]) // 64, _SMALLEST_SHARD), _LARGEST_SHARD)
    starts = np.flatnonzero(np.diff((done - 1) // limit)) + 1
    return [np.sort(part) for part in np.split(order, starts)]
