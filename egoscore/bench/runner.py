"""Run a benchmark trial by trial in several processes, continuing an earlier run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING

from egoscore.bench.methods import choose_methods, job_of
from egoscore.bench.results import Facts, Results
from egoscore.bench.trial import FAILED, MEMORY, TIME, Record, Task, load, not_run
from egoscore.bench.worker import Limits
from egoscore.errors import ParameterError, RunError
from egoscore.run.files import lock_directory

if TYPE_CHECKING:
    from egoscore.bench.display import ShowProgress

# one thread per trial, and no GPU, as a process that has used one cannot be forked
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
_LIMITS = Limits(seconds=24 * 3600.0, gigabytes=16.0)


@dataclass(frozen=True)
class Benchmark:
    """Which methods to compare on which data sets, and how."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    out: Path
    trials: int = 20
    jobs: int = 1
    data_dir: str | None = None
    limits: Limits = _LIMITS
    retry: bool = False


def run_benchmark(plan: Benchmark, progress: ShowProgress) -> Results:
    """Run all trials without a result; each result is written as soon as the trial ends."""
    if not plan.datasets:
        raise ParameterError("datasets", "names of data sets, separated by commas", "")
    wanted = choose_methods(plan.methods)
    _require_installed(wanted)
    Results.open(plan.out)  # refuses a directory of something else before it is locked
    with lock_directory(plan.out):
        results = Results.open(plan.out)
        facts = {name: Facts.of(load(name, plan.data_dir), name) for name in plan.datasets}
        results.register(facts, asdict(plan.limits))
        methods_by_job = _by_job(wanted)
        tasks = list(_tasks(plan, methods_by_job, results))
        total = len(plan.datasets) * plan.trials * len(methods_by_job)
        progress.begin(total, total - len(tasks))
        if tasks:
            _run(tasks, plan, results, progress)
        return results


def _require_installed(wanted: tuple[str, ...]) -> None:
    needed = {job_of()[name].needs for name in wanted} - {""}
    absent = sorted(module for module in needed if find_spec(module) is None)
    if absent:
        raise RunError(
            f"Some of these methods need {', '.join(absent)}, which is not installed; "
            "pip install 'egoscore[bench]', or choose --methods without them."
        )


def _by_job(wanted: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in wanted:
        found.setdefault(job_of()[name].name, []).append(name)
    return found


def _tasks(
    plan: Benchmark, methods_by_job: Mapping[str, list[str]], results: Results
) -> Iterator[Task]:
    """All tasks, trial by trial: an unfinished table lacks trials, not methods."""
    for dataset in plan.datasets:
        for trial in range(plan.trials):
            for job, names in methods_by_job.items():
                todo = results.missing(dataset, names, trial, plan.retry)
                if todo:
                    yield Task(dataset, plan.data_dir, job, tuple(todo), trial)


def _run(tasks: list[Task], plan: Benchmark, results: Results, progress: ShowProgress) -> None:
    """Distribute the tasks among processes; a job that hit a limit is not run again."""
    hit = {} if plan.retry else _limits_hit(results)
    todo, count = iter(tasks), min(plan.jobs, len(tasks))
    running: dict[Future[list[Record]], Task] = {}

    def finish(task: Task, records: list[Record]) -> None:
        results.add(records)
        progress.finished(task, records)

    with _processes(plan, count) as submit:
        while True:
            while len(running) < count and (task := next(todo, None)) is not None:
                if limit := hit.get((task.dataset, task.job)):
                    finish(task, not_run(task, limit))
                    continue
                progress.started(task)
                running[submit(task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task, records = running.pop(future), future.result()
                if any(record["status"] in (TIME, MEMORY) for record in records):
                    hit[task.dataset, task.job] = records
                finish(task, records)


def _limits_hit(results: Results) -> dict[tuple[str, str], list[Record]]:
    """The jobs that hit a limit in an earlier run, by data set."""
    return {
        (record["dataset"], record["job"]): [record]
        for record in results.records.values()
        if record["status"] in (TIME, MEMORY)
    }


@contextmanager
def _processes(plan: Benchmark, count: int) -> Iterator[Callable[[Task], Future[list[Record]]]]:
    """A function that runs a task in one of `count` processes, which end with this context."""
    scratch = plan.out / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)  # left by a run that was killed
    scratch.mkdir()
    idle: SimpleQueue[_Process] = SimpleQueue()

    def run(task: Task) -> list[Record]:
        process = idle.get()
        try:
            return process.run(task)
        finally:
            idle.put(process)

    with ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        log = stack.enter_context((plan.out / "output.log").open("ab"))
        # entered before the processes: they must be stopped before its threads can end
        pool = stack.enter_context(ThreadPoolExecutor(count))
        for _ in range(count):
            process = _Process(plan.limits, log, scratch)
            stack.callback(process.stop)
            idle.put(process)
        yield lambda task: pool.submit(run, task)


class _Process:
    """A worker process, started with its first task."""

    def __init__(self, limits: Limits, log: IO[bytes], scratch: Path) -> None:
        self._limits = limits
        self._scratch = scratch
        self._log = log
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False

    def run(self, task: Task) -> list[Record]:
        """The records of a trial, also if the worker itself dies."""
        if self._stopped:
            return task.records(FAILED, "interrupted")
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(asdict(task)) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            return task.records(FAILED, "the process that runs trials died; see output.log")
        records: list[Record] = json.loads(answer)
        return records

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "egoscore.bench.worker"]
        return subprocess.Popen(
            [*command, json.dumps(asdict(self._limits))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | _ENVIRONMENT | {"TMPDIR": str(self._scratch.resolve())},
            start_new_session=True,  # this process handles Ctrl-C
        )

    def stop(self) -> None:
        """Stop the process together with the trial that it runs."""
        self._stopped = True
        if self._process is not None:
            with suppress(OSError):
                self._process.stdin.close()  # type: ignore[union-attr]
            self._process.wait()
            self._process.stdout.close()  # type: ignore[union-attr]
