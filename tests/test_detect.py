"""The main job: what it returns, what it writes, and what it refuses before it writes."""

import json
import platform
from dataclasses import asdict, replace
from importlib.metadata import version

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detect import describe, detect
from egoscore.errors import DeviceError, ParameterError
from egoscore.tell.words import accuracy

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


@pytest.fixture(scope="module")
def found(graph, tmp_path_factory):
    out = tmp_path_factory.mktemp("detect") / "run"
    return detect(graph, "friends", EgoScore(**QUICK, contamination=0.2), str(out))


class TestDetection:
    def test_it_holds_what_was_given(self, graph, tmp_path):
        detector = EgoScore(**QUICK)
        found = detect(graph, "friends", detector, str(tmp_path / "run"))
        assert found.graph is graph
        assert found.detector is detector
        assert found.path == tmp_path / "run"

    def test_the_scores_are_those_of_fitting(self, graph, found):
        alone = EgoScore(**QUICK, contamination=0.2).fit(graph)
        assert torch.equal(found.detector.decision_score_, alone.decision_score_)
        assert torch.equal(found.detector.label_, alone.label_)
        assert found.detector.threshold_ == alone.threshold_

    def test_the_ranking_gives_every_node_its_score_and_label(self, graph, found):
        table = found.ranking
        names = table["node"].to_pylist()
        score, label = found.detector.decision_score_.tolist(), found.detector.label_.tolist()
        expected = dict(zip(graph.ids.tolist(), zip(score, label, strict=True), strict=True))
        answers = zip(table["score"].to_pylist(), table["label"].to_pylist(), strict=True)
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
        assert written == describe(graph, "friends", EgoScore(**QUICK, contamination=0.2))

    def test_the_model_written_is_the_detector(self, found):
        loaded = EgoScore.load(found.path)
        assert torch.equal(loaded.decision_score_, found.detector.decision_score_)

    def test_the_report_tells_what_was_found(self, found):
        page = (found.path / "report.html").read_text()
        assert "friends" in page
        assert accuracy(found.evaluation, 30) in page
        assert found.ranking["node"][0].as_py() in page


class TestWithoutLabels:
    def test_there_is_no_evaluation(self, graph, tmp_path):
        found = detect(replace(graph, labels=None), "friends", EgoScore(**QUICK), tmp_path)
        assert found.evaluation is None
        assert "known_label" not in found.ranking.column_names
        assert "Known outliers" not in (tmp_path / "report.html").read_text()

    @pytest.mark.parametrize("label", [0, 1])
    def test_nor_where_all_labels_are_the_same(self, graph, tmp_path, label):
        alike = replace(graph, labels=np.full(30, label, dtype=np.int8))
        found = detect(alike, "friends", EgoScore(**QUICK), tmp_path)
        assert found.evaluation is None
        assert set(found.ranking["known_label"].to_pylist()) == {label}


class TestRefusals:
    def test_a_gpu_that_is_not_there_leaves_nothing_behind(self, graph, tmp_path, monkeypatch):
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        with pytest.raises(DeviceError, match="GPU 0"):
            detect(graph, "friends", EgoScore(**QUICK, gpu=0), tmp_path / "run")
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("wrong", [{"alpha": 2.0}, {"seed": -1}, {"contamination": 0.9}])
    def test_a_bad_parameter_leaves_nothing_behind(self, graph, tmp_path, wrong):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            detect(graph, "friends", EgoScore(**QUICK, **wrong), tmp_path / "run")
        assert not (tmp_path / "run").exists()


class TestDescription:
    def test_it_says_what_the_network_is(self):
        edges = [[0, 1, 1, 2, 2, 3], [1, 0, 0, 2, 2, 4]]
        directed = AttributedGraph.from_edges(edges, np.eye(5, 2), directed=True)
        assert describe(directed, "friends", EgoScore(preset="paper"))["network"] == {
            "nodes": 5,
            "edges": 3,
            "features": 2,
            "directed": True,
            "dropped_self_loops": 2,
            "dropped_duplicates": 1,
        }

    def test_it_says_how_nodes_were_scored(self, graph):
        detector = EgoScore("paper", seed=7, contamination=0.3, alpha=0.25)
        config = describe(graph, "friends", detector)
        assert config["settings"] == asdict(detector.settings())
        assert config["settings"]["alpha"] == 0.25
        assert (config["seed"], config["preset"], config["contamination"]) == (7, "paper", 0.3)
        assert config["source"] == "friends"

    def test_it_says_with_which_versions(self, graph):
        found = describe(graph, "friends", EgoScore(preset="paper"))["versions"]
        assert found.pop("python") == platform.python_version()
        packages = ("egoscore", "numba", "numpy", "scipy", "torch")
        assert found == {name: version(name) for name in packages}

    def test_it_knows_other_data_and_not_other_labels(self, graph):
        def fingerprint(network):
            return describe(network, "friends", EgoScore(preset="paper"))["fingerprint"]

        assert fingerprint(replace(graph, labels=None)) == fingerprint(graph)
        assert fingerprint(replace(graph, features=graph.features + 1)) != fingerprint(graph)
