"""A process that runs trials one after the other, each in a copy of itself with limits.

    python -m egoscore.benchmark.worker LIMITS        (started by `egoscore.benchmark.runner`)

Tasks come in as lines of JSON, records go out as lines of JSON. What takes seconds to import is
imported once; a trial is forked from there, so that it starts at once, its memory is its own,
and it can be killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TextIO

from egoscore.benchmark.methods import jobs
from egoscore.benchmark.trial import FAILED, MEMORY, TIME, Record, Task, load, run_trial
from egoscore.detector import EgoScore
from egoscore.device import one_thread
from egoscore.graph.generated import generate_network


@dataclass(frozen=True)
class Limits:
    """What a trial may take: seconds by the clock, and gigabytes."""

    seconds: float
    gigabytes: float


def run_limited(task: Task, limits: Limits, orders: TextIO) -> list[Record]:
    """Run a trial in a child process; whoever gives `orders` being gone ends it, too."""
    _prepare(task)
    reading, writing = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(task, limits, writing)
    os.close(writing)
    try:
        answer = _answer(reading, began + limits.seconds, orders)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    records: list[Record]
    if answer is None:
        records = task.records(TIME, f"more than {limits.seconds:g} s")
    elif not answer.endswith(b"\n"):  # it died before it had told all
        records = task.records(*_death(status))
    else:
        records = json.loads(answer)
    return [record | {"seconds": round(time.monotonic() - began, 3)} for record in records]


def _prepare(task: Task) -> None:
    """Load here what children would otherwise load one by one: libraries, kernels, the network."""
    _load_kernels()
    if jobs()[task.job].needs:
        import_module(jobs()[task.job].needs)
    load(task.dataset, task.data_dir)


@cache
def _load_kernels() -> None:
    with one_thread():
        detector = EgoScore(epochs=1, num_levels=1, num_samples=1, steps=2, hidden_size=4)
        detector.fit(generate_network(20, 30, 2))


def _be_child(task: Task, limits: Limits, writing: int) -> None:
    """Run the trial, write its records, and end without the parent's clean-up."""
    code = 1
    try:
        largest = int(limits.gigabytes * 2**30)
        with contextlib.suppress(ValueError, OSError):  # not every system can limit it
            resource.setrlimit(resource.RLIMIT_DATA, (largest, largest))
        with open(writing, "wb") as out:
            out.write(json.dumps(run_trial(task)).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def _answer(reading: int, deadline: float, orders: TextIO) -> bytes | None:
    """All that the child writes until it ends; None if the time is up before."""
    parts: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        given = orders.fileno()
        ready, _, _ = select.select([reading, given], [], [], max(0.0, left))
        if given in ready:  # nothing is sent while a trial runs: the other side is gone
            sys.exit(1)
        if not ready:
            return None
        part = os.read(reading, 65_536)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _death(status: int) -> tuple[str, str]:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return MEMORY, "killed, as the system does when memory runs out"
    if os.WIFSIGNALED(status):
        return FAILED, f"died of signal {os.WTERMSIG(status)}"
    return FAILED, "the process ended without a result"


def main() -> None:
    """Answer tasks until there are no more."""
    limits = Limits(**json.loads(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    for line in sys.stdin:
        given = json.loads(line)
        task = Task(**given | {"rows": tuple(given["rows"])})
        answers.write(json.dumps(run_limited(task, limits, sys.stdin)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
