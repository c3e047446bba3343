"""One trial, or several at once: a network without labels in, a record per row and trial out."""

from __future__ import annotations

import errno
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.benchmark.methods import Job, jobs
from egoscore.benchmark.ours import Score, Scores
from egoscore.benchmark.protocol import Draw, tell_nobody
from egoscore.device import one_thread
from egoscore.graph import AttributedGraph
from egoscore.read.source import load_source
from egoscore.tell.metrics import auc_interval, evaluate

Record = dict[str, Any]
OK, FAILED, TIME, MEMORY = "ok", "failed", "TLE", "OOM"
METRICS = ("roc_auc", "average_precision", "recall_at_k")


@dataclass(frozen=True)
class Task:
    """What to run: some rows of a job, on one network, in one trial."""

    dataset: str
    data_dir: str | None
    job: str
    rows: tuple[str, ...]
    trial: int

    def records(self, status: str, reason: str) -> list[Record]:
        """A record for every row, all with the same status."""
        return [self.record(row, status, reason) for row in self.rows]

    def record(self, row: str, status: str, reason: str = "") -> Record:
        """What is known of a row whatever comes out of it, and how it ended."""
        known = {"dataset": self.dataset, "method": row, "job": self.job, "trial": self.trial}
        return known | {"status": status, "reason": reason}


Group = tuple[Task, ...]  # run as one; they differ in their trials


def records_of(group: Group, status: str, reason: str) -> list[Record]:
    """A record for every row of every trial, all with the same status."""
    return [record for task in group for record in task.records(status, reason)]


@lru_cache(maxsize=1)
def load(dataset: str, data_dir: str | None) -> AttributedGraph:
    """The network; kept, so that the trials on it share it."""
    return load_source(dataset, data_dir)


def blind(graph: AttributedGraph) -> AttributedGraph:
    """The network as methods may see it: nothing in it tells which nodes are outliers."""
    return replace(graph, labels=None, node_info={})


def run_trials(group: Group, tell: Callable[[str, Any], None] = tell_nobody) -> list[Record]:
    """Score the nodes, then compare with the labels; what fails is a record, too.

    `tell` hears of every parameter as it is drawn.
    """
    graph = load(group[0].dataset, group[0].data_dir)
    draws = [Draw(task.dataset, task.job, task.trial, tell) for task in group]
    began, start = time.process_time(), peak_memory()
    try:
        with one_thread():
            found = _run(jobs()[group[0].job], blind(graph), draws, frozenset(group[0].rows))
        records = [
            [_judged(task, row, graph, scores[row]) for row in task.rows]
            for task, scores in zip(group, found, strict=True)
        ]
    except Exception as error:  # a rival may fail in any way, and every way is a result
        traceback.print_exc()
        records = [task.records(_kind(error), sentence(error)) for task in group]
    cost = {
        "cpu_seconds": round((time.process_time() - began) / len(group), 3),
        "start_mb": round(start, 1),
        "peak_mb": round(peak_memory(), 1),
        "together": len(group),
    }
    return [
        record | {"parameters": draw.chosen} | cost
        for draw, own in zip(draws, records, strict=True)
        for record in own
    ]


def _run(
    job: Job, graph: AttributedGraph, draws: Sequence[Draw], wanted: frozenset[str]
) -> list[Scores]:
    if job.stacks is not None:
        return job.stacks.run_together(graph, draws, wanted)
    return [job.run(graph, draw, wanted) for draw in draws]


def _judged(task: Task, row: str, graph: AttributedGraph, score: Score) -> Record:
    """The record of a row: its metrics, or why it has none."""
    try:
        if isinstance(score, Exception):
            raise score
        return task.record(row, OK) | _judge(graph, score)
    except Exception as error:
        return task.record(row, _kind(error), sentence(error))


def _judge(graph: AttributedGraph, score: NDArray[np.floating]) -> Record:
    """Metrics of a score (N,), and its rank correlation with the size of the ego-graph."""
    from scipy.stats import spearmanr

    if np.shape(score) != (graph.num_nodes,):
        raise ValueError(f"There are {np.shape(score)} scores for {graph.num_nodes} nodes.")
    wrong = int(np.count_nonzero(~np.isfinite(score)))
    if wrong:
        raise ValueError(f"{wrong} of {len(score)} scores are not finite.")
    assert graph.labels is not None
    found = evaluate(graph.labels, score)
    assert found is not None
    values = asdict(found)
    record: Record = {metric: values[metric] for metric in METRICS}
    record["roc_auc_interval"] = [round(end, 4) for end in auc_interval(graph.labels, score)]
    constant = np.ptp(score) == 0 or np.ptp(graph.neighbours.degrees) == 0
    size = 0.0 if constant else float(spearmanr(score, graph.neighbours.degrees).statistic)
    return record | {"size_correlation": size}


def _kind(error: Exception) -> str:
    """Whether an error means that memory ran out; libraries say it in different ways."""
    said = str(error).lower()
    signs = ("allocate memory", "not enough memory", "bad_alloc")
    lacks = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return MEMORY if lacks or any(sign in said for sign in signs) else FAILED


def sentence(error: BaseException) -> str:
    """What went wrong, in a line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500]


MAXRSS_PER_MB = 2**20 if sys.platform == "darwin" else 2**10  # the system's unit


def peak_memory() -> float:
    """The largest memory this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MAXRSS_PER_MB


def not_run(task: Task, records: Iterable[Record]) -> list[Record]:
    """Records of a trial that is skipped because an earlier one hit a limit."""
    first = next(iter(records))
    reason = f"not run: trial {first['trial']} hit the limit ({first['reason']})"
    limits = {name: first[name] for name in ("time_limit", "memory_limit") if name in first}
    return [record | limits for record in task.records(first["status"], reason)]
