"""What a benchmark says while it runs: lines everywhere, a live display on a terminal."""

import io
import re
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest
from rich.console import Console

from egoscore.benchmark import watch
from egoscore.benchmark.trial import Task
from egoscore.benchmark.watch import ShowProgress

SHOW_CURSOR = "\x1b[?25h"
FIRST, SECOND = ((Task("net", None, job, ("x",), 2),) for job in ("lof", "gdss"))


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
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def good(trial=2, **aucs):
    return [
        {"method": name, "trial": trial, "status": "ok", "roc_auc": auc, "cpu_seconds": 12.34}
        for name, auc in aucs.items()
    ]


def bad(status, reason):
    return [{"method": "x", "trial": 2, "status": status, "reason": reason}]


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
    assert re.fullmatch(r"Benchmark \S+ 6/9 trials, 1.43/min, 0:00:00 left: 0:02:06", bar)


@pytest.mark.parametrize(
    ("ended", "seconds", "text"),
    [
        (0, 5.0, ""),
        (1, 3600.0, "1/h,"),
        (2, 122.0, "59/h,"),
        (10, 20.0, "30/min,"),
        (1, 0.0, "6e+04/min,"),
    ],
)
def test_the_rate_is_told_by_the_hour_or_the_minute(ended, seconds, text):
    rate = watch._Rate(watch._Pace(10.0, 10.0 + seconds, ended))
    assert rate.render(SimpleNamespace()).plain == text


@pytest.mark.parametrize(
    ("ended", "remaining", "since", "left"),
    [
        (0, 5, 100.0, None),  # nobody knows
        (2, 0, 1.0, None),
        (2, 3, 0.0, 30.0),
        (2, 3, 4.0, 26.0),  # it falls while a trial runs
        (2, 3, 10.0, 20.0),
        (2, 3, 40.0, 40.0),  # and rises with one that takes longer: two more like all three
        (2, 1, 4.0, 6.0),
        (2, 1, 40.0, None),  # the last, and overdue
    ],
)
def test_what_is_left_moves_while_a_trial_runs(ended, remaining, since, left):
    """Trials took ten seconds each."""
    pace = watch._Pace(0.0, 10.0 * ended, ended)
    assert pace.left(remaining, 10.0 * ended + since) == (left and pytest.approx(left))


def test_what_is_left_counts_trials_of_this_run_that_were_not_skipped(clock):
    """From all of them, not from the last half minute, in which none may have ended."""
    with ShowProgress() as progress:
        clock[0] += 100.0
        progress.begin(5, 1)
        progress.finished(SECOND, bad("TLE", "not run"))
        assert progress._pace.ended == 0
        progress.started(FIRST)
        clock[0] += 1200.0
        progress.finished(FIRST, good(lof=0.5))
        assert bar_of(progress).endswith("left: 0:40:00")
        clock[0] += 60.0
        assert bar_of(progress).endswith("left: 0:39:00")


def bar_of(progress):
    """The line of the bar."""
    console = Console(file=io.StringIO(), width=100)
    console.print(progress._bar)
    return " ".join(console.file.getvalue().split())


def test_nothing_is_said_of_what_is_left_until_it_is_known(clock):
    progress = ShowProgress()
    assert re.fullmatch(r"Benchmark \S+ 0/\? trials, \S+", bar_of(progress))
    progress.begin(5, 1)
    assert re.fullmatch(r"Benchmark \S+ 1/5 trials, \S+", bar_of(progress))


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize(
    ("aucs", "most"), [(dict.fromkeys(("energy-unweighted", *"abcdef"), 0.48), 4), ({"a": 1.0}, 1)]
)
def test_a_trial_that_is_over_has_one_line_of_a_terminal(monkeypatch, columns, aucs, most):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    with redirect_stderr(terminal):
        group = (Task("a-name-of-a-network", None, "gdss", (), 10),)
        ShowProgress().finished(group, good(10, **aucs))
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
        progress.started((Task("/data/" + "long" * 40, None, "gdss", (), 10),))
        progress.started(FIRST)
        clock[0] += 300_000.0
        progress.finished(FIRST, good(lof=0.5))
        console = Console(file=io.StringIO(), width=columns)
        console.print(progress._picture())
    running, bar = console.file.getvalue().splitlines()
    assert running.endswith("…")
    assert "left: 38190 days" in bar


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


def test_trials_that_run_as_one_are_told_as_one_until_they_are_over(clock):
    group = tuple(Task("net", None, "gdss", ("rec",), trial) for trial in (0, 3))
    terminal = Terminal()
    with redirect_stderr(terminal), ShowProgress() as progress:
        progress.begin(4, 0)
        progress.started(group)
        clock[0] += 8.0
        progress._live.refresh()
        progress.finished(group, good(0, rec=0.5) + good(3, rec=0.25))
        assert bar_of(progress).startswith("Benchmark")
        assert " 2/4 trials" in bar_of(progress)
        assert progress._pace.mean == 4.0
    words = terminal.words()
    assert "running net gdss trials 0, 3, 8 s" in words
    assert "net gdss trial 0: ROC-AUC rec 50.0; 12.3 CPU s" in words
    assert "net gdss trial 3: ROC-AUC rec 25.0; 12.3 CPU s" in words


def test_trials_that_failed_as_one_are_not_over(capsys):
    group = tuple(Task("net", None, "gdss", ("rec",), trial) for trial in (0, 3))
    with ShowProgress() as progress:
        progress.begin(4, 0)
        progress.started(group)
        progress.parted(group)
        assert progress._pace.ended == 0
        assert not progress._running
    said = "net gdss trials 0, 3: not all ended well together, so each runs alone\n"
    assert capsys.readouterr().err.endswith(said)


def test_an_error_leaves_the_terminal_with_its_cursor():
    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt), redirect_stderr(terminal), ShowProgress():
        raise KeyboardInterrupt
    assert SHOW_CURSOR in terminal.getvalue()
