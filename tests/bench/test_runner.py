"""Benchmarks with real processes: limits, failures, kill -9, and going on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore import generate_network
from egoscore.bench.methods import OURS
from egoscore.bench.runner import Benchmark, run_benchmark
from egoscore.bench.worker import Limits
from egoscore.errors import DatasetError, InputError, ParameterError, RunError
from egoscore.run.files import lock_directory

EGOSCORE = [sys.executable, "-m", "egoscore"]


class Watch:
    """Notes what it is told."""

    def __init__(self):
        self.begun, self.done = None, []

    def begin(self, total, done):
        self.begun = (total, done)

    def started(self, task):
        pass

    def finished(self, task, records):
        self.done.append((task.job, task.trial, records[0]["status"]))


def write_network(folder, size, num_edges, num_features=3):
    """A generated network as two Parquet files."""
    folder.mkdir()
    graph = generate_network(size, num_edges, num_features, seed=1)
    source = np.repeat(np.arange(size), graph.neighbours.degrees)
    ends = {"source": source, "target": graph.neighbours.indices.astype(np.int64)}
    pq.write_table(pa.table(ends), folder / "edges.parquet")
    columns = {name: graph.features[:, i] for i, name in enumerate(graph.feature_names)}
    pq.write_table(
        pa.table({"id": graph.ids, "label": graph.labels} | columns), folder / "nodes.parquet"
    )
    return str(folder)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_network(tmp_path_factory.mktemp("data") / "small", 60, 120)


def plan_for(dataset, out, *methods, **more):
    return Benchmark((dataset,), methods, Path(out), **{"trials": 2} | more)


def lines(out):
    return [json.loads(line) for line in (Path(out) / "results.jsonl").read_text().splitlines()]


def test_every_trial_is_a_line_and_none_is_run_twice(small, tmp_path):
    watch = Watch()
    run_benchmark(plan_for(small, tmp_path / "b", "lof", "oddball"), watch)
    assert watch.begun == (6, 0)
    records = lines(tmp_path / "b")
    assert len(records) == 2 * (7 + 2)
    assert all(record["status"] == "ok" for record in records)
    assert all(record["cpu_seconds"] >= 0 and record["peak_mb"] > 50 for record in records)
    again = Watch()
    run_benchmark(plan_for(small, tmp_path / "b", "lof", "oddball", "if", trials=3), again)
    assert again.begun == (12, 6)
    assert {(job, trial) for job, trial, _ in again.done} == {
        ("trivial", 2), ("lof", 2), ("oddball", 2), ("if", 0), ("if", 1), ("if", 2),
    }  # fmt: skip


def test_two_processes_give_the_same_results_as_one(small, tmp_path):
    for jobs in (1, 2):
        run_benchmark(plan_for(small, tmp_path / str(jobs), "if", "lof", jobs=jobs), Watch())

    def scores(out):
        return {(r["method"], r["trial"]): r["roc_auc"] for r in lines(out)}

    assert scores(tmp_path / "1") == scores(tmp_path / "2")


def test_a_trial_that_takes_too_long_is_killed_and_the_others_are_not_tried(tmp_path):
    small = write_network(tmp_path / "net", 600, 3000)  # small, but not in so little time
    limits = Limits(seconds=1.5, gigabytes=16)
    watch = Watch()
    began = time.monotonic()
    plan = plan_for(small, tmp_path / "b", "paper", trials=4, limits=limits)
    results = run_benchmark(plan, watch)
    assert time.monotonic() - began < 60
    found = results.trials(small, "rec")
    assert [record["status"] for record in found] == ["TLE"] * 4
    assert found[0]["reason"] == "more than 1.5 s"
    assert found[3]["reason"].startswith("not run: trial 0")
    assert [record["status"] for record in results.trials(small, "degree")] == ["ok"] * 4
    more = plan_for(small, tmp_path / "b", "paper", trials=5, limits=limits)
    last = run_benchmark(more, watch).trials(small, "rec")[4]
    assert last["reason"].startswith("not run")  # also after a new start
    assert {record["time_limit"] for record in (*found, last)} == {1.5}


def test_a_trial_that_takes_too_much_memory_is_oom(tmp_path):
    dataset = write_network(tmp_path / "wide", 9000, 9000)
    plan = plan_for(dataset, tmp_path / "b", "dominant", trials=1, limits=Limits(300, 1.0))
    (record,) = run_benchmark(plan, Watch()).trials(dataset, "dominant")
    assert record["status"] == "OOM", record


def test_a_failure_is_a_line_with_its_reason_and_can_be_tried_again(tmp_path):
    dataset = write_network(tmp_path / "net", 60, 120)
    table = pq.read_table(Path(dataset) / "nodes.parquet")
    huge = pa.array(np.where(np.arange(60) == 0, 3e38, 0.0).astype(np.float32))
    table = table.set_column(2, table.column_names[2], huge)
    pq.write_table(table, Path(dataset) / "nodes.parquet")
    plan = plan_for(dataset, tmp_path / "b", "lof", trials=1)
    (record,) = run_benchmark(plan, Watch()).trials(dataset, "lof")
    assert record["status"] == "failed"
    assert "ValueError" in record["reason"]
    watch = Watch()
    run_benchmark(plan_for(dataset, tmp_path / "b", "lof", trials=1, retry=True), watch)
    assert ("lof", 0, record["status"]) in watch.done


def test_what_cannot_be_run_is_refused_before_anything_is_written(small, tmp_path):
    for plan, error in (
        (plan_for(small, tmp_path / "b", "nonsense"), ParameterError),
        (Benchmark((), ("lof",), tmp_path / "b"), ParameterError),
        (plan_for("no-such-data", tmp_path / "b", "lof"), DatasetError),
    ):
        with pytest.raises(error):
            run_benchmark(plan, Watch())
    assert not (tmp_path / "b" / "results.jsonl").exists()
    blank = write_network(tmp_path / "blank", 30, 60)
    table = pq.read_table(Path(blank) / "nodes.parquet").drop_columns(["label"])
    pq.write_table(table, Path(blank) / "nodes.parquet")
    with pytest.raises(InputError, match="no known outliers"):
        run_benchmark(plan_for(blank, tmp_path / "c", "lof"), Watch())


def test_two_benchmarks_do_not_share_a_directory(small, tmp_path):
    (tmp_path / "b").mkdir()
    with lock_directory(tmp_path / "b"), pytest.raises(RunError, match="Another process"):
        run_benchmark(plan_for(small, tmp_path / "b", "lof"), Watch())


def test_a_missing_library_is_named(small, tmp_path, monkeypatch):
    monkeypatch.setattr("egoscore.bench.runner.find_spec", lambda name: None)
    with pytest.raises(RunError, match=r"pygod.*egoscore\[bench\]"):
        run_benchmark(plan_for(small, tmp_path / "b", "dominant"), Watch())


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT])
def test_killed_half_way_it_goes_on_where_it_stopped(small, tmp_path, way):
    out = tmp_path / "b"
    command = [*EGOSCORE, "bench", "--datasets", small, "--methods", "if,rec", "--trials", "6"]
    command += ["--out", str(out)]
    # a name of its own, so that its processes can be told from those of other tests
    mark = f"mark-{os.getpid()}-{way}"
    environment = os.environ | {"EGOSCORE_TEST": mark}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True)
    results = out / "results.jsonl"
    deadline = time.monotonic() + 120
    while not (results.exists() and results.read_text().count("\n") > 8):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(way)
    _, said = process.communicate(timeout=60)
    if way == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted" in said
    assert not (out / "tables.md").exists()
    before = len(lines(out))
    assert before < 6 * (7 + 2)
    _wait_until_gone(mark)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    records = lines(out)
    assert len(records) == 6 * (7 + 2)
    assert len({(r["method"], r["trial"]) for r in records}) == len(records)
    assert "finished before" in done.stderr
    assert (out / "tables.tex").exists()
    assert not (out / "scratch").exists()


def _wait_until_gone(mark):
    """No process started for this test may outlive its parent."""
    deadline = time.monotonic() + 30
    while _marked(mark):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _marked(mark):
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def test_the_command_prints_the_table_and_lists_methods(small, tmp_path):
    command = [*EGOSCORE, "bench", "--datasets", small, "--methods", "lof", "--trials", "1"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "b")], capture_output=True, text=True, check=True
    )
    assert "LOF" in done.stdout
    assert "a random score gets 50.0 ±" in " ".join(done.stdout.split())
    assert "| LOF |" in (tmp_path / "b" / "tables.md").read_text()
    assert "2 trials to run" in done.stderr
    listed = subprocess.run([*EGOSCORE, "bench", "--list"], capture_output=True, text=True)
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert names[names.index("paper") : names.index("solvers")] == ["paper", *OURS]
    assert ["rec-unweighted", "Rec", "(unweighted)"] in map(str.split, listed.stdout.splitlines())
    wrong = subprocess.run([*command, "--methods", "lofe"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1
