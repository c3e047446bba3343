"""One trial: its metrics against scikit-learn and scipy, and every way to fail."""

import errno
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, roc_auc_score

from egoscore import AttributedGraph, generate_network
from egoscore.bench import trial
from egoscore.bench.methods import jobs
from egoscore.bench.protocol import Hyperparameters, Job
from egoscore.bench.trial import Task, load, not_run, peak_memory, run_trial

GRAPH = generate_network(60, 120, 3, outlier_fraction=0.2, seed=2)
DEGREES = GRAPH.neighbours.degrees.astype(float)
NOISE = np.random.default_rng(0).normal(size=60)


@pytest.fixture
def judged(monkeypatch):
    """Runs a trial whose method does as told on a network: its records by row."""

    def run(method, graph=GRAPH, rows=("degree",)):
        monkeypatch.setattr(trial, "load", lambda dataset, data_dir: graph)
        monkeypatch.setitem(jobs(), "trivial", Job("trivial", jobs()["trivial"].methods, method))
        found = run_trial(Task("net", None, "trivial", rows, 3))
        assert [record["method"] for record in found] == list(rows)
        return {record["method"]: record for record in found}

    return run


def giving(**scores):
    return lambda graph, draw, wanted: scores


def raising(error):
    def method(graph, draw, wanted):
        raise error

    return method


# what is measured


@pytest.mark.parametrize("score", [NOISE, np.round(NOISE), NOISE + DEGREES, -DEGREES])
def test_metrics_are_those_of_sklearn_and_scipy(judged, score):
    record = judged(giving(degree=score))["degree"]
    top = np.argsort(-score, kind="stable")[: GRAPH.labels.sum()]
    assert (record["status"], record["reason"]) == ("ok", "")
    assert record["roc_auc"] == pytest.approx(roc_auc_score(GRAPH.labels, score))
    precision = average_precision_score(GRAPH.labels, score)
    assert record["average_precision"] == pytest.approx(precision)
    assert record["recall_at_k"] == pytest.approx(GRAPH.labels[top].mean())
    assert record["size_correlation"] == pytest.approx(spearmanr(score, DEGREES).statistic)


def test_only_known_labels_count(judged):
    labels = np.where(np.arange(60) % 3 == 0, -1, GRAPH.labels)
    known = labels >= 0
    record = judged(giving(degree=NOISE), replace(GRAPH, labels=labels))["degree"]
    assert record["roc_auc"] == pytest.approx(roc_auc_score(labels[known], NOISE[known]))
    low, high = record["roc_auc_interval"]
    assert low <= record["roc_auc"] <= high


def test_where_nothing_varies_nothing_correlates(judged):
    same = judged(giving(degree=np.ones(60)))["degree"]
    assert (same["roc_auc"], same["size_correlation"]) == (0.5, 0.0)
    ring = AttributedGraph.from_edges(
        [np.arange(60), (np.arange(60) + 1) % 60], GRAPH.features, labels=GRAPH.labels
    )
    assert judged(giving(degree=NOISE), ring)["degree"]["size_correlation"] == 0.0


def test_a_method_sees_the_network_without_what_tells_its_outliers(judged):
    seen = []

    def method(graph, draw, wanted):
        seen.append((graph, draw, wanted))
        draw.choose("lr")
        return {"degree": DEGREES, "random": NOISE}

    records = judged(method, rows=("random", "degree"))
    ((graph, draw, wanted),) = seen
    assert graph.labels is None
    assert not graph.node_info
    assert graph.fingerprint() == GRAPH.fingerprint()
    assert (draw.dataset, draw.job, draw.trial) == ("net", "trivial", 3)
    assert wanted == {"random", "degree"}
    drawn = {"lr": Hyperparameters("net", "trivial", 3).choose("lr")}
    assert all(record["parameters"] == drawn for record in records.values())


def test_time_is_the_processors_not_the_clocks(judged):
    def sleep_and_work(graph, draw, wanted):
        time.sleep(0.3)
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        return {"degree": DEGREES}

    before = time.process_time()
    record = judged(sleep_and_work)["degree"]
    assert 0.2 <= record["cpu_seconds"] <= time.process_time() - before + 0.001


