"""Trials in processes of their own: what becomes of those that die, hang or leave others behind."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

DRIVER = """
import json, os, subprocess, sys, time
from egoscore.bench import methods, protocol, worker
from egoscore.bench.trial import Task

def score(graph, draw, wanted):
    import numpy as np
    print("said by the method", flush=False)
    draw.choose("lr", [0.25])
    way = os.environ["WAY"]
    if way == "exit":
        sys.exit(3)
    if way == "die":
        os.kill(os.getpid(), 9)
    if way == "abort":
        os.abort()
    if way == "raise":
        raise RuntimeError("it does not work")
    if way == "memory":
        return {"degree": np.empty(2**40)}
    if way == "some":
        return {"degree": graph.neighbours.degrees.astype(float), "random": ValueError("half")}
    if way == "leave":
        import tempfile
        tempfile.mkdtemp(prefix="left-")
        subprocess.Popen(["sleep", "300"])
    if way in ("sleep", "orphan"):
        time.sleep(300)
    return dict.fromkeys(wanted, graph.neighbours.degrees.astype(float))

methods.jobs()["trivial"] = protocol.Job("trivial", methods.jobs()["trivial"].methods, score)
worker.main()
"""


def start(way, seconds=60.0):
    """A worker whose method behaves in the given way, with a task in hand."""
    limits = json.dumps({"seconds": seconds, "gigabytes": 4.0})
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, limits],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"WAY": way, "OMP_NUM_THREADS": "1"},
    )
    rows = ["degree", "random"] if way == "some" else ["degree"]
    task = {"dataset": "builtin", "data_dir": None, "job": "trivial", "methods": rows, "trial": 0}
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    return process


def run(way, seconds=60.0):
    process = start(way, seconds)
    records = json.loads(process.stdout.readline())
    _, said = process.communicate(timeout=60)
    return records, said


@pytest.mark.parametrize(
    ("way", "status", "reason"),
    [
        ("fine", "ok", ""),
        ("exit", "failed", "the process ended without a result"),
        ("die", "OOM", "killed, as the system does when memory runs out"),
        ("abort", "failed", "died of signal 6"),
        ("raise", "failed", "RuntimeError: it does not work"),
        ("leave", "ok", ""),
    ],
)
def test_every_end_is_a_record(way, status, reason):
    (record,), _ = run(way)
    assert (record["status"], record["reason"]) == (status, reason)
    assert record["cpu_seconds"] >= 0
    assert record["peak_mb"] > 50
    assert record["parameters"] == {"lr": 0.25}
    assert (record["time_limit"], record["memory_limit"]) == (60.0, 4.0)


def test_nothing_is_left_in_the_folder_for_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    run("leave")
    assert not list(tmp_path.rglob("left-*"))


def test_memory_that_cannot_be_had_is_oom():
    (record,), _ = run("memory")
    assert record["status"] == "OOM"


def test_one_row_may_fail_without_the_others():
    records, _ = run("some")
    assert [record["status"] for record in records] == ["ok", "failed"]
    assert records[1]["reason"] == "ValueError: half"


def test_what_is_printed_is_kept_apart_from_answers():
    _, said = run("raise")
    assert "said by the method" in said
    assert "RuntimeError: it does not work" in said  # with its traceback


def test_a_trial_that_hangs_is_killed():
    began = time.monotonic()
    (record,), _ = run("sleep", seconds=2.0)
    assert time.monotonic() - began < 60
    assert (record["status"], record["reason"]) == ("TLE", "more than 2 s")
    assert record["time_limit"] == 2.0
    assert record["parameters"] == {"lr": 0.25}


def children(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


@pytest.mark.parametrize("way", ["kill the worker", "leave the worker alone"])
def test_no_trial_outlives_its_worker(way):
    process = start("orphan")
    deadline = time.monotonic() + 60
    while not (trial := children(process.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    if way == "kill the worker":
        process.kill()
    process.stdin.close()
    assert process.stdout.readline() == ""  # and whoever reads its answers is not left waiting
    process.wait(timeout=30)
    while Path(f"/proc/{trial[0]}").exists():
        assert time.monotonic() < deadline + 30
        time.sleep(0.1)
    process.stdout.close()
    process.stderr.close()


def test_a_network_that_cannot_be_loaded_is_a_record_not_a_death():
    process = start("fine")
    assert json.loads(process.stdout.readline())[0]["status"] == "ok"
    task = {
        "dataset": "nowhere",
        "data_dir": None,
        "job": "trivial",
        "methods": ["degree"],
        "trial": 0,
    }
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    (record,) = json.loads(process.stdout.readline())
    assert record["status"] == "failed"
    assert "DatasetError" in record["reason"]
    process.communicate(timeout=60)
