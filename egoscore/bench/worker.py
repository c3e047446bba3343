"""A process that runs trials one after the other, each in a forked copy of itself with limits.

    python -m egoscore.bench.worker LIMITS        (started by `egoscore.bench.runner`)

It reads tasks as lines of JSON and writes records as lines of JSON. Slow imports are done once; a
trial is forked from there, so that it starts at once, has its own memory, and can be killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TextIO

from egoscore.bench.methods import jobs
from egoscore.bench.trial import (
    FAILED,
    MAXRSS_PER_MB,
    MEMORY,
    TIME,
    Record,
    Task,
    load,
    one_line,
    run_trial,
)
from egoscore.detector import EgoScore
from egoscore.load.generate import generate_network
from egoscore.runtime import one_thread

_RECORDS = 1000  # a file descriptor that nothing else uses


@dataclass(frozen=True)
class Limits:
    """What a trial may use: seconds by the clock, and gigabytes of memory."""

    seconds: float
    gigabytes: float


def run_limited(task: Task, limits: Limits, tasks: TextIO) -> list[Record]:
    """Run a trial in a child process, which also ends when nobody writes to `tasks` any more."""
    try:
        _prepare(task)
    except Exception as error:  # a library may fail to load in any way
        return task.records(FAILED, one_line(error))
    with TemporaryDirectory(prefix="egoscore-") as scratch:  # removed however the trial ends
        return _run_forked(task, limits, tasks, scratch)


def _run_forked(task: Task, limits: Limits, tasks: TextIO, scratch: str) -> list[Record]:
    reading, writing = os.pipe()
    began = time.monotonic()
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        tempfile.tempdir = scratch
        _run_in_child(task, limits, writing, worker)
    os.close(writing)
    try:
        lines, is_late = _read_lines(reading, began + limits.seconds, tasks)
    except BaseException:
        _kill(child)
        raise
    finally:
        os.close(reading)
    if is_late:
        _kill(child)
    _, status, usage = os.wait4(child, 0)
    _kill(child)  # processes that it may have left behind
    used: dict[str, Any] = {
        "seconds": round(time.monotonic() - began, 3),
        "time_limit": limits.seconds,
        "memory_limit": limits.gigabytes,
    }
    chosen: dict[str, Any] = {}
    for line in lines:
        if "records" in line:
            return [record | used for record in line["records"]]
        chosen |= line["chosen"]
    # it was killed, or died before it had written its records
    failure = (TIME, f"more than {limits.seconds:g} s") if is_late else _failure(status)
    used |= {
        "parameters": chosen,
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_mb": round(usage.ru_maxrss / MAXRSS_PER_MB, 1),
    }
    return [record | used for record in task.records(*failure)]


def _prepare(task: Task) -> None:
    """Load what every child would otherwise load: libraries, kernels, the graph."""
    _load_kernels()
    if jobs()[task.job].needs:
        import_module(jobs()[task.job].needs)
    load(task.dataset, task.data_dir)


@cache
def _load_kernels() -> None:
    tiny: Any = {"num_levels": 1, "num_samples": 1, "hidden_size": 4}
    with one_thread():
        graph = generate_network(20, 30, 2)
        EgoScore("paper", epochs=1, steps=2, **tiny).fit(graph)
        EgoScore(updates=1, hidden_size=4).fit(graph)


def _run_in_child(task: Task, limits: Limits, writing: int, worker: int) -> None:
    """Run the trial, write chosen parameters and records, and exit without cleaning up."""
    code = 1

    def write(**line: Any) -> None:
        os.write(writing, json.dumps(line).encode() + b"\n")

    try:
        os.setpgid(0, 0)  # so that it can be killed together with the processes it starts
        Thread(target=_end_with, args=(worker,), daemon=True).start()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, _RECORDS)  # else the runner would wait for this process if the worker dies
        largest = int(limits.gigabytes * 2**30)
        with contextlib.suppress(ValueError, OSError):  # not every system can limit it
            resource.setrlimit(resource.RLIMIT_DATA, (largest, largest))
        records = run_trial(task, lambda name, value: write(chosen={name: value}))
        write(records=records)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_with(worker: int) -> None:
    """End this process when the worker that started it has died."""
    while os.getppid() == worker:
        time.sleep(1.0)
    os._exit(1)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _read_lines(reading: int, deadline: float, tasks: TextIO) -> tuple[list[Any], bool]:
    """The complete lines that the child writes, and whether it still ran at the deadline."""
    text = b""
    while True:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([reading, tasks.fileno()], [], [], max(0.0, left))
        if tasks.fileno() in ready:  # nothing is sent during a trial: the other side has gone
            sys.exit(1)
        part = os.read(reading, 65_536) if ready else b""
        text += part
        if not part or (b'"records"' in text and text.endswith(b"\n")):
            return [json.loads(line) for line in text.split(b"\n")[:-1]], not ready


def _failure(status: int) -> tuple[str, str]:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return MEMORY, "killed, as the system does when memory runs out"
    if os.WIFSIGNALED(status):
        return FAILED, f"died of signal {os.WTERMSIG(status)}"
    return FAILED, "the process ended without a result"


def main() -> None:
    """Run tasks until there are no more."""
    limits = Limits(**json.loads(sys.argv[1]))
    os.dup2(1, _RECORDS)
    os.dup2(2, 1)  # what libraries print is not a record
    records = os.fdopen(_RECORDS, "w")
    for line in sys.stdin:
        given = json.loads(line)
        task = Task(**given | {"methods": tuple(given["methods"])})
        records.write(json.dumps(run_limited(task, limits, sys.stdin)) + "\n")
        records.flush()


if __name__ == "__main__":
    main()
