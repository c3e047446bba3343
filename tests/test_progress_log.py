"""Progress in a file or a pipe: lines now and then about long steps, nothing about short ones."""

import io
import re
import subprocess
import sys
import time
from contextlib import redirect_stderr

import pytest

from egoscore import progress_log
from egoscore.progress import passing_bars, progress_bar
from egoscore.progress_log import BYTES, StepLog, duration, logged


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def step(title, total, unit):
    clock = Clock()
    return StepLog(title, total, unit, clock), clock


def test_a_line_says_what_is_done_and_how_long_the_rest_takes():
    log, clock = step("Training", 3600, "updates")
    assert log.state() == "Training: 0 of 3,600 updates (0%)"
    log.advance(600)  # perhaps in an earlier run: its speed is not known
    assert log.state() == "Training: 600 of 3,600 updates (16%)"
    clock.now += 6
    log.advance(600)
    assert log.state() == "Training: 1,200 of 3,600 updates (33%), 24 s left"
    clock.now += 72
    log.advance(2400)
    assert log.end() == "Training: 3,600 updates in 1 min 18 s"


def test_bytes_are_megabytes():
    log, clock = step("Reading a.csv", 9_000_000, BYTES)
    log.advance(1_000_000)
    clock.now += 10
    log.advance(2_500_000)
    assert log.state() == "Reading a.csv: 3.5 of 9.0 MB (38%), 22 s left"


def test_the_total_or_the_unit_may_be_unknown():
    log, clock = step("Copying", None, "rows")
    log.advance(1500)
    assert log.state() == "Copying: 1,500 rows so far"
    log, clock = step("Loading", None, "")
    clock.now += 65
    assert log.state() == "Loading: 1 min 5 s so far"
    assert log.end() == "Loading: done in 1 min 5 s"


def test_a_title_is_one_printable_line():
    log, _ = step("Reading a\nb\x1b[31m", 1, "rows")
    assert log.state().isprintable()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (7500, "2 h 5 min")],
)
def test_a_duration_has_two_units(seconds, text):
    assert duration(seconds) == text


class TestLogged:
    def lines(self, monkeypatch, quiet, period, seconds):
        """What is written about a step that takes `seconds`."""
        monkeypatch.setattr(progress_log, "QUIET", quiet)
        monkeypatch.setattr(progress_log, "PERIOD", period)
        lines = []
        with logged(StepLog("Training", 10, "updates"), lines.append) as advance:
            advance(1)
            time.sleep(seconds)
            advance(9)
        return lines

    def test_a_short_step_is_quiet(self, monkeypatch):
        assert self.lines(monkeypatch, 60, 60, 0.05) == []

    def test_a_long_one_has_a_beginning_and_an_end(self, monkeypatch):
        lines = self.lines(monkeypatch, 0.01, 60, 0.3)
        assert lines == ["Training: 1 of 10 updates (10%)", "Training: 10 updates in 0 s"]

    def test_and_lines_in_between(self, monkeypatch):
        lines = self.lines(monkeypatch, 0.01, 0.05, 0.5)
        assert 3 < len(lines) <= 12

    def test_one_that_fails_does_not_end(self, monkeypatch):
        monkeypatch.setattr(progress_log, "QUIET", 0.01)
        lines = []

        def fail():
            with logged(StepLog("Training", 10, "updates"), lines.append):
                time.sleep(0.2)
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert lines == ["Training: 0 of 10 updates (0%)"]


@pytest.mark.parametrize("bars", [passing_bars, lambda v: lambda *step: progress_bar(*step, v)])
@pytest.mark.parametrize(("verbose", "count"), [(0, 0), (1, 2)])
def test_lines_are_written_only_if_asked_for(monkeypatch, capsys, bars, verbose, count):
    monkeypatch.setattr(progress_log, "QUIET", 0.01)
    with bars(verbose)("Scoring", 3, "nodes") as advance:
        time.sleep(0.2)
        advance(3)
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == count


def test_a_closed_pipe_does_not_stop_the_work(monkeypatch):
    monkeypatch.setattr(progress_log, "QUIET", 0.01)
    closed = io.StringIO()
    with redirect_stderr(closed), passing_bars(1)("Scoring", 3, "nodes") as advance:
        closed.close()
        time.sleep(0.1)
        advance(3)


DETECT = """
import sys
from egoscore import progress_log
progress_log.QUIET, progress_log.PERIOD = 0.0, 0.05
from egoscore.cli import program
sys.argv = ["egoscore", "detect", "builtin", "--out", sys.argv[1], "--updates", "40", *sys.argv[2:]]
program()
"""


def test_a_run_whose_output_is_redirected_reports_its_steps(tmp_path):
    with (tmp_path / "log").open("w") as log:
        command = [sys.executable, "-c", DETECT, str(tmp_path / "run")]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=log, check=True)
    text = (tmp_path / "log").read_text()
    assert "\x1b" not in text
    training = [line for line in text.splitlines() if line.startswith("Training: ")]
    assert re.fullmatch(r"Training: [\d,]+ updates in \d+ s", training[-1])
    for line in training[:-1]:
        assert re.fullmatch(r"Training: [\d,]+ of [\d,]+ updates \(\d+%\)(, \d+ s left)?", line)
    assert any(line.startswith("Scoring nodes: ") for line in text.splitlines())


def test_json_stays_quiet(tmp_path):
    command = [sys.executable, "-c", DETECT, str(tmp_path / "run"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("{")