def test_memory_is_told_before_and_after(judged, monkeypatch):
    monkeypatch.setattr(trial, "peak_memory", iter([100.04, 250.08]).__next__)
    record = judged(giving(degree=DEGREES))["degree"]
    assert (record["start_mb"], record["peak_mb"]) == (100.0, 250.1)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="another system")
def test_memory_is_what_the_system_says_in_megabytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    assert peak_memory() == pytest.approx(kilobytes / 1024, rel=0.02)


def test_a_trial_gives_the_same_again_and_another_trial_another_seed(monkeypatch):
    monkeypatch.setattr(trial, "load", lambda dataset, data_dir: GRAPH)
    tasks = [Task("net", None, "trivial", ("random",), number) for number in (0, 0, 1)]
    first, again, other = (run_trial(task)[0]["roc_auc"] for task in tasks)
    assert first == again != other


# how it may fail


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (np.where(np.arange(60) < 2, np.nan, NOISE), "2 of 60 scores are not finite."),
        (np.where(np.arange(60) == 7, -np.inf, NOISE), "1 of 60 scores are not finite."),
        (NOISE[:59], "There are (59,) scores for 60 nodes."),
        (NOISE[:, None], "There are (60, 1) scores for 60 nodes."),
    ],
)
def test_a_score_that_ranks_nothing_fails_alone(judged, score, reason):
    records = judged(giving(degree=score, random=NOISE), rows=("degree", "random"))
    assert records["degree"]["status"] == "failed"
    assert records["degree"]["reason"] == f"ValueError: {reason}"
    assert "roc_auc" not in records["degree"]
    assert records["random"]["status"] == "ok"


def test_a_failure_costs_all_rows_and_keeps_what_was_drawn(judged, capsys):
    def method(graph, draw, wanted):
        draw.choose("alpha")
        raise ZeroDivisionError("by  \n nothing")

    for record in judged(method, rows=("degree", "random")).values():
        assert record["status"] == "failed"
        assert record["reason"] == "ZeroDivisionError: by nothing"
        assert record["parameters"].keys() == {"alpha"}
    assert "Traceback" in capsys.readouterr().err


def of_numpy():
    np.empty(2**58)


def of_torch():
    torch.empty(2**58)


@pytest.mark.parametrize("allocate", [of_numpy, of_torch])
def test_memory_that_a_library_cannot_have_is_oom(judged, allocate):
    assert judged(lambda *given: allocate())["degree"]["status"] == "OOM"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OSError(errno.ENOMEM, "in whatever language"), "OOM"),
        (OSError(errno.ENOSPC, "in whatever language"), "failed"),
        (RuntimeError("std::bad_alloc"), "OOM"),
        (RuntimeError("DefaultCPUAllocator: not enough memory"), "OOM"),
        (RuntimeError("shapes in memory do not match"), "failed"),
    ],
)
def test_libraries_say_in_different_ways_that_memory_ran_out(judged, error, status):
    assert judged(raising(error))["degree"]["status"] == status
    assert judged(giving(degree=error))["degree"]["status"] == status


def test_a_reason_is_never_long(judged):
    assert len(judged(raising(ValueError("x" * 9999)))["degree"]["reason"]) == 500


@pytest.mark.parametrize("limits", [{}, {"time_limit": 2.0, "memory_limit": 16.0}])
def test_a_trial_that_is_skipped_says_which_one_hit_the_limit(limits):
    killed = Task("net", None, "gdss", ("rec", "energy"), 4).records("TLE", "more than 2 s")
    first = [record | limits | {"seconds": 2.01} for record in killed]
    assert not_run(Task("net", None, "gdss", ("energy",), 7), first) == [
        {
            "dataset": "net",
            "method": "energy",
            "job": "gdss",
            "trial": 7,
            "status": "TLE",
            "reason": "not run: trial 4 hit the limit (more than 2 s)",
            **limits,
        }
    ]


def test_a_network_is_loaded_once_for_its_trials_and_then_let_go(monkeypatch):
    loaded = []
    monkeypatch.setattr(trial, "load_source", lambda *given: loaded.append(given))
    load.cache_clear()
    for name in ("a", "a", "b", "b", "a"):
        load(name, "data")
    load.cache_clear()
    assert loaded == [("a", "data"), ("b", "data"), ("a", "data")]
