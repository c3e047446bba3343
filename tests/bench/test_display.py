"""What a benchmark says while it runs: lines everywhere, a live display on a terminal."""

import io
import re
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest
from rich.console import Console

from egoscore.bench import display
from egoscore.bench.display import ShowProgress
from egoscore.bench.trial import Task

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


@pytest.fixture
def clock(monkeypatch):
    """The time, as long as the test does not move it."""
    now = [1000.0]
    monkeypatch.setattr(display, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def good(**aucs):
    return [
        {"method": name, "status": "ok", "roc_auc": auc, "cpu_seconds": 12.34}
        for name, auc in aucs.items()
    ]


def bad(status, reason):
    return [{"method": "x", "status": status, "reason": reason}]


@pytest.mark.parametrize(
    ("total", "done", "said"),
    [(9, 5, "4 trials to run, 5 finished before."), (1, 0, "1 trial to run, 0 finished before.")],
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


def test_a_terminal_shows_what_runs_for_how_long_and_how_far_it_is(clock):
    terminal = Terminal()
    with redirect_stderr(terminal), ShowProgress() as progress:
        progress.begin(9, 5)
        progress.started(FIRST)
        clock[0] += 30
        progress.started(SECOND)
        clock[0] += 12
        progress.finished(FIRST, good(lof=0.5))
    *_, before, running, bar = terminal.words()
    assert running == "running net gdss trial 2, 12 s"
    assert not before.startswith("running")  # the first is over
    assert re.fullmatch(r"Benchmark \S+ 6/9 trials, 0:00:42 left: -:--:--", bar)


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize(
    ("aucs", "most"), [(dict.fromkeys(("energy-unweighted", *"abcdef"), 0.48), 4), ({"a": 1.0}, 1)]
)
def test_a_trial_that_is_over_has_one_line_of_a_terminal(monkeypatch, columns, aucs, most):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    with redirect_stderr(terminal):
        ShowProgress().finished(Task("a-name-of-a-network", None, "gdss", (), 10), good(**aucs))
    (line,) = terminal.words()
    assert len(line) <= columns
    assert line.endswith("; 12.3 CPU s")
    assert 1 <= len(re.findall(r"\b[-\w]+ [\d.]+[,;]", line)) <= most


def test_a_terminal_breaks_long_lines_at_spaces_only():
    terminal = Terminal()
    reason = " ".join(f"word-number-{number}" for number in range(40))
    with redirect_stderr(terminal):
        ShowProgress().finished(FIRST, bad("failed", reason))
    lines = terminal.words()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 100
    assert " ".join(lines) == f"net lof trial 2: failed ({reason})"


@pytest.mark.parametrize("columns", [80, 120])
def test_the_display_keeps_to_its_lines(monkeypatch, clock, columns):
    """A line that the terminal broke would be left behind."""
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    with redirect_stderr(terminal), ShowProgress() as progress:
        progress.begin(12_000, 1_000)
        progress.started(Task("/data/" + "long" * 40, None, "gdss", (), 10))
        progress.started(FIRST)
        clock[0] += 300_000.0
        progress.finished(FIRST, good(lof=0.5))
        console = Console(file=io.StringIO(), width=columns)
        console.print(progress._render())
    running, bar = console.file.getvalue().splitlines()
    assert running.endswith("…")
    assert "left:" in bar


def test_what_is_over_does_not_run_below_its_result(clock):
    terminal = Terminal()
    with redirect_stderr(terminal), ShowProgress() as progress:
        progress.begin(9, 5)
        progress.started(FIRST)
        progress._live.refresh()
        progress.finished(FIRST, good(lof=0.5))
    words = terminal.words()
    said = next(i for i, line in enumerate(words) if line.startswith("net lof trial 2: ROC-AUC"))
    assert any(line.startswith("running") for line in words[:said])
    assert not any("running" in line for line in words[said:])


def test_an_error_leaves_the_terminal_with_its_cursor():
    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), ShowProgress():
        raise KeyboardInterrupt
    assert SHOW_CURSOR in terminal.getvalue()
