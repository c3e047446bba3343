"""A process that runs trials one after the other, each in a copy of itself with limits.

    python -m egoscore.benchmark.worker LIMITS        (started by `egoscore.benchmark.runner`)

Groups of tasks come in as lines of JSON, records go out as lines of JSON. What takes seconds to
import is imported once; a trial, or a group of trials that run as one, is forked from there, so
that it starts at once, its memory is its own, and it can be killed.
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
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, TextIO

from egoscore.benchmark.methods import jobs
from egoscore.benchmark.trial import (
    FAILED,
    MAXRSS_PER_MB,
    MEMORY,
    TIME,
    Group,
    Record,
    Task,
    load,
    records_of,
    run_trials,
    sentence,
)
from egoscore.detector import EgoScore
from egoscore.device import one_thread
from egoscore.engine.measure import end_with
from egoscore.graph.generated import generate_network

_ANSWERS = 1000  # a file descriptor that nothing else uses


@dataclass(frozen=True)
class Limits:
    """What a trial may take: seconds by the clock, and gigabytes; a group has its trials' time."""

    seconds: float
    gigabytes: float


def run_limited(group: Group, limits: Limits, orders: TextIO) -> list[Record]:
    """Run trials in a child process; whoever gives `orders` being gone ends it, too."""
    try:
        _prepare(group[0])
    except Exception as error:  # a library may fail to load in any way
        return records_of(group, FAILED, sentence(error))
    with TemporaryDirectory(prefix="egoscore-") as scratch:  # gone with the trial, however it ends
        return _run_forked(group, limits, orders, Path(scratch))


def _run_forked(group: Group, limits: Limits, orders: TextIO, scratch: Path) -> list[Record]:
    reading, writing = os.pipe()
    drawn = _Drawn(scratch / "drawn")
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        tempfile.tempdir = str(scratch)
        _be_child(group, limits, writing, drawn)
    os.close(writing)
    try:
        answer = _answer(reading, began + limits.seconds * len(group), orders)
        if answer is None:
            _kill(child)
    except BaseException:
        _kill(child)
        raise
    finally:
        os.close(reading)
    _, status, usage = os.wait4(child, 0)
    _kill(child)  # what it may have started and left behind
    clock = {
        "seconds": round((time.monotonic() - began) / len(group), 3),
        "time_limit": limits.seconds,
        "memory_limit": limits.gigabytes,
    }
    if answer is not None and answer.endswith(b"\n"):
        return [record | clock for record in json.loads(answer)]
    # killed, or dead before it had told all
    how = (TIME, f"more than {limits.seconds:g} s") if answer is None else _death(status)
    cost = clock | {
        "parameters": drawn.read(),
        "cpu_seconds": round((usage.ru_utime + usage.ru_stime) / len(group), 3),
        "peak_mb": round(usage.ru_maxrss / MAXRSS_PER_MB, 1),
        "together": len(group),
    }
    return [record | cost for record in records_of(group, *how)]


def _prepare(task: Task) -> None:
    """Load here what children would otherwise load one by one: libraries, kernels, the network."""
    _load_kernels()
    if jobs()[task.job].needs:
        import_module(jobs()[task.job].needs)
    load(task.dataset, task.data_dir)


@cache
def _load_kernels() -> None:
    with one_thread():
        small = generate_network(20, 30, 2)
        EgoScore(preset="paper", epochs=1, num_levels=1, num_samples=1, steps=2, hidden_size=4).fit(
            small
        )
        EgoScore(updates=1, hidden_size=4).fit(small)


def _be_child(group: Group, limits: Limits, writing: int, drawn: _Drawn) -> None:
    """Run the trials, write their records, and end without the parent's clean-up."""
    code = 1
    try:
        os.setpgid(0, 0)  # so that it can be killed with all that it starts
        Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, _ANSWERS)  # else the runner would wait for this process when the worker dies
        largest = int(limits.gigabytes * 2**30)
        with contextlib.suppress(ValueError, OSError):  # not every system can limit it
            resource.setrlimit(resource.RLIMIT_DATA, (largest, largest))
        answer = json.dumps(run_trials(group, drawn.add)).encode() + b"\n"
        with open(writing, "wb") as out:
            out.write(answer)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _Drawn:
    """The parameters of a trial, in a file: what is known of it if it does not live to tell."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, name: str, value: Any) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps([name, value]) + "\n")

    def read(self) -> dict[str, Any]:
        if not self._path.exists():
            return {}
        *whole, _ = self._path.read_text().split("\n")  # the last line may have been cut off
        return dict(map(json.loads, whole))


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _answer(reading: int, deadline: float, orders: TextIO) -> bytes | None:
    """What the child writes: a line, or less if it dies before; None if the time is up."""
    text, given = b"", orders.fileno()
    while not text.endswith(b"\n"):
        left = deadline - time.monotonic()
        ready, _, _ = select.select([reading, given], [], [], max(0.0, left))
        if given in ready:  # nothing is sent while a trial runs: the other side is gone
            sys.exit(1)
        if not ready:
            return None
        part = os.read(reading, 65_536)
        if not part:
            break
        text += part
    return text


def _death(status: int) -> tuple[str, str]:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return MEMORY, "killed, as the system does when memory runs out"
    if os.WIFSIGNALED(status):
        return FAILED, f"died of signal {os.WTERMSIG(status)}"
    return FAILED, "the process ended without a result"


def main() -> None:
    """Answer tasks until there are no more."""
    limits = Limits(**json.loads(sys.argv[1]))
    os.dup2(1, _ANSWERS)
    os.dup2(2, 1)  # what libraries print is not an answer
    answers = os.fdopen(_ANSWERS, "w")
    for line in sys.stdin:
        given = json.loads(line)
        group = tuple(Task(**task | {"rows": tuple(task["rows"])}) for task in given)
        answers.write(json.dumps(run_limited(group, limits, sys.stdin)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
