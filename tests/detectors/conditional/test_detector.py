"""The default detector at work: interrupted, continued, saved and loaded."""

import json
import shutil
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from default_detector import job
from safetensors.torch import load_file, save_file

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.detectors.conditional import denoiser as centre
from egoscore.detectors.conditional.channels import CHANNELS
from egoscore.detectors.conditional.detector import ConditionalDetector
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.errors import InputError, RunError
from egoscore.run.directory import RunDirectory

QUICK = {"updates": 3, "hidden_size": 8}
SETTINGS = ConditionalSettings(**QUICK)
NETWORKS = [f"network-{number}.safetensors" for number in range(centre.NUM_NETWORKS)]


class Bars:
    """Remembers what it was asked to show, and how far it came."""

    def __init__(self):
        self.shown = []

    @contextmanager
    def __call__(self, title, total, unit):
        done = []
        yield done.append
        self.shown.append((title, total, unit, sum(done)))


@pytest.fixture(scope="module")
def graph():
    return generate_network(60, 150, 4)


def fit(graph, **changes):
    return ConditionalDetector.fit(graph, SETTINGS, job(**changes))


@pytest.fixture(scope="module")
def fitted(graph):
    return fit(graph)


def no_training(monkeypatch):
    def work(*_):
        raise AssertionError("this was done before")

    monkeypatch.setattr(centre, "train_centre", work)


def assert_same(ours, theirs):
    assert list(ours.columns()) == list(theirs.columns())
    for name, values in theirs.columns().items():
        np.testing.assert_array_equal(ours.columns()[name], values, err_msg=name)


class TestDetector:
    def test_it_says_what_it_is_made_of(self, graph, fitted):
        detector, table = fitted
        assert detector.model is detector.learned
        assert detector.num_features == 4
        assert detector.losses.values.shape == (3, centre.NUM_NETWORKS)
        np.testing.assert_array_equal(detector.score(table), table.score)

    def test_progress_comes_to_its_end(self, graph):
        bars = Bars()
        fit(graph, bars=bars)
        shown = [(unit, total, done) for _, total, unit, done in bars.shown]
        count = len(CHANNELS)
        assert shown == [("steps", 4, 4), ("updates", 27, 27), ("channels", count, count)]

    def test_the_training_network_is_known_again(self, graph, fitted):
        detector, table = fitted
        assert_same(detector.measure(graph, job()), table)
        other_names = replace(graph, labels=None, ids=np.arange(60) + 1000)
        assert_same(detector.measure(other_names, job()), table)

    def test_a_network_that_differs_by_one_edge_or_value_is_a_stranger(self, graph, fitted):
        detector, table = fitted
        features = graph.features.copy()
        features[3, 1] += 1
        found = detector.measure(replace(graph, features=features), job())
        far = graph.neighbours.to_scipy().toarray()[3] == 0
        far[3] = False
        linear = "linear_residual"
        assert (found.channels[linear][far] != table.channels[linear][far]).any()

    def test_another_number_of_features_is_refused(self, fitted):
        with pytest.raises(InputError, match="5 features but the detector was fitted on 4"):
            fitted[0].measure(generate_network(20, 40, 5), job())

    def test_packed_and_unpacked_it_is_the_same(self, graph, fitted):
        detector, table = fitted
        tensors, facts = detector.to_tensors(table)
        again, loaded = ConditionalDetector.from_tensors(tensors, json.loads(json.dumps(facts)))
        assert_same(loaded, table)
        assert again.fingerprint == detector.fingerprint
        for network in (graph, generate_network(30, 60, 4, seed=3)):
            ours, theirs = (r.measure(network, job()) for r in (again, detector))
            assert_same(ours, theirs)
        np.testing.assert_array_equal(again.losses.values, detector.losses.values)


