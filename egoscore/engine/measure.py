"""Measure many nodes: shard by shard, in one process or several, keeping what is done."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.device import one_thread
from egoscore.ego import EgoGraphs, padded_entries
from egoscore.engine.model import FittedModel, with_positions
from egoscore.engine.share import SharedGraph
from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.learn import GenerativeModel
from egoscore.memory import give_back_memory
from egoscore.score import ComponentTable, measure

_SMALLEST_SHARD, _LARGEST_SHARD = 2**16, 2**22  # in entries of padded ego-graphs


class ShardStore(Protocol):
    """Where finished shards are kept."""

    def load_shard(self, number: int, nodes: NDArray[np.int64]) -> ComponentTable | None:
        """The shard of these nodes, if it was finished earlier."""

    def save_shard(self, number: int, table: ComponentTable) -> None:
        """Keep a finished shard."""


@dataclass(frozen=True)
class _Job:
    """What a process needs to measure any shard."""

    egos: EgoGraphs
    networks: GenerativeModel
    model: FittedModel

    @classmethod
    def prepare(cls, model: FittedModel, scaled: AttributedGraph, device: torch.device) -> _Job:
        return cls(model.cut(scaled, device), model.scoring_networks().to(device), model)

    def run(
        self, nodes: NDArray[np.int64], advance: Callable[[int], None] = lambda count: None
    ) -> ComponentTable:
        model = self.model
        how = model.sde, model.reconstruction, model.seed
        table = measure(self.egos, self.networks, *how, nodes, advance)
        give_back_memory()
        return table


def measure_nodes(
    model: FittedModel,
    graph: AttributedGraph,
    device: torch.device,
    num_workers: int = 1,
    store: ShardStore | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> ComponentTable:
    """The component table of all nodes of `graph`; shards kept in `store` are not done again."""
    tables: dict[int, ComponentTable] = {}
    todo: dict[int, NDArray[np.int64]] = {}
    for number, nodes in enumerate(shards(model.ego_sizes(graph))):
        kept = store.load_shard(number, nodes) if store is not None else None
        if kept is None:
            todo[number] = nodes
        else:
            tables[number] = kept
            advance(len(nodes))
    for number, table in _measured(
        model, graph, device, min(num_workers, len(todo)), todo, advance
    ):
        tables[number] = table
        if store is not None:
            store.save_shard(number, table)
    return ComponentTable.join([tables[number] for number in sorted(tables)])


def measure_models(
    models: Sequence[FittedModel], graph: AttributedGraph, device: torch.device
) -> list[ComponentTable]:
    """The component tables of all nodes by several models, each what it is alone.

    The models differ in weights and seeds, and run as one stack.
    """
    first, seeds = models[0], [model.seed for model in models]
    if len(models) == 1:
        return [measure_nodes(first, graph, device)]
    scaled = with_positions(first.scaling.apply(graph), first.settings, seeds)
    egos = EgoGraphs(scaled, first.settings.num_hops, first.max_nodes, seeds, device)
    networks = GenerativeModel.side_by_side([model.scoring_networks() for model in models])
    how = first.sde, first.reconstruction, seeds
    tables = []
    for nodes in shards(egos.sizes):
        tables.append(measure(egos, networks, *how, nodes))
        give_back_memory()
    return ComponentTable.join(tables).apart(len(models))


def shards(ego_sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """All node numbers, in runs of about the same work: small enough to lose one.

    Large ego-graphs come first and equal ones together, so that batches are full and no process
    is left with the longest run at the end.
    """
    order = np.argsort(-ego_sizes, kind="stable")
    done = np.cumsum(padded_entries(ego_sizes[order]))
    limit = min(max(int(done[-1]) // 64, _SMALLEST_SHARD), _LARGEST_SHARD)
    starts = np.flatnonzero(np.diff((done - 1) // limit)) + 1
    return [np.sort(part) for part in np.split(order, starts)]


def _measured(
    model: FittedModel,
    graph: AttributedGraph,
    device: torch.device,
    num_workers: int,
    todo: dict[int, NDArray[np.int64]],
    advance: Callable[[int], None],
) -> Iterator[tuple[int, ComponentTable]]:
    if num_workers <= 1:
        if todo:
            job = _Job.prepare(model, model.scaled(graph), device)
            for number, nodes in todo.items():
                yield number, job.run(nodes, advance)
        return
    # spawn: a forked process could inherit a lock some thread of torch was holding
    context = get_context("spawn")
    # Through a queue: as an argument it would be written to a process that may have died at once.
    inbox = context.Queue()
    inbox.cancel_join_thread()
    pool = ProcessPoolExecutor(num_workers, context, _start_worker, (inbox,))
    shared_files = TemporaryDirectory(prefix="egoscore-", ignore_cleanup_errors=True)
    try:
        shared = SharedGraph.write(model.scaled(graph), Path(shared_files.name))
        for _ in range(num_workers):
            inbox.put((model, shared, device))
        pending = {pool.submit(_run_in_worker, nodes): number for number, nodes in todo.items()}
        for future in as_completed(pending):
            number = pending[future]
            yield number, future.result()
            advance(len(todo[number]))
    except BrokenProcessPool:
        raise RunError(
            "A scoring process died, perhaps for want of memory; use fewer workers, and guard "
            "the main script with 'if __name__ == \"__main__\":'. A run directory keeps what was "
            "finished: the same command continues it."
        ) from None
    finally:
        _stop(pool)
        shared_files.cleanup()


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the processes at once: what they still have in hand is not wanted any more."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()
    pool.shutdown(cancel_futures=True)


_worker_job: _Job | None = None


def _start_worker(inbox: Any) -> None:
    global _worker_job
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    torch.set_num_threads(1)
    model, shared, device = inbox.get()
    _worker_job = _Job.prepare(model, shared.open(), device)


def end_with(parent: int) -> None:
    """End this process when its parent is gone: nobody would, if the parent was killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _run_in_worker(nodes: NDArray[np.int64]) -> ComponentTable:
    assert _worker_job is not None
    with one_thread():
        return _worker_job.run(nodes)
