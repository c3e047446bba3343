"""Progress when it is asked for: bars on a terminal, now and then a line anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from egoscore.progress_log import BYTES, StepLog, logged

Advance = Callable[[int], None]
_WIDE = 100  # columns of a terminal that has room for everything on one line
_SPEED_PERIOD = 600.0  # seconds over which speed is averaged; slow work reports only now and then


class Bars(Protocol):
    """Makes progress bars. Functions that take long are given one by their caller."""

    def __call__(self, title: str, total: int | None, unit: str) -> AbstractContextManager[Advance]:
        """A bar over `total` of `unit`, None if unknown; yields the function that advances it."""


@contextmanager
def no_bars(title: str, total: int | None, unit: str) -> Iterator[Advance]:
    """`Bars` that show nothing."""
    yield lambda count: None


def passing_bars(verbose: int) -> Bars:
    """`Bars` that disappear when their work is done."""
    return lambda title, total, unit: progress_bar(title, total, unit, verbose, stays=False)


@contextmanager
def progress_bar(
    title: str, total: int | None, unit: str, verbose: int, stays: bool = True
) -> Iterator[Advance]:
    """A bar on standard error while the block runs; yields the function that advances it.

    Afterwards it `stays`, or its line is cleared. Where standard error is not a terminal, long
    steps write lines instead (`logged`).
    """
    if not verbose:
        yield lambda count: None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        with logged(StepLog(title, total, unit), lambda line: _write(console, line)) as advance:
            yield advance
        return
    bar = Progress(
        *_columns(console.width >= _WIDE, unit, total is not None),
        console=console,
        transient=not stays,
        speed_estimate_period=_SPEED_PERIOD,
    )
    with bar as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


def _write(console: Console, line: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads it any more; the work goes on
        print(line, file=console.file, flush=True)


def _columns(wide: bool, unit: str, has_total: bool) -> Iterator[ProgressColumn]:
    """The parts of a bar; a narrow terminal has no room for counts."""
    yield TextColumn("{task.description}", markup=False)
    yield BarColumn(40 if wide else 10)
    if wide:
        yield _Count(unit)
    yield _Speed(unit)
    if wide or not has_total:
        yield TimeElapsedColumn(table_column=Column(no_wrap=True))
    if has_total:
        yield TextColumn("left:")
        yield TimeRemainingColumn(table_column=Column(no_wrap=True))


class _UnitColumn(ProgressColumn):
    """A column of numbers of a unit; empty without one."""

    def __init__(self, unit: str) -> None:
        super().__init__(Column(no_wrap=True))
        self.unit = unit


class _Speed(_UnitColumn):
    """How many per second."""

    def render(self, task: Task) -> Text:
        if task.speed is None or not self.unit:
            return Text("")
        if self.unit == BYTES:
            return Text(f"{task.speed / 1e6:.3g} MB/s")
        speed = f"{task.speed:,.0f}" if task.speed >= 100 else f"{task.speed:.3g}"
        return Text(f"{speed} {self.unit}/s")


class _Count(_UnitColumn):
    """How many are done, and how many there are if that is known."""

    def render(self, task: Task) -> Text:
        if not self.unit:
            return Text("")
        numbers = [task.completed] if task.total is None else [task.completed, task.total]
        if self.unit == BYTES:
            return Text("/".join(f"{number / 1e6:,.1f}" for number in numbers) + " MB")
        return Text("/".join(f"{int(number):,}" for number in numbers))
