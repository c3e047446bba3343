"""How far a benchmark is: a live display on a terminal, a line per trial elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

from egoscore.benchmark.trial import OK, Record, Task
from egoscore.numerals import counted
from egoscore.printable import printable

_AGO = 7 * 24 * 3600.0  # all of a benchmark tells what is left: trials may take hours


class _Rate(ProgressColumn):
    """How many trials an hour or a minute are done."""

    def render(self, task: Bar) -> Text:
        """Nothing until two are done."""
        if task.speed is None:
            return Text("")
        often, unit = (3600, "h") if task.speed < 1 / 60 else (60, "min")
        return Text(f"{often * task.speed:.3g}/{unit},")


class ShowProgress:
    """Says on standard error what runs, what is over and what remains."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(20),
            MofNCompleteColumn(),
            TextColumn("trials,"),
            _Rate(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=self._console,
            speed_estimate_period=_AGO,
        )
        self._all = self._bar.add_task("Benchmark", total=None)
        self._running: dict[Task, float] = {}
        self._live = Live(get_renderable=self._picture, console=self._console, transient=True)

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
        """So many trials in all, so many of them done earlier."""
        self._bar.update(self._all, total=total, completed=done)
        self._say(f"{counted(total - done, 'trial')} to run, {done} done before.")

    def started(self, task: Task) -> None:
        """A trial runs."""
        self._running[task] = time.monotonic()

    def finished(self, task: Task, records: list[Record]) -> None:
        """A trial is over."""
        self._running.pop(task, None)
        self._bar.advance(self._all)
        self._say(f"{_name(task)}: {_outcome(records)}")

    def _say(self, sentence: str) -> None:
        self._console.print(Text(printable(sentence)), soft_wrap=True)

    def _picture(self) -> Group:
        now = time.monotonic()
        lines = [
            Text(f"  running {_name(task)}, {now - began:.0f} s")
            for task, began in list(self._running.items())  # others change it meanwhile
        ]
        return Group(*lines, self._bar)


def _name(task: Task) -> str:
    return f"{task.dataset} {task.job} trial {task.trial}"


def _outcome(records: list[Record]) -> str:
    bad = [record for record in records if record["status"] != OK]
    if bad:
        return f"{bad[0]['status']} ({bad[0]['reason']})"
    shown = ", ".join(f"{r['method']} {100 * r['roc_auc']:.1f}" for r in records[:4])
    more = ", …" if len(records) > 4 else ""
    return f"ROC-AUC {shown}{more}; {records[0]['cpu_seconds']:.1f} CPU s"
