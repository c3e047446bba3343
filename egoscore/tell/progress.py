"""Progress: on a terminal, when asked for, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(ProgressColumn):
    """How many are done in a second, of late."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        if task.speed is None:
            return Text("")
        speed = f"{task.speed:,.0f}" if task.speed >= 100 else f"{task.speed:.3g}"
        return Text(f"{speed} {self.unit}/s")


@contextmanager
def progress_bar(
    title: str, total: int, unit: str, verbose: int
) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while the block runs; yields the function that moves it."""
    if not verbose:
        yield lambda count: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(unit),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with _shown(*columns) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)


@contextmanager
def working(title: str, verbose: int) -> Iterator[None]:
    """Something that moves on standard error, with the time it takes, while the block runs."""
    if not verbose:
        yield
        return
    title_column = TextColumn("{task.description}", markup=False)
    with _shown(SpinnerColumn(), title_column, TimeElapsedColumn(), transient=True) as progress:
        progress.add_task(title, total=None)
        yield


def _shown(*columns: ProgressColumn, transient: bool = False) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=transient)
