"""How far a benchmark is: a live display on a terminal, a line per trial elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.cells import cell_len
from rich.console import Console
from rich.console import Group as Lines
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Task as Bar
from rich.table import Column
from rich.text import Text

from egoscore.benchmark.trial import OK, Group, Record
from egoscore.numerals import counted
from egoscore.printable import printable

_WIDE = 100  # columns of a terminal with room for a long bar
_MOST = 4  # rows of a job whose numbers are told


@dataclass
class _Pace:
    """How fast trials end, from which follows what is left."""

    began: float
    last: float
    ended: int = 0

    @property
    def mean(self) -> float:
        """Seconds from one trial that ends to the next, over the whole run."""
        return (self.last - self.began) / self.ended

    def left(self, remaining: int, now: float) -> float | None:
        """Seconds for the trials that remain; None if nobody knows.

        It falls while a trial runs. One that takes longer than others before it counts as if it
        ended now, so that the time rises with it.
        """
        if not self.ended or not remaining:
            return None
        since = now - self.last
        if since < self.mean:
            return remaining * self.mean - since
        return (remaining - 1) * (now - self.began) / (self.ended + 1) or None


class _Left(ProgressColumn):
    """The time left, if it is known."""

    def __init__(self, pace: _Pace) -> None:
        super().__init__(Column(no_wrap=True))
        self._pace = pace

    def render(self, task: Bar) -> Text:
        """Nothing until a trial has ended."""
        remaining = 0 if task.total is None else int(task.total - task.completed)
        seconds = self._pace.left(remaining, time.monotonic())
        return Text("" if seconds is None else f"left: {timedelta(seconds=round(seconds))}")


class _Rate(ProgressColumn):
    """How many trials an hour or a minute are done."""

    def __init__(self, pace: _Pace) -> None:
        super().__init__(Column(no_wrap=True))
        self._pace = pace

    def render(self, task: Bar) -> Text:
        """Nothing until one is done."""
        if not self._pace.ended:
            return Text("")
        speed = 1 / max(self._pace.mean, 1e-3)
        often, unit = (3600, "h") if speed < 1 / 60 else (60, "min")
        return Text(f"{often * speed:.3g}/{unit},")


class ShowProgress:
    """Says on standard error what runs, what is over and what remains."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._pace = _Pace(time.monotonic(), time.monotonic())
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(20 if self._console.width >= _WIDE else 10),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn("trials,"),
            _Rate(self._pace),
            TimeElapsedColumn(table_column=Column(no_wrap=True)),
            _Left(self._pace),
            console=self._console,
        )
        self._all = self._bar.add_task("Benchmark", total=None)
        self._running: dict[Group, float] = {}
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
        self._pace.began = self._pace.last = time.monotonic()
        self._bar.update(self._all, total=total, completed=done)
        self._say(f"{counted(total - done, 'trial')} to run, {done} done before.")

    def started(self, group: Group) -> None:
        """Trials run, one or several as one."""
        self._running[group] = time.monotonic()

    def parted(self, group: Group) -> None:
        """Trials that ran as one failed, and will run one by one."""
        del self._running[group]
        self._live.refresh()
        self._say(f"{_name(group)}: not all ended well together, so each runs alone")

    def finished(self, group: Group, records: list[Record]) -> None:
        """Trials are over."""
        if self._running.pop(group, None) is not None:  # else they were skipped, in no time
            self._pace.last = time.monotonic()
            self._pace.ended += len(group)
        self._bar.advance(self._all, len(group))
        self._live.refresh()  # or what is said would stand above a picture in which it still runs
        for task in group:
            own = [record for record in records if record["trial"] == task.trial]
            self._say(self._told((task,), own))

    def _told(self, group: Group, records: list[Record]) -> str:
        """How a trial ended; on a terminal with as many numbers as a line has room for."""
        for count in range(_MOST, 0, -1):
            told = printable(f"{_name(group)}: {_outcome(records, count)}")
            if not self._console.is_terminal or cell_len(told) <= self._console.width:
                break
        return told

    def _say(self, sentence: str) -> None:
        # a terminal would break lines within words; a file has its lines whole
        self._console.print(Text(printable(sentence)), soft_wrap=not self._console.is_terminal)

    def _picture(self) -> Lines:
        now = time.monotonic()
        lines = [
            Text(
                printable(f"  running {_name(group)}, {now - began:.0f} s"),
                no_wrap=True,
                overflow="ellipsis",
            )
            for group, began in list(self._running.items())  # others change it meanwhile
        ]
        return Lines(*lines, self._bar)


def _name(group: Group) -> str:
    first, *others = group
    numbers = ", ".join(str(task.trial) for task in group)
    return f"{first.dataset} {first.job} {'trials' if others else 'trial'} {numbers}"


def _outcome(records: list[Record], count: int) -> str:
    bad = [record for record in records if record["status"] != OK]
    if bad:
        return f"{bad[0]['status']} ({bad[0]['reason']})"
    shown = ", ".join(f"{r['method']} {100 * r['roc_auc']:.1f}" for r in records[:count])
    more = ", …" if len(records) > count else ""
    return f"ROC-AUC {shown}{more}; {records[0]['cpu_seconds']:.1f} CPU s"
