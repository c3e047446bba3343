"""Work in several processes of this machine, which share one copy of the graph."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from egoscore.engine.base import Run, Shard, Task
from egoscore.engine.shared_graph import SharedGraph
from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.progress import Advance
from egoscore.runtime import one_thread


@dataclass(frozen=True)
class Processes:
    """The engine of `num_workers` local processes."""

    num_workers: int

    def run(
        self, task: Task, graph: AttributedGraph, shards: Mapping[int, Shard], advance: Advance
    ) -> Iterator[tuple[int, Any]]:
        # spawn: a forked process could inherit a lock some thread of torch was holding
        context = get_context("spawn")
        # through a queue, as writing an argument to a process that died early would fail
        inbox = context.Queue()
        inbox.cancel_join_thread()
        shared_files = TemporaryDirectory(prefix="egoscore-", ignore_cleanup_errors=True)
        start = _start_worker, (inbox, shared_files.name)
        pool = ProcessPoolExecutor(self.num_workers, context, *start)
        try:
            shared = SharedGraph.write(graph, Path(shared_files.name))
            # as bytes: the queue would send tensors through a socket in the temporary folder, and
            # drop them without a word where the path of that folder is too long for one
            packed = pickle.dumps((task, shared))
            for _ in range(self.num_workers):
                inbox.put(packed)
            pending = {pool.submit(_work, nodes): number for number, nodes in shards.items()}
            for future in as_completed(pending):
                number = pending[future]
                yield number, future.result()
                advance(len(shards[number]))
        except BrokenProcessPool:
            raise RunError(
                "A worker process died, perhaps because memory ran out; use fewer workers, and "
                "guard the main script with 'if __name__ == \"__main__\":'. A run directory keeps "
                "finished shards: the same command continues the run."
            ) from None
        finally:
            _stop(pool)
            shared_files.cleanup()


def _stop(pool: ProcessPoolExecutor) -> None:
    """Terminate the processes at once, without waiting for their shards."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()
    pool.shutdown(cancel_futures=True)


_run: Run | None = None


def _start_worker(inbox: Any, folder: str) -> None:
    import torch

    global _run
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    torch.set_num_threads(1)
    task, shared = pickle.loads(inbox.get())
    _run = task.prepare(shared.open())


def _end_with_parent(folder: str) -> None:
    """End this process when its parent has died, and remove the parent's temporary folder."""
    try:
        parent = parent_process()
        assert parent is not None
        # at the end of a pipe: the id of a parent that died early would be that of another process
        parent.join()
        rmtree(folder, ignore_errors=True)
    finally:
        os._exit(1)


def _work(nodes: Shard) -> Any:
    assert _run is not None
    with one_thread():
        return _run(nodes, lambda count: None)
