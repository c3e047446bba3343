"""Progress of a benchmark: a live display on a terminal, and one line per finished trial."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from egoscore.bench.trial import OK, Record, Task
from egoscore.text import counted, printable

_MOST_ROWS = 4  # rows of a job whose results are shown
_WHOLE_RUN = 1e9  # seconds over which the speed is averaged


class ShowProgress:
    """Shows on standard error which trials run, which have finished, and the time left."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(10),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn("trials,"),
            TimeElapsedColumn(table_column=Column(no_wrap=True)),
            TextColumn("left:"),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            console=self._console,
            get_time=lambda: time.monotonic(),
            speed_estimate_period=_WHOLE_RUN,
        )
        self._all = self._bar.add_task("Benchmark", total=None)
        self._running: dict[Task, float] = {}
        self._live = Live(get_renderable=self._render, console=self._console, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def begin(self, total: int, done: int) -> None:
        """Start with `done` of `total` trials finished in earlier runs."""
        self._bar.reset(self._all, total=total, completed=done)
        self._print(f"{counted(total - done, 'trial')} to run, {done} finished before.")

    def started(self, task: Task) -> None:
        """Show a trial as running."""
        self._running[task] = time.monotonic()

    def finished(self, task: Task, records: list[Record]) -> None:
        """Print the results of a trial."""
        self._running.pop(task, None)
        self._bar.advance(self._all)
        self._live.refresh()  # so that the trial is not shown as running below its result
        self._print(self._line(task, records))

    def _line(self, task: Task, records: list[Record]) -> str:
        """The results of a trial, on a terminal as many as fit on a line."""
        for count in range(_MOST_ROWS, 0, -1):
            line = printable(f"{_name(task)}: {_outcome(records, count)}")
            if not self._console.is_terminal or cell_len(line) <= self._console.width:
                break
        return line

    def _print(self, text: str) -> None:
        # only a terminal needs line breaks
        self._console.print(Text(printable(text)), soft_wrap=not self._console.is_terminal)

    def _render(self) -> Group:
        now = time.monotonic()
        running = list(self._running.items())  # other threads change it meanwhile
        lines = [
            printable(f"  running {_name(task)}, {now - began:.0f} s") for task, began in running
        ]
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines), self._bar)


def _name(task: Task) -> str:
    return f"{task.dataset} {task.job} trial {task.trial}"


def _outcome(records: list[Record], count: int) -> str:
    bad = [record for record in records if record["status"] != OK]
    if bad:
        return f"{bad[0]['status']} ({bad[0]['reason']})"
    shown = ", ".join(f"{r['method']} {100 * r['roc_auc']:.1f}" for r in records[:count])
    more = ", …" if len(records) > count else ""
    return f"ROC-AUC {shown}{more}; {records[0]['cpu_seconds']:.1f} CPU s"
