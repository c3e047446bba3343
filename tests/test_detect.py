"""`detect`: what it returns, what it writes, and what it refuses before it writes."""

import json
import platform
from dataclasses import asdict, replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detect import Origin, describe, detect
from egoscore.errors import DeviceError, ParameterError
from egoscore.notes import Note
from egoscore.report.console import detection_record
from egoscore.report.findings import Findings
from egoscore.run.graph_store import load_graph
from egoscore.run.reader import Run

QUICK = {
    "preset": "paper",
    "epochs": 2,
    "num_levels": 2,
    "num_samples": 1,
    "steps": 5,
    "hidden_size": 8,
}


@pytest.fixture(scope="module")
def graph():
    named = generate_network(30, 70, 3, outlier_fraction=0.2)
    return replace(named, ids=np.array([f"node {number}" for number in range(30)]))


READ = (Note.info("few-nodes", nodes=12), Note.warning("all-scores-equal"))


def written(path):
    """The findings in a run directory."""
    return Findings.from_json(Run.open(path).findings)


@pytest.fixture(scope="module")
def found(graph, tmp_path_factory):
    out = tmp_path_factory.mktemp("detect") / "run"
    return detect(graph, Origin("friends"), EgoScore(**QUICK, contamination=0.2), str(out))


class TestDetection:
    def test_it_holds_what_was_given(self, graph, tmp_path):
        detector = EgoScore(**QUICK)
        found = detect(graph, Origin("friends"), detector, str(tmp_path / "run"))
        assert found.graph is graph
        assert found.detector is detector
        assert found.path == tmp_path / "run"

    def test_the_scores_are_those_of_fit(self, graph, found):
        alone = EgoScore(**QUICK, contamination=0.2).fit(graph)
        assert torch.equal(found.detector.decision_score_, alone.decision_score_)
        assert torch.equal(found.detector.label_, alone.label_)
        assert found.detector.threshold_ == alone.threshold_

    def test_the_ranking_gives_every_node_its_score_and_label(self, graph, found):
        table = found.ranking
        names = table["node"].to_pylist()
        score, label = found.detector.decision_score_.tolist(), found.detector.label_.tolist()
        expected = dict(zip(graph.ids.tolist(), zip(score, label, strict=True), strict=True))
        answers = zip(table["score"].to_pylist(), table["flag"].to_pylist(), strict=True)
        assert dict(zip(names, answers, strict=True)) == expected
        assert table["score"].to_pylist() == sorted(score, reverse=True)
        assert sum(label) == 6

    def test_the_evaluation_is_scikit_learns(self, graph, found):
        score = found.detector.decision_score_.numpy()
        assert found.evaluation.roc_auc == pytest.approx(roc_auc_score(graph.labels, score))
        assert found.evaluation.average_precision == pytest.approx(
            average_precision_score(graph.labels, score)
        )
        assert found.evaluation.num_outliers == 6


class TestFiles:
    def test_the_scores_written_are_the_ranking(self, found):
        assert pq.read_table(found.path / "scores.parquet").equals(found.ranking)

    def test_the_configuration_written_is_the_description(self, graph, found):
        written = json.loads((found.path / "config.json").read_text())
        assert written == describe(graph, Origin("friends"), EgoScore(**QUICK, contamination=0.2))

    def test_the_model_written_is_the_detector(self, found):
        loaded = EgoScore.load(found.path)
        assert torch.equal(loaded.decision_score_, found.detector.decision_score_)

    def test_the_report_is_about_this_graph(self, found):
        page = (found.path / "report.html").read_text()
        assert "friends" in page
        assert f"{100 * found.evaluation.roc_auc:.1f}%" in page
        assert found.ranking["node"][0].as_py() in page


class TestKept:
    """What a run keeps, so that it can be moved and read later."""

    def test_the_findings_written_are_those_returned(self, found):
        assert written(found.path) == found.findings

    def test_the_highest_are_explained_in_their_order(self, found):
        why = found.findings.explanations
        assert [one.rank for one in why] == list(range(1, 21))
        assert [one.node for one in why] == found.ranking["node"].to_pylist()[:20]
        assert list(why) == list(found.detector.explain_all([one.node for one in why]))

    def test_the_threshold_and_how_many_exceed_it_are_kept(self, found):
        assert found.findings.threshold == found.detector.threshold_
        assert found.findings.num_flagged == int(found.detector.label_.sum()) == 6
        assert found.findings.rule.code == "threshold-share"
        assert found.findings.rule.fields["share"] == 0.2

    def test_the_spreadsheet_is_the_ranking(self, found):
        frame = pd.read_csv(found.path / "scores.csv")
        assert frame.columns.tolist() == found.ranking.column_names
        assert frame["node"].tolist() == found.ranking["node"].to_pylist()
        np.testing.assert_allclose(frame["score"], found.ranking["score"], rtol=1e-6)

    def test_the_graph_is_the_one_given(self, graph, found):
        assert load_graph(found.path).fingerprint() == graph.fingerprint()
        assert load_graph(found.path).ids.tolist() == graph.ids.tolist()

    def test_notes_and_the_command_are_kept(self, graph, tmp_path):
        origin = Origin("friends", READ, "egoscore detect 'my friends'")
        found = detect(graph, origin, EgoScore(**QUICK), tmp_path)
        assert written(tmp_path).notes == found.findings.notes == READ
        config = json.loads((tmp_path / "config.json").read_text())
        assert config["command"] == "egoscore detect 'my friends'"

    def test_dropped_edges_are_noted(self, graph, tmp_path):
        less = replace(graph, dropped_self_loops=1, dropped_duplicates=1234)
        found = detect(less, Origin("friends", READ), EgoScore(**QUICK), tmp_path)
        *dropped, first, second = found.findings.notes
        assert (first, second) == READ
        assert [note.fields["count"] for note in dropped] == [1, 1234]
        assert written(tmp_path).notes == found.findings.notes
        record = json.loads(detection_record(found, 1))
        assert [note["code"] for note in record["codes"]][:2] == [note.code for note in dropped]
        assert record["network"]["dropped_duplicates"] == 1234

    def test_without_training_there_are_no_losses(self, graph, tmp_path):
        found = detect(graph, Origin("friends"), EgoScore(**QUICK | {"epochs": 0}), tmp_path)
        assert (found.findings.losses, found.findings.num_steps) == ((), 0)

    def test_columns_of_the_user_may_hold_anything(self, graph, tmp_path):
        """No value in the ranking may end a run that is nearly finished."""
        info = {
            "=a": np.array(["=1"] * 30),
            "list": np.empty(30, object),
            "bytes": np.full(30, b"x"),
        }
        info["list"][:] = [["a", "b"]] * 30
        hostile = replace(graph, node_info=info)
        detect(hostile, Origin("friends"), EgoScore(**QUICK), tmp_path)
        frame = pd.read_csv(tmp_path / "scores.csv")
        assert set(frame["'=a"]) == {"'=1"}
        assert set(frame["list"]) == {"['a', 'b']"}


