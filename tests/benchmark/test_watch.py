"""What a benchmark says while it runs: lines everywhere, a live display on a terminal."""

import io
import re
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

from egoscore.benchmark import watch
from egoscore.benchmark.trial import Task
from egoscore.benchmark.watch import ShowProgress

SHOW_CURSOR = "\x1b[?25h"
FIRST, SECOND = (Task("net", None, job, ("x",), 2) for job in ("lof", "gdss"))


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def words(self):
        """The lines as they were drawn, without colours and cursor movements."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
        return [" ".join(line.split()) for line in re.split(r"[\r\n]+", text) if line.strip()]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What rich lets speak louder than the terminal itself must not come from outside."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def good(**aucs):
    return [
        {"method": name, "status": "ok", "roc_auc": auc, "cpu_seconds": 12.34}
        for name, auc in aucs.items()
    ]


def bad(status, reason):
    return [{"method": "x", "status": status, "reason": reason}]


@pytest.mark.parametrize(
    ("total", "done", "said"),
    [(9, 5, "4 trials to run, 5 done before."), (1, 0, "1 trial to run, 0 done before.")],
)
def test_it_begins_with_what_remains(capsys, total, done, said):
    with ShowProgress() as progress:
        progress.begin(total, done)
    assert capsys.readouterr() == ("", f"{said}\n")


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (good(lof=0.6749), "ROC-AUC lof 67.5; 12.3 CPU s"),
        (good(a=0.1, b=0.2, c=0.3, d=1.0), "ROC-AUC a 10.0, b 20.0, c 30.0, d 100.0; 12.3 CPU s"),
        (
            good(a=0.1, b=0.2, c=0.3, d=0.4, e=0.5),
            "ROC-AUC a 10.0, b 20.0, c 30.0, d 40.0, …; 12.3 CPU s",
        ),
        (bad("TLE", "more than 2 s"), "TLE (more than 2 s)"),
        (good(a=0.1) + bad("OOM", "too large") + bad("failed", "y"), "OOM (too large)"),
    ],
)
def test_every_trial_that_is_over_is_a_line(capsys, records, said):
    with ShowProgress() as progress:
        progress.started(FIRST)
        progress.finished(FIRST, records)
    assert capsys.readouterr() == ("", f"net lof trial 2: {said}\n")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("[red]no[/red] [/]", "[red]no[/red] [/]"),
        ("alloc.cpp:100: no", "alloc.cpp:100: no"),
        ("\x1b[2Jno", r"\x1b[2Jno"),
        ("no " * 100 + "\\", "no " * 100 + "\\"),
    ],
)
def test_a_reason_is_text_and_stays_on_its_line(capsys, reason, said):
    ShowProgress().finished(FIRST, bad("failed", reason))
    assert capsys.readouterr().err == f"net lof trial 2: failed ({said})\n"


def test_a_terminal_shows_what_runs_for_how_long_and_how_far_it_is(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    terminal = Terminal()
    with redirect_stderr(terminal), ShowProgress() as progress:
        progress.begin(9, 5)
        progress.started(FIRST)
        now[0] += 30
        progress.started(SECOND)
        now[0] += 12
        progress.finished(FIRST, good(lof=0.5))
    *_, before, running, bar = terminal.words()
    assert running == "running net gdss trial 2, 12 s"
    assert not before.startswith("running")  # the first is over
    assert re.fullmatch(r"Benchmark \S+ 6/9 trials, [\d.e+]+/min, 0:00:00 left: \S+", bar)


@pytest.mark.parametrize(
    ("speed", "text"),
    [(None, ""), (1 / 3600, "1/h,"), (1 / 61, "59/h,"), (0.5, "30/min,"), (12.345, "741/min,")],
)
def test_the_rate_is_told_by_the_hour_or_the_minute(speed, text):
    assert watch._Rate().render(SimpleNamespace(speed=speed)).plain == text


def test_what_is_left_is_told_of_trials_that_take_long(monkeypatch):
    """From all trials so far, not from the last half minute, in which none may have ended."""
    now = [0.0]
    with ShowProgress() as progress:
        monkeypatch.setattr(progress._bar, "get_time", lambda: now[0])
        progress.begin(5, 1)
        for _ in range(2):
            now[0] += 1200
            progress.finished(FIRST, good(lof=0.5))
        (bar,) = progress._bar.tasks
        assert bar.speed == pytest.approx(1 / 1200)
        assert bar.time_remaining == 2400


def test_an_error_leaves_the_terminal_with_its_cursor():
    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), ShowProgress():
        raise KeyboardInterrupt
    assert SHOW_CURSOR in terminal.getvalue()
