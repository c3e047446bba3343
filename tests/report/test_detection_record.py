"""JSON for other programs: one object that agrees with the ranking."""

import json
from dataclasses import replace

import numpy as np
import pytest

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.notes import Note
from egoscore.report.console import detection_record
from egoscore.report.notes import render

NOTE = Note.info("isolated-nodes", table="nodes.csv", count=2)
QUICK = {"updates": 2, "hidden_size": 8}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    graph = generate_network(60, 150, 3, seed=1, outlier_fraction=0.1)
    origin = Origin("friends", (NOTE,), "egoscore detect friends")
    return detect(graph, origin, EgoScore(**QUICK), tmp_path_factory.mktemp("machine") / "run")


def strictly(text):
    """JSON as other languages read it: no NaN, no infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_graph_and_the_notes_are_included(found):
    record = strictly(detection_record(found, 5))
    assert record["network"] == {
        "nodes": 60,
        "edges": 150,
        "features": 3,
        "directed": False,
        "dropped_self_loops": 0,
        "dropped_duplicates": 0,
    }
    assert record["notes"] == [render(NOTE)]
    assert record["codes"][0] == {
        "code": "isolated-nodes",
        "severity": "info",
        "fields": {"table": "nodes.csv", "count": 2},
    }
    assert record["run"] == str(found.path)


def test_the_threshold_and_the_caveats_are_included(found):
    record = strictly(detection_record(found, 5))
    assert record["threshold"] == found.detector.threshold_
    assert record["num_flagged"] == int(found.detector.label_.sum())
    assert record["rule"] == render(found.findings.rule)
    assert record["remarks"] == [render(note) for note in found.findings.caveats]
    codes = [note["code"] for note in record["codes"]]
    kept = found.findings
    assert codes == [note.code for note in (*kept.notes, kept.rule, *kept.caveats)]
    assert record["meaning"]


def test_the_highest_nodes_have_their_scores_and_reasons(found):
    record = strictly(detection_record(found, 5))
    assert len(record["top"]) == 5
    for row, mine, why in zip(
        found.ranking.to_pylist(), record["top"], found.findings.explanations, strict=False
    ):
        for name in ("node", "score", "rank", "percentile", "p_value", "flag", "ego_size"):
            assert mine[name] == row[name]
        assert (mine["summary"], mine["causes"]) == (why.summary, list(why.causes))
        assert mine["reason"] == why.reason
        assert str(mine["node"]) == why.node


@pytest.mark.parametrize(("top", "shown"), [(0, 0), (1, 1), (60, 60), (1000, 60)])
def test_top_nodes_are_limited_by_the_graph(found, top, shown):
    record = strictly(detection_record(found, top))
    assert len(record["top"]) == shown
    explained = [row for row in record["top"] if "summary" in row]
    assert len(explained) == min(shown, len(found.findings.explanations))


def test_the_evaluation_is_included_if_labels_are_known(found):
    record = strictly(detection_record(found, 1))
    assert record["evaluation"]["num_outliers"] == found.evaluation.num_outliers
    assert record["evaluation"]["roc_auc"] == found.evaluation.roc_auc
    assert strictly(detection_record(replace(found, evaluation=None), 1))["evaluation"] is None


@pytest.mark.parametrize("name", ["\ud800", "🙂", "é", "漢", "\x1b[2J", "\u2028"])
def test_any_id_is_written_in_ascii(found, tmp_path, name):
    """So that any terminal can print it."""
    ids = np.array([name, *map(str, range(59))], dtype=object)
    graph = replace(found.graph, ids=ids)
    again = detect(graph, Origin(name), EgoScore(**QUICK), tmp_path)
    text = detection_record(again, 60)
    record = strictly(text.encode("ascii").decode())
    named = {row["node"] for row in record["top"]}
    assert (name if name != "\ud800" else r"\ud800") in named
