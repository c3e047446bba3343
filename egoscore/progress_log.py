"""Progress as plain lines, for output that goes to a file or a pipe instead of a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from egoscore.text import printable

BYTES = "B"  # the unit of what is counted in bytes
QUIET, PERIOD = 5.0, 30.0  # seconds before the first line of a step, and between its lines


class StepLog:
    """One step of a computation: what is done, and the lines about it.

    Time counts from the first `advance`, because an interrupted run begins with what it had done.
    """

    def __init__(
        self,
        title: str,
        total: int | None,
        unit: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title, self._total, self._unit = printable(title), total, unit
        self._clock, self._began = clock, clock()
        self._done, self._first = 0, (0.0, 0)  # when `advance` was first called, and what was done

    def advance(self, count: int) -> None:
        """Count what is done."""
        if not self._done:
            self._first = (self._clock(), count)
        self._done += count

    def state(self) -> str:
        """What is done so far, and how long the rest will take if that can be known."""
        if not self._unit:
            return f"{self._title}: {duration(self._clock() - self._began)} so far"
        if not self._total:
            return f"{self._title}: {self._counted(self._done)} so far"
        share = 100 * self._done // self._total
        of = f"{self._number(self._done)} of {self._counted(self._total)} ({share}%)"
        return f"{self._title}: {of}{self._left(self._total)}"

    def end(self) -> str:
        """That the step is done, and how long it took."""
        what = self._counted(self._done) if self._unit else "done"
        return f"{self._title}: {what} in {duration(self._clock() - self._began)}"

    def _left(self, total: int) -> str:
        began, before = self._first
        if self._done <= before:
            return ""
        speed = (self._done - before) / max(self._clock() - began, 1e-9)
        return f", {duration((total - self._done) / speed)} left"

    def _number(self, count: int) -> str:
        return f"{count / 1e6:,.1f}" if self._unit == BYTES else f"{count:,}"

    def _counted(self, count: int) -> str:
        return f"{self._number(count)} {'MB' if self._unit == BYTES else self._unit}"


def duration(seconds: float) -> str:
    """A time in its two largest units: 12 s, 3 min 20 s, 2 h 5 min."""
    whole = max(round(seconds), 0)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


@contextmanager
def logged(log: StepLog, write: Callable[[str], None]) -> Iterator[Callable[[int], None]]:
    """Write lines about a step while the block runs; yields the function that advances it.

    The first line comes after `QUIET` seconds, so that short steps need none, then one every
    `PERIOD` seconds, also if nothing advances, and one at the end.
    """
    over, has_begun = Event(), Event()

    def report() -> None:
        wait = QUIET
        while not over.wait(wait):
            wait = PERIOD
            has_begun.set()
            write(log.state())

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield log.advance
    finally:
        over.set()
        thread.join()
    if has_begun.is_set():
        write(log.end())
