"""A run under review, by the test client and by a real server."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from run.samples import ORIGIN, QUICK_DEFAULT
from starlette.testclient import TestClient

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detect import detect
from egoscore.serve.app import make_app
from egoscore.serve.room import Room

HOSTILE = "<img src=x onerror=alert(1)>"
TOKEN, PORT = "a-token", 8123
BASE = f"http://127.0.0.1:{PORT}"


def named_graph():
    """A small graph with names, one of them hostile, and a column of attributes called so."""
    made = generate_network(120, 400, 3, outlier_fraction=0.1)
    ends = made.adjacency.to_scipy().tocoo()
    names = [f"Ada {n}" for n in range(made.num_nodes)]
    names[7], names[8] = HOSTILE, "Zoë"
    return AttributedGraph.from_edges(
        np.stack([ends.row, ends.col]),
        made.features,
        names=names,
        ids=[f"n{n}" for n in range(made.num_nodes)],
        feature_names=["balance", "<b>age</b>", "visits"],
        node_info={"city": np.array(["Graz", "Wien"] * (made.num_nodes // 2))},
    )


@pytest.fixture(scope="session")
def made_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve") / "run"
    detect(named_graph(), ORIGIN, EgoScore(**QUICK_DEFAULT), folder)
    return folder


@pytest.fixture
def run(made_run, tmp_path):
    """A run of its own, without verdicts."""
    return shutil.copytree(made_run, tmp_path / "run")


@pytest.fixture
def room(run):
    return Room.open(run)


@pytest.fixture
def stranger(room):
    """A client without the token."""
    return TestClient(make_app(room, TOKEN, PORT), base_url=BASE)


@pytest.fixture
def client(stranger):
    """The page: it has the cookie and says where its requests come from."""
    assert stranger.get(f"/?token={TOKEN}").status_code == 200
    stranger.headers["origin"] = BASE
    return stranger


class Server:
    """`egoscore review` in a process of its own."""

    def __init__(self, run):
        command = [sys.executable, "-m", "egoscore", "review", str(run), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().removeprefix("Review page: ").strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