class TestWithoutLabels:
    def test_there_is_no_evaluation(self, graph, tmp_path):
        found = detect(replace(graph, labels=None), Origin("friends"), EgoScore(**QUICK), tmp_path)
        assert found.evaluation is None
        assert "known_label" not in found.ranking.column_names
        assert "ROC-AUC" not in (tmp_path / "report.html").read_text()

    @pytest.mark.parametrize("label", [0, 1])
    def test_labels_that_are_all_equal_are_not_evaluated(self, graph, tmp_path, label):
        alike = replace(graph, labels=np.full(30, label, dtype=np.int8))
        found = detect(alike, Origin("friends"), EgoScore(**QUICK), tmp_path)
        assert found.evaluation is None
        assert set(found.ranking["known_label"].to_pylist()) == {label}


def test_where_labels_are_partly_known_the_metrics_are_those_of_the_known(graph, tmp_path):
    labels = graph.labels.copy()
    labels[np.flatnonzero(labels == 0)[:10]] = -1
    partly = replace(graph, labels=labels)
    found = detect(partly, Origin("friends"), EgoScore(**QUICK), tmp_path)
    known = labels >= 0
    score = found.detector.decision_score_.numpy()
    assert found.evaluation.roc_auc == pytest.approx(roc_auc_score(labels[known], score[known]))
    assert found.evaluation.num_known == 20
    assert json.loads(detection_record(found, 1))["evaluation"]["num_known"] == 20
    assert "20 of 30 labels are known" in (tmp_path / "report.html").read_text()


class TestRefusals:
    def test_a_missing_gpu_leaves_nothing_behind(self, graph, tmp_path, monkeypatch):
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        with pytest.raises(DeviceError, match="GPU 0"):
            detect(graph, Origin("friends"), EgoScore(**QUICK, gpu=0), tmp_path / "run")
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("wrong", [{"alpha": 2.0}, {"seed": -1}, {"contamination": 0.9}])
    def test_a_bad_parameter_leaves_nothing_behind(self, graph, tmp_path, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            detect(graph, Origin("friends"), EgoScore(**QUICK, **wrong), tmp_path / "run")
        assert not (tmp_path / "run").exists()


class TestDescription:
    def test_it_describes_the_graph(self):
        edges = [[0, 1, 1, 2, 2, 3], [1, 0, 0, 2, 2, 4]]
        directed = AttributedGraph.from_edges(edges, np.eye(5, 2), directed=True)
        assert describe(directed, Origin("friends"), EgoScore(preset="paper"))["network"] == {
            "nodes": 5,
            "edges": 3,
            "features": 2,
            "directed": True,
            "structural": False,
            "dropped_self_loops": 2,
            "dropped_duplicates": 1,
        }

    def test_it_holds_the_settings(self, graph):
        detector = EgoScore("paper", seed=7, contamination=0.3, alpha=0.25)
        config = describe(graph, Origin("friends"), detector)
        assert config["settings"] == asdict(detector.settings())
        assert config["settings"]["alpha"] == 0.25
        assert (config["seed"], config["preset"], config["contamination"]) == (7, "paper", 0.3)
        assert config["source"] == "friends"

    def test_it_holds_the_versions(self, graph):
        found = describe(graph, Origin("friends"), EgoScore(preset="paper"))["versions"]
        assert found.pop("python") == platform.python_version()
        packages = ("egoscore", "numba", "numpy", "scipy", "torch")
        assert found == {name: version(name) for name in packages}

    def test_the_fingerprint_is_of_the_data_without_labels(self, graph):
        def fingerprint(network):
            return describe(network, Origin("friends"), EgoScore(preset="paper"))["fingerprint"]

        assert fingerprint(replace(graph, labels=None)) == fingerprint(graph)
        assert fingerprint(replace(graph, features=graph.features + 1)) != fingerprint(graph)
