"""What is on the disk: whole lines, facts, and refusals."""

import json

import numpy as np
import pytest

from egoscore import generate_network
from egoscore.bench.reference import roc_auc
from egoscore.bench.results import Facts, Results
from egoscore.errors import InputError, RunError

FACTS = Facts(100, 200, 3, 5, "abc")
LIMITS = {"seconds": 60.0, "gigabytes": 2.0}


def record(method="lof", trial=0, status="ok", dataset="net"):
    return {"dataset": dataset, "method": method, "trial": trial, "status": status, "roc_auc": 0.5}


@pytest.fixture
def results(tmp_path):
    found = Results.open(tmp_path / "bench")
    found.register({"net": FACTS}, LIMITS)
    return found


def test_what_was_added_is_there_again(results):
    results.add([record(), record(trial=1, status="failed")])
    again = Results.open(results.path)
    assert again.facts == {"net": FACTS}
    assert again.records == results.records
    assert json.loads((results.path / "bench.json").read_text())["limits"] == LIMITS
    assert [r["trial"] for r in again.trials("net", "lof")] == [0, 1]


def test_other_versions_of_packages_are_remembered(results, monkeypatch):
    (first,) = results.versions
    assert first["torch"].startswith("2.")
    again = Results.open(results.path)
    again.register({"net": FACTS}, LIMITS)
    assert again.versions == [first]
    other = first | {"torch": "9.0"}
    monkeypatch.setattr("egoscore.bench.results._versions", lambda: other)
    again.register({"net": FACTS}, LIMITS)
    assert Results.open(results.path).versions == [first, other]


def test_missing_rows_and_rows_to_retry(results):
    results.add([record(), record("if", status="TLE")])
    assert results.missing("net", ["lof", "if", "scan"], 0, retry=False) == ["scan"]
    assert results.missing("net", ["lof", "if", "scan"], 0, retry=True) == ["if", "scan"]
    assert results.missing("net", ["lof"], 1, retry=False) == ["lof"]


def test_half_a_line_is_not_a_result(results):
    results.add([record()])
    with results.lines.open("a") as file:
        file.write(json.dumps(record(trial=1))[:20])
    again = Results.open(results.path)
    assert len(again.records) == 1
    assert not results.lines.read_text().endswith("\n")  # whoever looks changes nothing
    again.register({"net": FACTS}, LIMITS)
    again.add([record(trial=1)])
    assert len(Results.open(results.path).records) == 2


def test_a_later_result_replaces_an_earlier_one(results):
    results.add([record(status="failed")])
    results.add([record()])
    assert Results.open(results.path).trials("net", "lof")[0]["status"] == "ok"


def test_a_network_that_has_changed_is_refused(results):
    with pytest.raises(RunError, match="not the graph"):
        Results.open(results.path).register({"net": Facts(100, 201, 3, 5, "abd")}, LIMITS)


def test_rubbish_is_refused(tmp_path, results):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="is a file"):
        Results.open(tmp_path / "file")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(RunError, match="holds no benchmark"):
        Results.open(tmp_path / "other")
    results.lines.write_text("{}\n")
    with pytest.raises(RunError, match="Line 1"):
        Results.open(results.path)
    (results.path / "bench.json").write_text("[]")
    with pytest.raises(RunError, match="cannot be read"):
        Results.open(results.path)


def test_facts_need_outliers_of_both_kinds():
    from dataclasses import replace

    graph = generate_network(50, 100, 3)
    assert Facts.of(graph, "net").outliers == graph.labels.sum()
    for labels in (None, np.zeros(50, dtype=np.int8), np.ones(50, dtype=np.int8)):
        with pytest.raises(InputError, match="no known outliers"):
            Facts.of(replace(graph, labels=labels), "net")


def test_facts_count_the_labels_that_are_known():
    from dataclasses import replace

    graph = generate_network()
    labels = graph.labels.copy()
    labels[np.flatnonzero(labels == 0)[:440]] = -1
    facts = Facts.of(replace(graph, labels=labels), "net")
    assert (facts.outliers, facts.unlabelled) == (60, 440)
    assert facts.by_chance("average_precision") == Facts(560, 0, 0, 60, "").by_chance(
        "average_precision"
    )
    assert facts.nodes_in_words == "560 known of 1,000"
    assert FACTS.nodes_in_words == f"{FACTS.nodes:,}"
    labels[labels == 0] = -1
    with pytest.raises(InputError, match="labels of both kinds"):
        Facts.of(replace(graph, labels=labels), "net")


def test_chance_is_that_of_the_metric():
    assert FACTS.by_chance("roc_auc") == roc_auc(FACTS.nodes, FACTS.outliers)
    assert FACTS.by_chance("recall_at_k").mean == 100 * FACTS.outliers / FACTS.nodes
