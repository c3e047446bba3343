"""One trial: from a graph without labels to one record per method."""

from __future__ import annotations

import errno
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.bench.methods import jobs
from egoscore.bench.protocol import Hyperparameters, Score, ignore_choice
from egoscore.graph import AttributedGraph
from egoscore.load.source import load_source
from egoscore.metrics import auc_interval, evaluate, known_only
from egoscore.runtime import one_thread

Record = dict[str, Any]
OK, FAILED, TIME, MEMORY = "ok", "failed", "TLE", "OOM"
METRICS = ("roc_auc", "average_precision", "recall_at_k")


@dataclass(frozen=True)
class Task:
    """What to run: some methods of a job on one data set in one trial."""

    dataset: str
    data_dir: str | None
    job: str
    methods: tuple[str, ...]
    trial: int

    def records(self, status: str, reason: str) -> list[Record]:
        """A record for every method, all with the same status."""
        return [self.record(name, status, reason) for name in self.methods]

    def record(self, method: str, status: str, reason: str = "") -> Record:
        """The fields that every record has."""
        known = {"dataset": self.dataset, "method": method, "job": self.job, "trial": self.trial}
        return known | {"status": status, "reason": reason}


@lru_cache(maxsize=1)
def load(dataset: str, data_dir: str | None) -> AttributedGraph:
    """The graph, cached for the trials on it."""
    return load_source(dataset, data_dir)


def without_labels(graph: AttributedGraph) -> AttributedGraph:
    """The graph as methods get it, without any information about outliers."""
    return replace(graph, labels=None, node_info={})


def run_trial(task: Task, report: Callable[[str, Any], None] = ignore_choice) -> list[Record]:
    """Score the nodes and compare with the labels; a failure is a record, too.

    `report` is called with every parameter that is chosen.
    """
    graph = load(task.dataset, task.data_dir)
    parameters = Hyperparameters(task.dataset, task.job, task.trial, report)
    began, start = time.process_time(), peak_memory()
    try:
        with one_thread():
            scores = jobs()[task.job].run(
                without_labels(graph), parameters, frozenset(task.methods)
            )
        records = [_evaluated(task, name, graph, scores[name]) for name in task.methods]
    except Exception as error:  # a rival may fail in any way, which is a result
        traceback.print_exc()
        records = task.records(_status(error), one_line(error))
    cost = {
        "parameters": parameters.chosen,
        "cpu_seconds": round(time.process_time() - began, 3),
        "start_mb": round(start, 1),
        "peak_mb": round(peak_memory(), 1),
    }
    return [record | cost for record in records]


def _evaluated(task: Task, method: str, graph: AttributedGraph, score: Score) -> Record:
    """The record of a method, with metrics or the reason why there are none."""
    try:
        if isinstance(score, Exception):
            raise score
        return task.record(method, OK) | _metrics(graph, score)
    except Exception as error:
        return task.record(method, _status(error), one_line(error))


def _metrics(graph: AttributedGraph, score: NDArray[np.floating]) -> Record:
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
    interval = auc_interval(*known_only(graph.labels, score))
    record["roc_auc_interval"] = [round(end, 4) for end in interval]
    constant = np.ptp(score) == 0 or np.ptp(graph.neighbours.degrees) == 0
    size = 0.0 if constant else float(spearmanr(score, graph.neighbours.degrees).statistic)
    return record | {"size_correlation": size}


def _status(error: Exception) -> str:
    """OOM if an error means that memory ran out, which each library says in its own way."""
    text = str(error).lower()
    signs = ("allocate memory", "not enough memory", "bad_alloc")
    lacks = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    return MEMORY if lacks or any(sign in text for sign in signs) else FAILED


def one_line(error: BaseException) -> str:
    """An error on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500]


MAXRSS_PER_MB = 2**20 if sys.platform == "darwin" else 2**10  # the system's unit


def peak_memory() -> float:
    """The peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MAXRSS_PER_MB


def not_run(task: Task, records: Iterable[Record]) -> list[Record]:
    """Records of a trial that is skipped because another one hit a limit."""
    first = next(iter(records))
    reason = f"not run: trial {first['trial']} hit the limit ({first['reason']})"
    limits = {name: first[name] for name in ("time_limit", "memory_limit") if name in first}
    return [record | limits for record in task.records(first["status"], reason)]
