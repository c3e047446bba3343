"""Run a benchmark: several processes, trial after trial, continuing what was begun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Protocol

from egoscore.benchmark.methods import choose_rows, job_of, jobs
from egoscore.benchmark.protocol import Draw
from egoscore.benchmark.results import Facts, Results
from egoscore.benchmark.trial import (
    FAILED,
    MEMORY,
    OK,
    TIME,
    Group,
    Record,
    Task,
    load,
    not_run,
    records_of,
)
from egoscore.benchmark.worker import Limits
from egoscore.engine.files import lock_directory
from egoscore.errors import ParameterError, RunError

# One thread for a trial, and no GPU: a process that has used one cannot be forked.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
_LIMITS = Limits(seconds=24 * 3600.0, gigabytes=16.0)


@dataclass(frozen=True)
class Benchmark:
    """What to compare, and how."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    out: Path
    trials: int = 20
    jobs: int = 1
    data_dir: str | None = None
    limits: Limits = _LIMITS
    retry: bool = False


class Watcher(Protocol):
    """Whoever wants to know how far it is."""

    def begin(self, total: int, done: int) -> None:
        """So many trials in all, so many of them done earlier."""

    def started(self, group: Group) -> None:
        """Trials run, one or several as one."""

    def parted(self, group: Group) -> None:
        """Trials that ran as one failed, and will run one by one."""

    def finished(self, group: Group, records: list[Record]) -> None:
        """Trials are over."""


def run_benchmark(plan: Benchmark, watcher: Watcher) -> Results:
    """Run all trials that have no result yet; every one is on the disk as soon as it is over."""
    if not plan.datasets:
        raise ParameterError("datasets", "names of data sets, separated by commas", "")
    wanted = choose_rows(plan.methods)
    _require_installed(wanted)
    Results.open(plan.out)  # a directory that is no benchmark's is refused as it is
    with lock_directory(plan.out):
        results = Results.open(plan.out)
        facts = {name: Facts.of(load(name, plan.data_dir), name) for name in plan.datasets}
        results.note(facts, asdict(plan.limits))
        tasks = list(_tasks(plan, wanted, results))
        watcher.begin(_count(plan, wanted), _count(plan, wanted) - len(tasks))
        if tasks:
            groups = deque(_groups(tasks, plan.jobs, results.facts))
            _run(groups, plan, results, watcher)
        return results


def _require_installed(wanted: tuple[str, ...]) -> None:
    needed = {job_of()[row].needs for row in wanted} - {""}
    absent = sorted(module for module in needed if find_spec(module) is None)
    if absent:
        raise RunError(
            f"Some of these methods need {', '.join(absent)}, which is not installed; "
            "pip install 'egoscore[bench]', or choose --methods without them."
        )


def _tasks(plan: Benchmark, wanted: tuple[str, ...], results: Results) -> Iterator[Task]:
    """Trial by trial, so that a table half-way has fewer trials, not fewer methods."""
    for dataset in plan.datasets:
        for trial in range(plan.trials):
            for job, mine in _by_job(wanted).items():
                todo = results.missing(dataset, mine, trial, plan.retry)
                if todo:
                    yield Task(dataset, plan.data_dir, job, tuple(todo), trial)


def _groups(
    tasks: Iterable[Task], num_processes: int, facts: Mapping[str, Facts]
) -> Iterator[Group]:
    """Trials that can be one stack of models go together, in as many parts as processes."""
    alike: dict[Hashable, list[Task]] = {}
    for task in tasks:
        stacks = jobs()[task.job].stacks
        draw = Draw(task.dataset, task.job, task.trial)
        shape = stacks and stacks.alike(draw, facts[task.dataset].nodes)
        mark = task.trial if shape is None else shape
        alike.setdefault((task.dataset, task.job, task.rows, mark), []).append(task)
    for those in alike.values():
        size = -(-len(those) // num_processes)
        for start in range(0, len(those), size):
            yield tuple(those[start : start + size])


def _by_job(wanted: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in wanted:
        found.setdefault(job_of()[row].name, []).append(row)
    return found


def _count(plan: Benchmark, wanted: tuple[str, ...]) -> int:
    return len(plan.datasets) * plan.trials * len(_by_job(wanted))


def _run(todo: deque[Group], plan: Benchmark, results: Results, watcher: Watcher) -> None:
    """Hand the tasks to the processes; after a limit was hit, the same job is not tried again.

    Where anything fails in a group of several, its trials run again one by one: every trial has
    its own end.
    """
    hit = {} if plan.retry else _limits_hit(results)
    with ExitStack() as stack:
        log = stack.enter_context((plan.out / "output.log").open("ab"))
        count = min(plan.jobs, sum(map(len, todo)))
        # entered first, left last: its threads wait for processes that have to be stopped before
        pool = stack.enter_context(ThreadPoolExecutor(count))
        idle: SimpleQueue[_Process] = SimpleQueue()
        for _ in range(count):
            process = _Process(plan.limits, log)
            stack.callback(process.stop)
            idle.put(process)
        running: dict[Future[list[Record]], Group] = {}
        while True:
            while len(running) < count and todo:
                group = todo.popleft()
                limit = hit.get((group[0].dataset, group[0].job))
                if limit is not None:
                    results.add(records := [r for task in group for r in not_run(task, limit)])
                    watcher.finished(group, records)
                    continue
                watcher.started(group)
                running[pool.submit(_run_one, group, idle)] = group
            if not running:
                return
            over, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in over:
                group, records = running.pop(future), future.result()
                if len(group) > 1 and any(record["status"] != OK for record in records):
                    watcher.parted(group)
                    todo.extendleft((task,) for task in reversed(group))
                    continue
                results.add(records)
                if any(record["status"] in (TIME, MEMORY) for record in records):
                    hit[group[0].dataset, group[0].job] = records
                watcher.finished(group, records)


def _limits_hit(results: Results) -> dict[tuple[str, str], list[Record]]:
    """Which jobs hit a limit on which network in an earlier run."""
    return {
        (record["dataset"], record["job"]): [record]
        for record in results.records.values()
        if record["status"] in (TIME, MEMORY)
    }


def _run_one(group: Group, idle: SimpleQueue[_Process]) -> list[Record]:
    process = idle.get()
    try:
        return process.run(group)
    finally:
        idle.put(process)


class _Process:
    """A worker process, started when there is something to do."""

    def __init__(self, limits: Limits, log: IO[bytes]) -> None:
        self._limits = limits
        self._log = log
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False

    def run(self, group: Group) -> list[Record]:
        """The records of trials; if the worker itself dies, that is what they say."""
        if self._stopped:
            return records_of(group, FAILED, "interrupted")
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([asdict(task) for task in group]) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            reason = "the process that runs trials died; see output.log"
            return records_of(group, FAILED, reason)
        records: list[Record] = json.loads(answer)
        return records

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "egoscore.benchmark.worker"]
        return subprocess.Popen(
            [*command, json.dumps(asdict(self._limits))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | _ENVIRONMENT,
            start_new_session=True,  # Ctrl-C is this process's to answer
        )

    def stop(self) -> None:
        """End it; a trial that still runs ends with it."""
        self._stopped = True
        if self._process is not None:
            with suppress(OSError):
                self._process.stdin.close()  # type: ignore[union-attr]
            self._process.wait()
            self._process.stdout.close()  # type: ignore[union-attr]
