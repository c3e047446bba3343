"""Progress: on a terminal, when asked for, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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

from egoscore.progress import BYTES, Advance, Bars

_WIDE = 100  # columns of a terminal in which all has room on one line
_OF_LATE = 600.0  # seconds from which the time left is told: of slow work several parts


def _one_line() -> Column:
    return Column(no_wrap=True)


class _Rate(ProgressColumn):
    """How many are done in a second, of late."""

    def __init__(self, unit: str) -> None:
        super().__init__(_one_line())
        self.unit = unit

    def render(self, task: Task) -> Text:
        if task.speed is None or not self.unit:
            return Text("")
        if self.unit == BYTES:
            return Text(f"{task.speed / 1e6:.3g} MB/s")
        speed = f"{task.speed:,.0f}" if task.speed >= 100 else f"{task.speed:.3g}"
        return Text(f"{speed} {self.unit}/s")


class _Done(ProgressColumn):
    """How many are done, and of how many if that is known."""

    def __init__(self, unit: str) -> None:
        super().__init__(_one_line())
        self.unit = unit

    def render(self, task: Task) -> Text:
        if not self.unit:
            return Text("")
        numbers = [task.completed] if task.total is None else [task.completed, task.total]
        if self.unit == BYTES:
            return Text("/".join(f"{number / 1e6:,.1f}" for number in numbers) + " MB")
        return Text("/".join(f"{int(number):,}" for number in numbers))


@contextmanager
def progress_bar(
    title: str, total: int | None, unit: str, verbose: int, stays: bool = True
) -> Iterator[Advance]:
    """A bar on standard error while the block runs; yields the function that moves it.

    Afterwards it `stays`, or its line is cleared.
    """
    if not verbose:
        yield lambda count: None
        return
    console = Console(stderr=True)
    columns = _columns(console.width >= _WIDE, unit, total is not None)
    with _shown(console, *columns, transient=not stays) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


def passing_bars(verbose: int) -> Bars:
    """Bars that are gone when what they show is done."""
    return lambda title, total, unit: progress_bar(title, total, unit, verbose, stays=False)


def _columns(wide: bool, unit: str, has_total: bool) -> Iterator[ProgressColumn]:
    """What a bar shows; in a narrow terminal only what one waits for."""
    yield TextColumn("{task.description}", markup=False)
    yield BarColumn(40 if wide else 10)
    if wide:
        yield _Done(unit)
    yield _Rate(unit)
    if wide or not has_total:
        yield TimeElapsedColumn(table_column=_one_line())
    if has_total:
        yield TextColumn("left:")
        yield TimeRemainingColumn(table_column=_one_line())


def _shown(console: Console, *columns: ProgressColumn, transient: bool = False) -> Progress:
    return Progress(
        *columns,
        console=console,
        disable=not console.is_terminal,
        transient=transient,
        speed_estimate_period=_OF_LATE,
    )
