"""A real server: what it listens on, how it ends, and that a kill loses no verdict."""

import json
import shutil
import signal
import socket
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from serve.conftest import Server

from egoscore.cli import main
from egoscore.review.store import VerdictStore
from egoscore.review.verdicts import Verdict


@pytest.fixture(scope="module")
def reviewed(made_run, tmp_path_factory):
    """A run of its own for the tests of this file."""
    return shutil.copytree(made_run, tmp_path_factory.mktemp("server") / "run")


@pytest.fixture(scope="module")
def server(reviewed):
    with Server(reviewed) as started:
        yield started


class Visitor:
    """A browser as far as the server can tell."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.base = f"{parts.scheme}://{parts.netloc}"
        with urllib.request.urlopen(address, timeout=30) as page:
            self.cookie = page.headers["set-cookie"].partition(";")[0]

    def __call__(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"cookie": self.cookie, "origin": self.base, "content-type": "application/json"}
        asked = urllib.request.Request(self.base + path, data, headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.loads(answer.read())


def test_a_kill_loses_no_saved_verdict(run):
    with Server(run) as server:
        visit = Visitor(server.address)
        for row in range(5):
            visit("/api/verdicts", {"rows": [row], "kind": "abnormal", "note": f"note {row}"})
        server.process.kill()
        server.process.wait(30)
    saved = VerdictStore.of_run(run).current()
    assert [(one.node, one.note) for one in saved] == [(f"n{i}", f"note {i}") for i in range(5)]
    with Server(run) as again:
        assert Visitor(again.address)("/api/state")["counts"]["abnormal"] == 5


def test_two_tabs_and_the_command_line_at_once(server, reviewed):
    one, other = Visitor(server.address), Visitor(server.address)
    store = VerdictStore.of_run(reviewed)

    def add(row):
        match row % 3:
            case 0:
                one("/api/verdicts", {"rows": [row], "kind": "abnormal"})
            case 1:
                other("/api/verdicts", {"rows": [row], "kind": "normal"})
            case _:
                store.add([Verdict(f"n{row}", "unsure")])

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(add, range(30)))
    counts = {"abnormal": 10, "normal": 10, "unsure": 10}
    assert one("/api/state")["counts"] == other("/api/state")["counts"] == counts
    assert len(store.current()) == 30


def test_it_listens_on_the_loopback_interface_only(server):
    port = urlsplit(server.address).port
    assert urlsplit(server.address).hostname == "127.0.0.1"
    for other in ("127.0.0.2", socket.gethostbyname(socket.gethostname())):
        if other != "127.0.0.1":
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                socket.create_connection((other, port), timeout=3)


def test_nobody_gets_in_without_the_token(server):
    base = server.address.partition("?")[0]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(base, timeout=30)


def test_ctrl_c_ends_it(server):
    """The last test of this file that needs the server."""
    Visitor(server.address)("/api/state")
    server.process.send_signal(signal.SIGINT)
    output, _ = server.process.communicate(timeout=30)
    assert server.process.returncode == 0
    assert "Traceback" not in output


@pytest.fixture
def refused(run, monkeypatch, capsys):
    """Runs `egoscore review` with arguments that it refuses; returns what it says."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["egoscore", "review", str(run), *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        return capsys.readouterr().err

    return call


def test_a_port_that_is_taken(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "--port" in refused("--port", port, "--no-browser")


def test_options_that_do_not_go_together(refused):
    assert "--port" in refused("--port", "0", "--next", "3")
    assert "--note" in refused("--note", "x")


def test_without_the_extra_it_says_what_to_install(refused, monkeypatch):
    for name in [one for one in sys.modules if one.startswith("egoscore.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "egoscore[serve]" in refused("--no-browser")
