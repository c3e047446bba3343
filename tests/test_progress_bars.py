"""Progress bars: on a terminal, when asked for, and nowhere else."""

import io
import re
from contextlib import redirect_stderr
from types import SimpleNamespace

import pytest

from egoscore.progress import _Speed, passing_bars, progress_bar
from egoscore.progress_log import BYTES

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def last_words(self):
        """The bar as it was drawn last."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
        return " ".join(re.split(r"[\r\n]+", text.strip())[-1].split())


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What rich lets speak louder than the terminal itself must not come from outside."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")


@pytest.mark.parametrize("verbose", [1, 2])
def test_a_bar_tells_what_is_done_and_how_much_of_it(capsys, verbose):
    terminal = Terminal()
    with (
        redirect_stderr(terminal),
        progress_bar("PaperDetector", 10, "nodes", verbose) as advance,
    ):
        advance(3)
        advance(4)
    words = terminal.last_words()
    assert words.startswith("PaperDetector ")
    assert " 7/10 " in words
    assert re.search(r" [\d,.]+ nodes/s ", words)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("columns", [80, 99, 100, 150])
def test_a_bar_is_one_line_with_rate_and_time_left(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    title = "Learning what to expect of a node"  # the longest there is
    with redirect_stderr(terminal), progress_bar(title, 54_000, "updates", 1) as advance:
        advance(20_000)
        advance(20_000)
    words = terminal.last_words()
    assert re.search(rf"^{title} .* [\d,.]+ updates/s .*left: [\d:-]+$", words)


@pytest.mark.parametrize("total", [0, 5])
def test_a_bar_starts_at_nothing(total):
    terminal = Terminal()
    with redirect_stderr(terminal), progress_bar("Learning", total, "epochs", 1):
        pass
    assert f" 0/{total} " in terminal.last_words()
    assert "epochs/s" not in terminal.last_words()  # nobody knows yet


def test_unless_asked_for_there_is_none():
    terminal = Terminal()
    with redirect_stderr(terminal), progress_bar("Learning", 5, "epochs", 0) as advance:
        advance(5)
    assert terminal.getvalue() == ""


def test_outside_a_terminal_there_is_none(capsys):
    with progress_bar("Learning", 5, "epochs", 1) as advance:
        advance(5)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [0, 1])
def test_an_error_passes_through(verbose):
    with (
        pytest.raises(RuntimeError, match="power cut"),
        redirect_stderr(Terminal()),
        progress_bar("Learning", 5, "epochs", verbose),
    ):
        raise RuntimeError("power cut")


def test_an_error_leaves_the_terminal_with_its_cursor():
    terminal = Terminal()
    with (
        pytest.raises(RuntimeError),
        redirect_stderr(terminal),
        progress_bar("Learning", 5, "epochs", 1),
    ):
        raise RuntimeError
    written = terminal.getvalue()
    assert HIDE_CURSOR in written
    assert written.rindex(SHOW_CURSOR) > written.rindex(HIDE_CURSOR)


@pytest.mark.parametrize(
    ("speed", "text"),
    [
        (None, ""),
        (0.01234, "0.0123 nodes/s"),
        (12.345, "12.3 nodes/s"),
        (123.4, "123 nodes/s"),
        (1234567.8, "1,234,568 nodes/s"),
    ],
)
def test_the_rate_is_a_number_people_can_read(speed, text):
    assert _Speed("nodes").render(SimpleNamespace(speed=speed)).plain == text


class TestBytes:
    def test_they_are_told_in_megabytes_with_what_is_left(self):
        terminal = Terminal()
        with redirect_stderr(terminal), progress_bar("Reading", 9_000_000, BYTES, 1) as advance:
            advance(2_000_000)
            advance(1_500_000)
        words = terminal.last_words()
        assert " 3.5/9.0 MB " in words
        assert re.search(r" [\d.e+]+ MB/s ", words)
        assert re.search(r"left: \d:\d\d:\d\d", words)

    def test_how_many_there_are_may_not_be_known(self):
        terminal = Terminal()
        with redirect_stderr(terminal), progress_bar("Copying", None, BYTES, 1) as advance:
            advance(2_500_000)
        assert " 2.5 MB " in terminal.last_words()
        assert "left" not in terminal.last_words()

    def test_nor_what_is_counted(self):
        terminal = Terminal()
        with redirect_stderr(terminal), progress_bar("Loading", None, "", 1):
            pass
        assert re.search(r"Loading [━╸╺ ]*0:00:00$", terminal.last_words())


class TestPassingBars:
    @pytest.mark.parametrize("title", ["Reading friends", "Reading [red]a[/red]/[b"])
    def test_they_are_gone_in_the_end(self, title):
        terminal = Terminal()
        with redirect_stderr(terminal), passing_bars(1)(title, 3, "rows") as advance:
            advance(1)
        assert title in terminal.getvalue()
        assert terminal.getvalue().endswith("\x1b[2K")

    def test_outside_a_terminal_there_are_none(self, capsys):
        with passing_bars(1)("Reading", 3, "rows") as advance:
            advance(1)
        assert capsys.readouterr() == ("", "")