class TestContinued:
    @pytest.mark.parametrize("number", [0, 4, 8])
    def test_broken_off_after_any_network_it_ends_the_same(
        self, tmp_path, graph, monkeypatch, number
    ):
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path / "unbroken")
        save = RunDirectory.save

        def power_cut(self, name, tensors, facts):
            save(self, name, tensors, facts)
            if name == f"network-{number}":
                raise RuntimeError("power cut")

        with monkeypatch.context() as until_then:
            until_then.setattr(RunDirectory, "save", power_cut)
            with pytest.raises(RuntimeError, match="power cut"):
                detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path / "run")
        kept = sorted(path.name for path in (tmp_path / "run" / "training").iterdir())
        assert kept == NETWORKS[: number + 1]
        trained, train = [], centre.train_centre

        def recording(centres, nodes, config, seed, fold, advance):
            trained.append(fold)
            return train(centres, nodes, config, seed, fold, advance)

        monkeypatch.setattr(centre, "train_centre", recording)
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path / "run")
        every = range(centre.NUM_NETWORKS)  # once more, to see how stable the ranking is
        assert trained == [*every[number + 1 :], *every]
        files = ["scores.parquet", "scores.csv", "model.safetensors", "report.html", "config.json"]
        for name in (*files, "findings.json", "network/nodes.parquet", "network/edges.parquet"):
            expected = (tmp_path / "unbroken" / name).read_bytes()
            assert (tmp_path / "run" / name).read_bytes() == expected, name

    def test_a_finished_run_given_again_trains_nothing(self, tmp_path, graph, monkeypatch):
        first = detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path).detector
        no_training(monkeypatch)
        again = detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path).detector
        assert torch.equal(first.decision_score_, again.decision_score_)
        np.testing.assert_array_equal(first.loss_history_, again.loss_history_)

    def test_contamination_fdr_and_labels_may_change_for_nothing(
        self, tmp_path, graph, monkeypatch
    ):
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
        no_training(monkeypatch)
        relabelled = replace(graph, labels=1 - graph.labels)
        changed = EgoScore(**QUICK, contamination=0.5, fdr=0.9)
        assert (
            int(detect(relabelled, Origin("small"), changed, tmp_path).detector.label_.sum()) == 30
        )

    @pytest.mark.parametrize("kept", [0, 100, -20])
    def test_half_a_network_is_trained_again(self, tmp_path, graph, kept):
        before = detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path).detector
        path = tmp_path / "training" / NETWORKS[1]
        whole = path.read_bytes()
        path.write_bytes(whole[:kept])
        again = detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path).detector
        assert path.read_bytes() == whole
        assert torch.equal(again.decision_score_, before.decision_score_)

    def test_one_of_another_version_is_trained_again(self, tmp_path, graph, monkeypatch):
        with monkeypatch.context() as earlier:
            earlier.setattr(centre, "FORMAT_VERSION", 1)
            detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
        no_training(monkeypatch)
        with pytest.raises(AssertionError):
            detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)

    def test_a_file_of_others_in_its_place_is_too(self, tmp_path, graph):
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
        path = tmp_path / "training" / NETWORKS[0]
        whole = path.read_bytes()
        weights = load_file(path)
        for tensors, metadata in (
            ({"a": torch.zeros(2)}, {"egoscore": json.dumps({"losses": [0.0] * 3})}),
            (weights, None),
            (weights, {"egoscore": "[]"}),
            (weights, {"egoscore": "no json"}),
            ({name: value[:1].clone() for name, value in weights.items()}, {"egoscore": "{}"}),
        ):
            save_file(tensors, path, metadata)
            detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
            assert path.read_bytes() == whole

    @pytest.mark.parametrize("changes", [{"updates": 4}, {"seed": 1}, {"lr": 0.1}])
    def test_other_settings_in_the_same_place_are_refused(self, tmp_path, graph, changes):
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
        with pytest.raises(RunError, match=f"another {next(iter(changes))}"):
            detect(graph, Origin("small"), EgoScore(**{**QUICK, **changes}), tmp_path)

    def test_the_other_preset_in_the_same_place_is_refused(self, tmp_path, graph):
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
        with pytest.raises(RunError, match="another preset"):
            detect(graph, Origin("small"), EgoScore(preset="paper", hidden_size=8), tmp_path)


class TestFiles:
    def test_a_run_holds_these_files_and_no_others(self, tmp_path, graph):
        detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path)
        files = (path for path in tmp_path.rglob("*") if path.is_file())
        assert sorted(str(path.relative_to(tmp_path)) for path in files) == [
            ".lock",
            "config.json",
            "findings.json",
            "model.safetensors",
            "network/edges.parquet",
            "network/nodes.parquet",
            "report.html",
            "scores.csv",
            "scores.parquet",
            *(f"training/{name}" for name in (*NETWORKS, "stability.safetensors")),
        ]

    def test_the_model_in_it_scores_as_the_run_did(self, tmp_path, graph):
        found = detect(graph, Origin("small"), EgoScore(**QUICK), tmp_path / "run")
        shutil.rmtree(tmp_path / "run" / "training")
        loaded = EgoScore.load(tmp_path / "run")
        assert torch.equal(loaded.decision_function(graph), found.detector.decision_score_)

    @pytest.mark.parametrize("size", [1, 2])
    def test_the_smallest_networks_make_a_run_too(self, tmp_path, size):
        tiny = generate_network(size + 1, size, 2, outlier_fraction=0)
        found = detect(tiny, Origin("tiny"), EgoScore(**QUICK, seed=2), tmp_path)
        assert found.ranking.num_rows == size + 1
