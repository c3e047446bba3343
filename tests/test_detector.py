"""The detector: PyGOD's contract, scikit-learn's habits, and scores that depend on nothing else."""

import copy
import inspect
import json
import pickletools
import re
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from scipy.stats import false_discovery_control
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detect import Origin, detect
from egoscore.detectors.conditional.settings import ConditionalSettings
from egoscore.detectors.paper import components
from egoscore.detectors.paper import shards as measuring
from egoscore.detectors.paper.components import measure
from egoscore.detectors.paper.sde import SDES, VP
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.errors import DeviceError, InputError, ParameterError, RunError
from egoscore.graph.feature_column import FeatureColumn
from egoscore.run.files import load_tensors

ROOT = Path(__file__).resolve().parents[1]
QUICK = {
    "preset": "paper",
    "epochs": 3,
    "num_levels": 2,
    "num_samples": 1,
    "steps": 10,
    "hidden_size": 8,
}
DEFAULT = {"updates": 3, "hidden_size": 8}  # the same with the default preset
CLOSE = {"rtol": 1e-4, "atol": 0.0}


def quick(**changes):
    return EgoScore(**{**QUICK, **changes})


def ends(graph):
    """Both ends of every edge, (2, E)."""
    csr = graph.adjacency
    return np.stack([np.repeat(np.arange(graph.num_nodes), csr.degrees), csr.indices])


@pytest.fixture(scope="module")
def graph():
    return generate_network(60, 150, 4)


@pytest.fixture(scope="module")
def other_graph():
    return generate_network(30, 70, 4, seed=1)


@pytest.fixture(scope="module")
def fitted(graph):
    """A fitted detector; tests must not change it."""
    return quick().fit(graph)


def pygod(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(module)


@pytest.fixture(scope="module")
def pyg_data(graph):
    data = pygod("torch_geometric.data").Data
    return data(
        x=torch.tensor(graph.features),
        edge_index=torch.tensor(ends(graph), dtype=torch.int64),
        y=torch.tensor(graph.labels, dtype=torch.int64),
    )


class TestPygodContract:
    @pytest.mark.parametrize("name", ["fit", "decision_function", "predict"])
    def test_methods_take_the_same_parameters(self, name):
        ours = inspect.signature(getattr(EgoScore, name)).parameters.values()
        theirs = inspect.signature(getattr(pygod("pygod.detector").Detector, name)).parameters
        assert [(p.name, p.default) for p in ours] == [(p.name, p.default) for p in theirs.values()]

    def test_gpu_and_verbose_mean_the_same_and_have_the_same_defaults(self):
        ours = inspect.signature(EgoScore).parameters
        theirs = inspect.signature(pygod("pygod.detector").DOMINANT).parameters
        for name in ("gpu", "verbose"):
            assert ours[name].default == theirs[name].default
        assert theirs["contamination"].default == 0.1  # the docs say so
        assert ours["contamination"].default == "auto"  # as on the command line

    @pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning")  # PyGOD's erf
    @pytest.mark.parametrize("whose", ["PyGOD's", "ours"])
    def test_the_same_code_runs_with_either(self, pyg_data, whose):
        ours = quick(contamination=0.1)
        detector = ours if whose == "ours" else pygod("pygod.detector").Radar(epoch=3)
        assert detector.fit(pyg_data, label=pyg_data.y) is detector
        size = (pyg_data.num_nodes,)
        assert detector.decision_score_.shape == detector.label_.shape == size
        assert detector.decision_score_.is_floating_point()
        assert detector.label_.dtype == torch.int64
        assert float(detector.threshold_) == pytest.approx(
            np.percentile(detector.decision_score_, 90), rel=1e-6
        )
        assert torch.equal(detector.label_, (detector.decision_score_ > detector.threshold_).long())
        assert torch.equal(detector.predict(), detector.label_)
        assert torch.equal(detector.predict(label=pyg_data.y), detector.label_)
        answers = detector.predict(
            return_score=True, return_prob=True, prob_method="unify", return_conf=True
        )
        assert isinstance(answers, tuple)
        label, score, probability, confidence = answers
        assert torch.equal(label, detector.label_)
        assert torch.equal(score, detector.decision_score_)
        for share in (probability, confidence):
            assert share.shape == size
            assert share.is_floating_point()
            assert 0 <= float(share.min()) <= float(share.max()) <= 1
        alone = detector.predict(return_pred=False, return_score=True)
        assert torch.equal(alone, detector.decision_score_)
        assert detector.predict(return_pred=False) == ()

    @pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning")  # PyGOD's erf
    def test_probabilities_and_confidences_are_pygods(self, fitted, other_graph):
        base = pygod("pygod.detector").Detector
        share = float((fitted.decision_score_ > fitted.threshold_).double().mean())
        stub = types.SimpleNamespace(
            decision_score_=fitted.decision_score_,
            contamination=share,
            threshold_=fitted.threshold_,
        )
        for data in (None, other_graph):
            for method in ("linear", "unify"):
                score, probability, confidence = fitted.predict(
                    data,
                    return_pred=False,
                    return_score=True,
                    return_prob=True,
                    prob_method=method,
                    return_conf=True,
                )
                expected = base._predict_prob(stub, score.clone(), method)
                torch.testing.assert_close(probability, expected, rtol=1e-6, atol=1e-9)
                expected = base._predict_conf(stub, score)
                torch.testing.assert_close(confidence.float(), expected, rtol=1e-4, atol=1e-5)

    def test_pygods_metrics_take_our_scores(self, pyg_data, fitted):
        metric = pygod("pygod.metric")
        from sklearn.metrics import roc_auc_score

        expected = roc_auc_score(pyg_data.y, fitted.decision_score_)
        assert metric.eval_roc_auc(pyg_data.y, fitted.decision_score_) == pytest.approx(expected)

    def test_a_pyg_data_and_our_network_give_the_same_scores(self, pyg_data, fitted):
        assert torch.equal(quick().fit(pyg_data).decision_score_, fitted.decision_score_)

    @pytest.mark.parametrize("contamination", [0.05, 0.25, 0.5])
    def test_contamination_sets_how_many_are_flagged(self, graph, contamination):
        detector = quick(contamination=contamination).fit(graph)
        assert int(detector.label_.sum()) == round(60 * contamination)

    def test_an_unknown_way_to_probabilities_is_refused(self, fitted):
        with pytest.raises(ParameterError, match="'linear', 'unify'"):
            fitted.predict(return_prob=True, prob_method="sigmoid")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("hid_dim", "hidden_size"), ("epoch", "epochs"), ("weight", "alpha")),
        *(("random_state", "seed"), ("num_level", "num_levels"), ("contaminaton", "contamination")),
    ],
)
def test_of_an_unknown_parameter_the_one_that_is_meant_is_named(name, meant):
    assert meant in EgoScore().get_params()
    with pytest.raises(TypeError, match=rf"'{name}'.*'{meant}'"):
        EgoScore(**{name: 1})


def test_without_a_similar_parameter_all_are_listed():
    with pytest.raises(TypeError) as refused:
        EgoScore(quux=1)
    assert all(name in str(refused.value) for name in EgoScore().get_params())


class TestScikitLearnHabits:
    @pytest.mark.parametrize(
        "name",
        [
            "check_no_attributes_set_in_init",
            "check_parameters_default_constructible",
            "check_get_params_invariance",
            "check_set_params",
            "check_estimator_repr",
            "check_estimator_cloneable",
            "check_do_not_raise_errors_in_init_or_set_params",
            "check_estimator_tags_renamed",
            "check_valid_tag_types",
            "check_mixin_order",
        ],
    )
    def test_scikit_learns_own_checks_pass(self, name):
        if not hasattr(estimator_checks, name):
            pytest.skip("not in this version of scikit-learn")
        getattr(estimator_checks, name)("EgoScore", EgoScore(preset="paper"))

    def test_init_only_stores(self):
        parameters = {name: object() for name in inspect.signature(EgoScore).parameters}
        detector = EgoScore(**parameters)
        assert vars(detector) == parameters
        assert detector.get_params() == parameters

    def test_bad_parameters_are_refused_by_fit(self, graph):
        detector = EgoScore(preset="paper", alpha=1.5)
        with pytest.raises(ParameterError, match=r"must be a float in \[0, 1\]. Got 1.5 instead"):
            detector.fit(graph)
        assert not hasattr(detector, "decision_score_")

    def test_bad_parameters_are_refused_by_decision_function_too(self, graph):
        detector = quick().fit(graph).set_params(num_workers=0)
        with pytest.raises(ParameterError, match="num_workers"):
            detector.decision_function(graph)

    def test_a_clone_is_not_fitted_but_fits_alike(self, graph, fitted):
        copy = clone(fitted)
        assert not hasattr(copy, "decision_score_")
        assert torch.equal(copy.fit(graph).decision_score_, fitted.decision_score_)

    def test_fit_leaves_parameters_alone(self, graph):
        detector = quick(preset="paper")
        before = detector.get_params()
        detector.fit(graph)
        assert detector.get_params() == before

    def test_repr_shows_what_was_chosen(self):
        assert repr(EgoScore(alpha=0.2, seed=3)) == "EgoScore(alpha=0.2, seed=3)"

    @pytest.mark.parametrize(
        "use",
        [
            lambda detector, data: detector.predict(),
            lambda detector, data: detector.predict(data),
            lambda detector, data: detector.decision_function(data),
            lambda detector, data: detector.score_components(data),
            lambda detector, data: detector.save("nowhere"),
        ],
    )
    def test_before_fit_nothing_works_and_it_says_so(self, graph, use):
        with pytest.raises(NotFittedError, match="call 'fit' first"):
            use(EgoScore(preset="paper"), graph)

    def test_fitting_again_forgets_the_first_time(self, graph, other_graph):
        twice = quick().fit(graph).fit(other_graph)
        assert torch.equal(twice.decision_score_, quick().fit(other_graph).decision_score_)

    def test_learning_happens(self, graph, fitted):
        assert fitted.loss_history_.shape == (3, 2)
        longer = quick(epochs=30).fit(graph)
        assert (longer.loss_history_[-5:].mean(axis=0) < longer.loss_history_[0]).all()
        assert len(set(longer.decision_score_.tolist())) > 50


class TestInductive:
    def test_a_network_never_seen_is_scored(self, fitted, other_graph):
        score = fitted.decision_function(other_graph)
        assert score.shape == (30,)
        assert score.dtype == fitted.decision_score_.dtype
        assert bool(score.isfinite().all())
        label = fitted.predict(other_graph)
        assert torch.equal(label, (score > fitted.threshold_).long())

    def test_the_training_network_scores_as_in_training(self, graph, fitted):
        assert torch.equal(fitted.decision_function(graph), fitted.decision_score_)

    def test_scoring_changes_nothing_that_was_fitted(self, graph, other_graph):
        detector = quick().fit(graph)
        before = detector.decision_score_.clone(), detector.threshold_
        detector.predict(other_graph)
        assert torch.equal(detector.decision_score_, before[0])
        assert detector.threshold_ == before[1]

    def test_another_number_of_features_is_refused(self, fitted):
        with pytest.raises(InputError, match="5 features but the detector was fitted on 4"):
            fitted.decision_function(generate_network(20, 40, 5))

    @pytest.mark.parametrize("directed", [False, True])
    def test_another_directedness_is_refused(self, directed):
        detector = quick().fit(generate_network(20, 40, 2, directed=directed))
        with pytest.raises(InputError, match="was fitted on a graph that is"):
            detector.decision_function(generate_network(20, 40, 2, directed=not directed))


class TestRandomness:
    def test_the_same_seed_gives_the_same_bits(self, graph, fitted):
        again = quick().fit(graph)
        assert torch.equal(again.decision_score_, fitted.decision_score_)
        np.testing.assert_array_equal(again.components_.values, fitted.components_.values)

    def test_another_seed_gives_another_result(self, graph, fitted):
        other = quick(seed=1).fit(graph).decision_score_
        assert not torch.isclose(other, fitted.decision_score_, rtol=1e-3).any()

    def test_the_largest_seed_works(self, graph, tmp_path):
        detector = quick(seed=2**64 - 1, epochs=1).fit(graph)
        detector.save(tmp_path / "model")
        again = EgoScore.load(tmp_path / "model").decision_function(graph)
        assert torch.equal(again, detector.decision_score_)

    def test_no_global_state_is_touched(self, graph, monkeypatch):
        torch.manual_seed(5)
        np.random.seed(5)  # noqa: NPY002
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            quick().fit(graph)
            assert torch.get_num_threads() == 2

            def fail(*_):
                raise RuntimeError("power cut")

            monkeypatch.setattr(measuring, "measure", fail)
            with pytest.raises(RuntimeError, match="power cut"):
                quick().fit(graph)
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(threads)
        assert torch.equal(torch.get_rng_state(), before[0])
        np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
        assert torch.is_grad_enabled()

    def test_global_seeds_change_nothing(self, graph, fitted):
        torch.manual_seed(99)
        np.random.seed(99)  # noqa: NPY002
        assert torch.equal(quick().fit(graph).decision_score_, fitted.decision_score_)

    def test_labels_change_no_bit(self, graph, fitted):
        shuffled = np.random.default_rng(0).permutation(graph.labels)
        for labels in (shuffled, None):
            score = quick().fit(replace(graph, labels=labels)).decision_score_
            assert torch.equal(score, fitted.decision_score_)

    def test_ids_change_no_bit(self, graph, fitted):
        renamed = replace(graph, ids=np.array([f"node {n}" for n in range(60)]))
        assert torch.equal(quick().fit(renamed).decision_score_, fitted.decision_score_)


class TestCompany:
    """A node's score does not depend on what it is computed together with."""

    def measured(self, fitted, graph, centres):
        model = fitted.model_
        egos = model.ego_graphs(graph, torch.device("cpu"))
        config = PaperSettings(num_levels=2, num_samples=1, steps=10, solver="em")
        return measure(egos, model.networks, config, model.seed, centres)

    def test_not_on_the_order_in_its_batch(self, graph, fitted):
        order = np.random.default_rng(0).permutation(60)
        table = self.measured(fitted, graph, order)
        np.testing.assert_array_equal(table.node, np.arange(60))
        np.testing.assert_allclose(table.values, fitted.components_.values, rtol=1e-4, atol=1e-6)

    def test_not_on_being_alone(self, graph, fitted):
        for node in (0, 17, 59):
            table = self.measured(fitted, graph, np.array([node]))
            expected = fitted.components_.values[[node]]
            # energies' shifts are differences of numbers near one, hence exact to 1e-6 at best
            np.testing.assert_allclose(table.values, expected, rtol=1e-4, atol=1e-6)

    @pytest.mark.parametrize("capacity", [1, 500, 3000])
    def test_not_on_the_size_of_batches(self, graph, fitted, monkeypatch, capacity):
        monkeypatch.setattr(components, "_CAPACITY", capacity)
        score = fitted.decision_function(graph)
        torch.testing.assert_close(score, fitted.decision_score_, **CLOSE)

    def test_not_on_the_size_of_shards(self, graph, fitted, monkeypatch):
        monkeypatch.setattr(measuring, "_SMALLEST_SHARD", 500)
        score = fitted.decision_function(graph)
        torch.testing.assert_close(score, fitted.decision_score_, **CLOSE)

    def test_not_on_another_network_beside_it(self, graph, other_graph, fitted):
        union = AttributedGraph.from_edges(
            np.hstack([ends(graph), ends(other_graph) + 60]),
            np.vstack([graph.features, other_graph.features]),
        )
        score = fitted.decision_function(union)
        torch.testing.assert_close(score[:60], fitted.decision_score_, **CLOSE)

    def test_nor_does_the_fit_depend_on_the_size_of_scoring_batches(
        self, graph, fitted, monkeypatch
    ):
        monkeypatch.setattr(components, "_CAPACITY", 700)
        score = quick().fit(graph).decision_score_
        torch.testing.assert_close(score, fitted.decision_score_, **CLOSE)


@pytest.fixture(scope="module")
def file(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    fitted.save(path)
    return path


class TestFiles:
    def test_what_is_loaded_is_what_was_saved(self, file, fitted, graph, other_graph):
        loaded = EgoScore.load(file)
        assert loaded.get_params() == fitted.get_params()
        assert loaded.threshold_ == fitted.threshold_
        for name in ("decision_score_", "label_"):
            assert torch.equal(getattr(loaded, name), getattr(fitted, name))
        for data in (graph, other_graph):
            expected = fitted.decision_function(data)
            assert torch.equal(loaded.decision_function(data), expected)
        np.testing.assert_array_equal(loaded.loss_history_, fitted.loss_history_)
        np.testing.assert_array_equal(loaded.components_.values, fitted.components_.values)

    def test_all_answers_are_there_after_loading(self, file, fitted):
        asked = {"return_score": True, "return_prob": True, "return_conf": True}
        loaded = EgoScore.load(str(file))
        for ours, theirs in zip(loaded.predict(**asked), fitted.predict(**asked), strict=True):
            assert torch.equal(ours, theirs)

    def test_a_directory_is_searched_for_its_model(self, file, fitted):
        loaded = EgoScore.load(file.parent)
        assert torch.equal(loaded.decision_score_, fitted.decision_score_)

    def test_a_loaded_detector_can_be_saved_again(self, file, tmp_path):
        EgoScore.load(file).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == file.read_bytes()

    def test_the_running_average_is_kept(self, graph, tmp_path):
        detector = quick(use_ema=True).fit(graph)
        detector.save(tmp_path / "model")
        again = EgoScore.load(tmp_path / "model").decision_function(graph)
        assert torch.equal(again, detector.decision_score_)

    def test_the_file_holds_tensors_and_no_pickle(self, file):
        tensors = load_file(file)
        assert {name.split(".")[0] for name in tensors} == {
            *("model", "average", "scaling", "history", "training")
        }
        with pytest.raises(ValueError, match=r"opcode|literal"):
            list(pickletools.genops(file.read_bytes()))

    def test_nothing_but_the_file_is_written(self, fitted, tmp_path):
        fitted.save(tmp_path / "model.safetensors")
        assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]

    def test_a_place_that_cannot_be_written_is_told(self, fitted, tmp_path):
        for path in (tmp_path / "no" / "model", tmp_path):
            with pytest.raises(RunError, match=f"Cannot write {path}"):
                fitted.save(path)

    @pytest.mark.parametrize("kept", [0, 5, 100, 3000, -1])
    def test_part_of_a_file_is_refused(self, file, tmp_path, kept):
        path = tmp_path / "part"
        path.write_bytes(file.read_bytes()[:kept])
        with pytest.raises(RunError, match="not a complete safetensors file") as caught:
            EgoScore.load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_place_without_a_model_is_told(self, tmp_path):
        for path in (tmp_path, tmp_path / "nothing"):
            with pytest.raises(RunError, match="There is no model at"):
                EgoScore.load(path)

    @pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"egoscore": "no json"}])
    def test_a_file_of_others_is_refused(self, tmp_path, metadata):
        save_file({"weight": torch.zeros(2)}, tmp_path / "foreign", metadata)
        with pytest.raises(RunError, match=str(tmp_path / "foreign")):
            EgoScore.load(tmp_path / "foreign")

    def test_a_pickle_is_refused_and_not_run(self, tmp_path):
        torch.save({"weight": torch.zeros(2)}, tmp_path / "model.pt")
        with pytest.raises(RunError, match="not a complete safetensors file"):
            EgoScore.load(tmp_path / "model.pt")

    def test_a_damaged_header_is_refused_or_harmless(self, file, tmp_path):
        whole, path = file.read_bytes(), tmp_path / "damaged"
        length = int.from_bytes(whole[:8], "little")
        rng = np.random.default_rng(0)
        for place in rng.integers(8, 8 + length, 100):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            try:
                EgoScore.load(path)
            except RunError as error:
                assert str(path) in str(error)  # noqa: PT017


class TestChoices:
    """Whatever can be chosen runs and gives finite scores that differ between nodes."""

    def scores(self, data, **changes):
        detector = quick(epochs=2, **changes).fit(data)
        assert bool(detector.decision_score_.isfinite().all())
        assert bool((detector.decision_score_ >= 0).all())
        return detector.decision_score_

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("sde", ["vp", "ve", "subvp"])
    @pytest.mark.parametrize("solver", ["em", "reverse", "em+langevin", "reverse+langevin", "s4"])
    def test_solvers_and_sdes(self, solver, sde, directed):
        data = generate_network(20, 40, 3, directed=directed)
        assert len(set(self.scores(data, solver=solver, sde=sde).tolist())) == 20

    @pytest.mark.parametrize("weighting", ["sqrt_snr", "snr", "none"])
    @pytest.mark.parametrize("dissimilarity", ["rec", "energy"])
    def test_dissimilarities_and_weightings(self, graph, dissimilarity, weighting):
        changes = {"dissimilarity": dissimilarity, "weighting": weighting, "alpha": 0.2}
        detector = quick(**changes).fit(graph)
        table = detector.components_
        parts = [table.component(name) for name in ("structure_error", "feature_error")]
        distance = 0.8 * parts[0] + 0.2 * parts[1]
        if dissimilarity == "energy":
            distance = table.component("energy_shift")
        tau = np.array([1 / 3, 2 / 3])
        kept = np.exp(-(0.1 * tau + 0.45 * tau**2))  # m², the paper's VP
        weight = {"sqrt_snr": np.sqrt(kept / (1 - kept)), "snr": kept / (1 - kept), "none": 1.0}
        expected = (distance * weight[weighting]).sum(axis=1)
        np.testing.assert_allclose(detector.decision_score_, expected, rtol=1e-5)

    def test_choices_about_the_score_leave_the_components_alone(self, graph, fitted):
        other = quick(dissimilarity="energy", weighting="none", alpha=0.9).fit(graph)
        np.testing.assert_array_equal(other.components_.values, fitted.components_.values)
        assert not torch.isclose(other.decision_score_, fitted.decision_score_).any()

    def test_scores_sum_over_samples(self, graph):
        detector = quick(num_samples=3, weighting="none", alpha=1.0).fit(graph)
        expected = 3 * detector.components_.component("feature_error").sum(axis=1)
        np.testing.assert_allclose(detector.decision_score_, expected, rtol=1e-5)

    def test_more_noise_comes_back_with_more_error(self, graph):
        table = quick(num_levels=4, steps=30).fit(graph).components_
        assert table.taus == pytest.approx((0.2, 0.4, 0.6, 0.8))
        assert (np.diff(table.component("feature_error").mean(axis=0)) > 0).all()

    def test_two_hops(self, graph, fitted):
        detector = quick(num_hops=2).fit(graph)
        assert bool(detector.decision_score_.isfinite().all())
        assert (detector.components_.ego_size >= fitted.components_.ego_size).all()
        assert detector.components_.ego_size.max() > fitted.components_.ego_size.max()

    @pytest.mark.parametrize("num_hops", [1, 2])
    def test_ego_graphs_of_one_node(self, graph, num_hops):
        detector = quick(max_nodes=1, num_hops=num_hops).fit(graph)
        assert detector.components_.ego_size.tolist() == [1] * 60
        assert not detector.components_.component("structure_error").any()
        assert len(set(detector.decision_score_.tolist())) == 60

    def test_a_limit_on_ego_graphs_is_kept(self, graph):
        detector = quick(max_nodes=3).fit(graph)
        assert detector.components_.ego_size.max() == 3

    @pytest.mark.parametrize("dissimilarity", ["rec", "energy"])
    def test_a_network_of_one_node(self, dissimilarity):
        lonely = AttributedGraph.from_edges([[], []], [[1.0, 2.0]])
        detector = quick(dissimilarity=dissimilarity).fit(lonely)
        answers = detector.predict(return_score=True, return_prob=True, return_conf=True)
        assert all(bool(answer.isfinite().all()) for answer in answers)
        assert detector.label_.tolist() == [0]

    @pytest.mark.parametrize("solver", ["em", "reverse+langevin", "s4"])
    def test_a_network_without_edges(self, graph, solver):
        alone = AttributedGraph.from_edges([[], []], graph.features)
        assert len(set(self.scores(alone, solver=solver).tolist())) == 60

    @pytest.mark.parametrize("dissimilarity", ["rec", "energy"])
    def test_features_that_are_all_constant(self, graph, dissimilarity):
        constant = AttributedGraph.from_edges(ends(graph), np.full((60, 2), 0.1))
        self.scores(constant, dissimilarity=dissimilarity)

    def test_the_running_average_of_the_weights(self, graph, fitted):
        score = quick(use_ema=True).fit(graph).decision_score_
        assert bool(score.isfinite().all())
        assert not torch.isclose(score, fitted.decision_score_).all()

    def test_no_training_at_all(self, graph):
        detector = quick(epochs=0).fit(graph)
        assert detector.loss_history_.shape == (0, 2)
        assert bool(detector.decision_score_.isfinite().all())

    @pytest.mark.parametrize("batch_size", [0, 1, 7])
    def test_any_size_of_training_batches(self, graph, fitted, batch_size):
        score = quick(batch_size=batch_size).fit(graph).decision_score_
        assert bool(score.isfinite().all())
        assert torch.equal(score, fitted.decision_score_) == (batch_size == 0)

    def test_the_number_of_workers_reaches_those_who_measure(self, graph, monkeypatch):
        asked = []

        def measure_nodes(model, data, device, num_workers, *rest):
            asked.append(num_workers)
            return measuring.measure_nodes(model, data, device)

        monkeypatch.setattr("egoscore.detectors.paper.detector.measure_nodes", measure_nodes)
        quick(num_workers=3).fit(graph).decision_function(graph)
        assert asked == [3, 3]

    def test_every_setting_of_the_model_reaches_it(self, graph):
        small, large = (quick(hidden_size=size).fit(graph) for size in (8, 12))
        count = [sum(p.numel() for p in d.model_.networks.parameters()) for d in (small, large)]
        assert count[0] < count[1]

    def test_a_gpu_that_is_not_there_is_refused(self, graph):
        gpu = torch.cuda.device_count()
        with pytest.raises(DeviceError, match=f"GPU {gpu} was requested"):
            quick(gpu=gpu).fit(graph)

    def test_progress_bars_do_not_show_outside_a_terminal(self, graph, capfd):
        for verbose in (0, 1):
            quick(verbose=verbose).fit(graph)
            assert capfd.readouterr() == ("", "")


class TestPaperPreset:
    def test_settings_in_force_are_the_papers(self):
        settings = EgoScore(preset="paper").settings()
        assert settings == PaperSettings()
        assert (settings.num_levels, settings.num_samples, settings.epochs) == (4, 3, 300)
        assert (settings.sde, settings.solver, settings.steps) == ("vp", "em", 100)
        assert (settings.weighting, settings.weight_decay) == ("sqrt_snr", 0.01)

    def test_its_diffusion_goes_from_a_tenth_to_one(self):
        assert SDES["vp"] == VP(beta_min=0.1, beta_max=1.0)

    def test_its_levels_are_fifths(self, graph):
        detector = EgoScore(preset="paper", epochs=1, steps=5, hidden_size=8).fit(graph)
        assert detector.components_.taus == pytest.approx((0.2, 0.4, 0.6, 0.8))
        assert detector.components_.num_samples == 3


def test_a_threshold_is_saved_as_it_was_fitted(tmp_path):
    detector = quick().fit(generate_network(60, 120, 3))
    before = detector.threshold_
    detector.set_params(contamination=0.4).save(tmp_path / "model")
    loaded = EgoScore.load(tmp_path / "model")
    assert loaded.threshold_ == before
    assert torch.equal(loaded.label_, detector.label_)


@pytest.fixture(scope="module")
def default(graph):
    """A detector with the default preset; tests must not change it."""
    return EgoScore(**DEFAULT).fit(graph)


@pytest.fixture(scope="module")
def default_file(default, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    default.save(path)
    return path


class TestDefaultPreset:
    def test_it_is_the_default(self, graph, default):
        assert EgoScore().settings() == ConditionalSettings()
        assert default.preset == "default"

    def test_the_contract_is_the_same(self, graph, default):
        assert default.decision_score_.dtype == torch.float64
        assert default.decision_score_.shape == default.label_.shape == (60,)
        assert len(set(default.decision_score_.tolist())) > 50
        assert torch.equal(default.label_, (default.decision_score_ > default.threshold_).long())
        assert default.loss_history_.shape == (3, 9)
        assert default.n_features_in_ == 4
        answers = default.predict(return_score=True, return_prob=True, return_conf=True)
        assert all(bool(answer.isfinite().all()) for answer in answers)

    def test_p_values_say_how_rare_a_score_is(self, default):
        p_value = default.p_value_
        assert p_value.dtype == torch.float64
        assert 0 < float(p_value.min()) < float(p_value.max()) < 1
        order = default.decision_score_.argsort()
        assert bool((p_value[order].diff() <= 0).all())

    @pytest.mark.parametrize("fdr", [0.01, 0.53, 0.97])
    def test_significance_is_that_of_the_p_values(self, graph, default, fdr):
        detector = EgoScore(**DEFAULT, fdr=fdr).fit(graph)
        assert torch.equal(detector.p_value_, default.p_value_)
        adjusted = false_discovery_control(detector.p_value_)
        assert detector.significant_.tolist() == (adjusted <= fdr).astype(int).tolist()

    def test_the_other_preset_knows_no_significance(self, graph, fitted):
        detector = EgoScore(**DEFAULT).fit(graph)
        detector.set_params(**{**dict.fromkeys(DEFAULT), **QUICK}).fit(graph)
        for other in (fitted, detector):
            assert not hasattr(other, "significant_")

    def test_the_other_preset_has_p_values_too(self, graph, fitted):
        p_value, score = fitted.p_value_.numpy(), fitted.decision_score_.numpy()
        assert p_value.dtype == np.float64
        assert ((p_value > 0) & (p_value <= 1)).all()
        assert (np.diff(p_value[np.argsort(score)]) <= 0).all()
        usual = np.argsort(score)[:48]  # of those that are not in the tail it is the share above
        share = [(np.sum(score > s) + np.sum(score == s) / 2) / 60 for s in score[usual]]
        np.testing.assert_allclose(p_value[usual], share, atol=0.01)

    def test_the_training_network_scores_as_in_training(self, graph, default):
        assert torch.equal(default.decision_function(graph), default.decision_score_)

    def test_a_network_never_seen_is_scored(self, default):
        other = generate_network(30, 70, 4, seed=1)
        score = default.decision_function(other)
        assert score.shape == (30,)
        assert bool(score.isfinite().all())
        assert torch.equal(default.predict(other), (score > default.threshold_).long())

    def test_a_directed_network_is_refused_by_a_model_of_an_undirected_one(self, default):
        with pytest.raises(InputError, match="directed"):
            default.decision_function(generate_network(30, 70, 4, directed=True, seed=1))

    def test_another_number_of_features_is_refused(self, default):
        with pytest.raises(InputError, match="5 features but the detector was fitted on 4"):
            default.decision_function(generate_network(20, 40, 5))

    def test_the_same_seed_gives_the_same_bits(self, graph, default):
        again = EgoScore(**DEFAULT).fit(graph)
        assert torch.equal(again.decision_score_, default.decision_score_)
        np.testing.assert_array_equal(again.loss_history_, default.loss_history_)
        other = EgoScore(**DEFAULT, seed=1).fit(graph)
        assert not np.isclose(other.loss_history_, default.loss_history_).any()

    def test_labels_and_ids_change_no_bit(self, graph, default):
        shuffled = np.random.default_rng(0).permutation(graph.labels)
        for labels in (shuffled, 1 - graph.labels, None):
            other = replace(graph, labels=labels, ids=np.arange(60)[::-1], node_info={})
            score = EgoScore(**DEFAULT).fit(other, label=labels).decision_score_
            assert torch.equal(score, default.decision_score_)

    def test_no_global_state_is_touched(self, graph, default):
        torch.manual_seed(5)
        np.random.seed(5)  # noqa: NPY002
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        score = EgoScore(**DEFAULT).fit(graph).decision_score_
        assert torch.equal(score, default.decision_score_)
        assert torch.equal(torch.get_rng_state(), before[0])
        np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002

    def test_a_pyg_data_and_our_network_give_the_same_scores(self, pyg_data, default):
        score = EgoScore(**DEFAULT).fit(pyg_data).decision_score_
        assert torch.equal(score, default.decision_score_)

    @pytest.mark.parametrize("size", [1, 2, 3])
    def test_networks_of_very_few_nodes(self, size):
        for seed in range(4):
            network = AttributedGraph.from_edges([[0], [size - 1]], np.eye(size))
            detector = EgoScore(**DEFAULT, seed=seed).fit(network)
            answers = detector.predict(return_score=True, return_prob=True, return_conf=True)
            assert all(bool(answer.isfinite().all()) for answer in answers)

    def test_progress_bars_do_not_show_outside_a_terminal(self, graph, capfd):
        EgoScore(**DEFAULT, verbose=1).fit(graph)
        assert capfd.readouterr() == ("", "")


class TestDefaultPresetFiles:
    def test_what_is_loaded_is_what_was_saved(self, default_file, default, graph, other_graph):
        loaded = EgoScore.load(default_file)
        assert loaded.get_params() == default.get_params()
        assert loaded.threshold_ == default.threshold_
        for name in ("decision_score_", "label_", "p_value_", "significant_"):
            assert torch.equal(getattr(loaded, name), getattr(default, name))
        for data in (graph, other_graph):
            expected = default.decision_function(data)
            assert torch.equal(loaded.decision_function(data), expected)
        np.testing.assert_array_equal(loaded.loss_history_, default.loss_history_)
        for name, values in default.components_.columns().items():
            np.testing.assert_array_equal(loaded.components_.columns()[name], values)

    def test_a_loaded_detector_can_be_saved_again(self, default_file, tmp_path):
        EgoScore.load(default_file).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == default_file.read_bytes()

    def test_the_largest_seed_works(self, graph, tmp_path):
        detector = EgoScore(**DEFAULT, seed=2**64 - 1).fit(graph)
        detector.save(tmp_path / "model")
        again = EgoScore.load(tmp_path / "model").decision_function(graph)
        assert torch.equal(again, detector.decision_score_)

    def test_the_file_holds_tensors_and_no_pickle(self, default_file):
        assert {name.split(".")[0] for name in load_file(default_file)} == {"detector", "training"}
        with pytest.raises(ValueError, match=r"opcode|literal"):
            list(pickletools.genops(default_file.read_bytes()))

    @pytest.mark.parametrize("kept", [0, 5, 100, 3000, -1])
    def test_part_of_a_file_is_refused(self, default_file, tmp_path, kept):
        path = tmp_path / "part"
        path.write_bytes(default_file.read_bytes()[:kept])
        with pytest.raises(RunError, match="not a complete safetensors file"):
            EgoScore.load(path)

    def test_a_damaged_header_is_refused_or_harmless(self, default_file, tmp_path):
        whole, path = default_file.read_bytes(), tmp_path / "damaged"
        length = int.from_bytes(whole[:8], "little")
        rng = np.random.default_rng(0)
        for place in rng.integers(8, 8 + length, 100):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            try:
                EgoScore.load(path)
            except RunError as error:
                assert str(path) in str(error)  # noqa: PT017

    @pytest.mark.parametrize(
        "value",
        ["gone", None, "x", -1, [], {}, [["a"]], 10**400, True],
        ids=lambda value: repr(value)[:9],
    )
    def test_changed_metadata_are_refused(self, default_file, tmp_path, value):
        tensors, whole = load_tensors(default_file)
        raw, path = raw_metadata(default_file), tmp_path / "changed"
        for inside in ([], ["detector"], ["parameters"]):
            for name in place_in(whole, inside):
                metadata = copy.deepcopy(whole)
                place_in(metadata, inside)[name] = value
                if value == "gone":
                    del place_in(metadata, inside)[name]
                if metadata == whole:
                    continue
                save_file(tensors, path, raw | {"egoscore": json.dumps(metadata)})
                with pytest.raises(RunError, match=r"checksum|format"):
                    EgoScore.load(path)

    def test_without_one_of_its_tensors_it_is_refused(self, default_file, tmp_path):
        tensors, _ = load_tensors(default_file)
        for name in tensors:
            rest = {key: value for key, value in tensors.items() if key != name}
            save_file(rest, tmp_path / "part", raw_metadata(default_file))
            with pytest.raises(RunError, match="checksum"):
                EgoScore.load(tmp_path / "part")

    def test_metadata_nested_without_end_are_refused(self, tmp_path):
        save_file({"weight": torch.zeros(2)}, tmp_path / "deep", {"egoscore": '{"a":' * 10_000})
        with pytest.raises(RunError, match="not JSON"):
            EgoScore.load(tmp_path / "deep")


def raw_metadata(path):
    with safe_open(path, framework="pt") as file:
        return file.metadata()


def place_in(metadata, names):
    """The dictionary below these names."""
    for name in names:
        metadata = metadata[name]
    return metadata


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.fixture(scope="module", params=[DEFAULT, QUICK], ids=["default", "paper"])
def explained(request, graph):
    """A detector of either preset on a network with names; and how it was set."""
    named = replace(graph, ids=np.array([f"n{number}" for number in range(60)]))
    return EgoScore(**request.param).fit(named), named, request.param


class TestExplain:
    def test_it_is_about_the_node_that_was_asked_for(self, explained):
        detector, graph, _ = explained
        found = detector.explain("n7")
        score = detector.decision_score_
        assert (found.node, found.num_nodes) == ("n7", 60)
        assert found.score == float(score[7])
        assert found.p_value == float(detector.p_value_[7])
        assert found.flag == bool(detector.label_[7])
        assert found.rank == int((score > score[7]).sum()) + 1
        assert found.ego_size == len(graph.neighbours_of(7)) + 1
        assert found.summary.startswith(f"n7 ranks {found.rank} of 60 ")

    def test_ranks_are_those_of_the_run(self, explained, tmp_path):
        detector, graph, how = explained
        ranked = detect(graph, Origin("small"), EgoScore(**how), tmp_path).ranking.to_pylist()
        for row, found in zip(
            ranked, detector.explain_all([r["node"] for r in ranked]), strict=True
        ):
            for name in ("node", "score", "rank", "percentile", "p_value", "flag", "ego_size"):
                assert getattr(found, name) == row[name], name

    def test_several_at_once_are_as_one_by_one(self, explained):
        detector = explained[0]
        several = list(detector.explain_all(["n3", "n0", "n3"]))
        assert several == [detector.explain(node) for node in ("n3", "n0", "n3")]
        assert list(detector.explain_rows([3, 0])) == several[:2]

    def test_causes_are_parts_of_the_score(self, explained):
        detector, graph, _ = explained
        parts = {
            "default": {"features", "similarity", "position", "extremes"},
            "paper": {"features", "structure", "energy"},
        }
        for found in detector.explain_all(graph.ids[:20].tolist()):
            assert set(found.causes) <= parts[detector.preset]

    def test_the_training_network_given_again_is_explained_alike(self, explained):
        detector, graph, _ = explained
        ours, theirs = detector.explain("n5"), detector.explain("n5", graph)
        assert theirs.features == ours.features
        assert theirs.picture == ours.picture
        assert theirs.score == pytest.approx(ours.score, rel=1e-4)

    def test_another_network_can_be_explained(self, explained, other_graph):
        detector = explained[0]
        found = detector.explain(17, other_graph)
        score = detector.decision_function(other_graph)
        assert (found.node, found.num_nodes) == ("17", 30)
        assert found.score == pytest.approx(float(score[17]), rel=1e-4)
        assert found.rank == int((score > score[17]).sum()) + 1
        assert found.flag == bool(score[17] > detector.threshold_)
        assert float(found.features[0].observed) in np.round(other_graph.features[17], 3)

    def test_text_finds_a_number(self, explained, other_graph):
        detector = explained[0]
        assert detector.explain("17", other_graph) == detector.explain(17, other_graph)

    @pytest.mark.parametrize("node", ["n77", "zebra", 7, None, ("n7",), ["n7"]])
    def test_a_node_that_is_not_there_is_one_sentence(self, explained, node):
        with pytest.raises(InputError, match=r"^There is no node ") as caught:
            explained[0].explain(node)
        assert "\n" not in str(caught.value)
        assert "did you mean 'n" in str(caught.value) or "look like 'n0'" in str(caught.value)

    def test_of_another_network_the_wrong_width_is_refused(self, explained):
        with pytest.raises(InputError, match="3 features but the detector was fitted on 4"):
            explained[0].explain(0, generate_network(20, 40, 3))

    def test_before_fit_it_says_so(self, graph):
        for use in (
            lambda: EgoScore().explain(0),
            lambda: list(EgoScore().explain_all([0])),
            lambda: EgoScore().explain(0, graph),
        ):
            with pytest.raises(NotFittedError, match="call 'fit' first"):
                use()

    @pytest.mark.parametrize(
        "ids",
        [
            [(number, number + 1) for number in range(60)],
            [1, "1", *range(2, 60)],
            ["\ud800", *map(str, range(59))],
            [2**70 + number for number in range(60)],
            [b"a%d" % number for number in range(60)],
            [None, True, *range(2, 60)],
        ],
        ids=["pairs", "look alike", "half a character", "large", "bytes", "odd"],
    )
    def test_whatever_ids_there_are(self, graph, tmp_path, ids):
        """In memory by the id itself; in a run by the text that stands in the ranking."""
        named = replace(graph, ids=objects(ids))
        found = detect(named, Origin("small"), EgoScore(**DEFAULT), tmp_path)
        assert found.detector.explain(ids[0]).score == float(found.detector.decision_score_[0])
        assert found.detector.explain(ids[1]).score == float(found.detector.decision_score_[1])
        first = found.ranking.slice(0, 1).to_pylist()[0]
        assert EgoScore.load(tmp_path).explain(first["node"]).rank == 1


class TestScores:
    def test_it_is_the_ranking_of_the_run_with_reasons(self, explained, tmp_path):
        detector, graph, how = explained
        frame = detector.scores()
        detect(graph, Origin("small"), EgoScore(**how), tmp_path)
        written = pd.read_parquet(tmp_path / "scores.parquet")
        assert frame.columns.tolist() == [*written.columns, "reason"]
        pd.testing.assert_frame_equal(frame.drop(columns="reason"), written)
        pd.testing.assert_frame_equal(detector.score_table().to_pandas(), written)

    def test_rows_are_the_nodes_most_abnormal_first(self, explained):
        detector, _, _ = explained
        frame = detector.scores()
        assert frame.columns[:6].tolist() == [
            *("node", "score", "rank", "percentile", "p_value", "flag")
        ]
        assert ("significant" in frame) == hasattr(detector, "significant_")
        assert frame["rank"].tolist() == list(range(1, 61))
        by_node = frame.assign(row=frame["node"].str[1:].astype(int)).sort_values("row")
        for column, values in {
            "score": detector.decision_score_,
            "p_value": detector.p_value_,
            "flag": detector.label_,
            **({"significant": detector.significant_} if "significant" in frame else {}),
        }.items():
            assert by_node[column].tolist() == values.tolist(), column

    @pytest.mark.parametrize("count", [0, 1, 20, 1000])
    def test_the_highest_have_reasons(self, explained, count):
        detector = explained[0]
        frame = detector.scores(reasons=count)
        given = min(count, 60)
        assert frame["reason"].notna().tolist() == [True] * given + [False] * (60 - given)
        why = detector.explain_all(frame["node"][:given].tolist())
        assert frame["reason"][:given].tolist() == [one.reason for one in why]

    @pytest.mark.parametrize("count", [-1, 1.5, None, True])
    def test_another_number_of_reasons_is_refused(self, explained, count):
        with pytest.raises(ParameterError, match="'reasons' parameter of scores must be"):
            explained[0].scores(reasons=count)

    def test_names_and_columns_of_the_user_are_there(self, graph):
        info = {"kind": np.arange(60), "reason": np.arange(60)}
        names = np.array([f"Node {number}" for number in range(60)])
        named = replace(graph, names=names, node_info=info)
        frame = EgoScore(**DEFAULT).fit(named).scores(reasons=2)
        assert frame.columns[:3].tolist() == ["node", "name", "score"]
        assert (frame["name"] == "Node " + frame["node"].astype(str)).all()
        assert (frame["reason (input)"] == frame["node"]).all()
        assert frame["known_label"].tolist() == graph.labels[frame["node"]].tolist()

    def test_of_another_network(self, explained, other_graph):
        detector = explained[0]
        frame = detector.scores(other_graph, reasons=3)
        score = detector.decision_function(other_graph).numpy()
        assert frame["score"].tolist() == sorted(score.tolist(), reverse=True)
        assert frame["score"].tolist() == score[frame["node"]].tolist()
        assert frame["flag"].tolist() == (frame["score"] > detector.threshold_).tolist()
        assert frame["reason"][0] == detector.explain(frame["node"][0], other_graph).reason
        if "significant" in frame:
            assert (frame["significant"] <= frame["flag"]).all()

    def test_of_a_run_that_is_loaded(self, explained, tmp_path):
        detector, graph, how = explained
        detect(replace(graph, labels=None, node_info={}), Origin("s"), EgoScore(**how), tmp_path)
        loaded, ours = EgoScore.load(tmp_path).scores(), detector.scores()
        others = [c for c in ours if c not in ("known_label", *graph.node_info)]
        pd.testing.assert_frame_equal(loaded, ours[others], check_dtype=False)

    def test_a_model_alone_needs_the_network(self, explained, tmp_path):
        explained[0].save(tmp_path / "model")
        with pytest.raises(InputError, match="loaded without its graph"):
            EgoScore.load(tmp_path / "model").scores()

    def test_before_fit_it_says_so(self):
        with pytest.raises(NotFittedError, match="call 'fit' first"):
            EgoScore().scores()


def test_fit_predict_gives_labels_as_pygod_does(graph):
    detector = EgoScore(**DEFAULT, contamination=0.1)
    found = detector.fit_predict(graph, label=graph.labels)
    assert torch.equal(found, detector.label_)
    assert found.tolist() == EgoScore(**DEFAULT, contamination=0.1).fit(graph).predict().tolist()
    assert set(found.tolist()) == {0, 1}
    assert found.dtype == torch.int64


class TestDataFrames:
    """A pair of data frames, or one of edges, wherever a graph is taken."""

    EDGES = pd.read_csv(ROOT / "examples" / "payments.csv")
    NODES = pd.read_csv(ROOT / "examples" / "accounts.csv")

    @pytest.fixture(scope="class")
    @classmethod
    def detector(cls):
        return EgoScore(**DEFAULT).fit((cls.EDGES, cls.NODES))

    def test_the_pair_is_read_like_the_files(self, detector):
        paths = (ROOT / "examples" / name for name in ("payments.csv", "accounts.csv"))
        graph = AttributedGraph.from_tables(*paths)
        assert torch.equal(detector.decision_score_, EgoScore(**DEFAULT).fit(graph).decision_score_)
        assert set(detector.scores(reasons=0)["node"]) == set(self.NODES["account"])

    @pytest.mark.parametrize(
        "convert",
        [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame.to_dict("list")],
        ids=["polars", "arrow", "dict"],
    )
    def test_every_kind_of_frame_gives_the_same(self, detector, convert):
        pair = (convert(self.EDGES), convert(self.NODES))
        assert torch.equal(detector.decision_function(pair), detector.decision_score_)
        assert torch.equal(detector.predict(pair), detector.label_)
        assert detector.explain("acc-010", pair).node == "acc-010"

    def test_the_direction_is_told(self):
        detector = EgoScore(**DEFAULT, directed=True).fit((self.EDGES, self.NODES))
        graph = AttributedGraph.from_tables(self.EDGES, self.NODES, directed=True)
        assert torch.equal(detector.decision_score_, EgoScore(**DEFAULT).fit(graph).decision_score_)

    def test_one_frame_holds_edges(self):
        detector = EgoScore(**DEFAULT).fit(self.EDGES)
        assert len(detector.scores(reasons=0)) == detector.explain("acc-010").num_nodes

    @pytest.mark.parametrize(
        ("nodes", "said"),
        [
            (NODES.drop(columns="balance"), "lacks 'balance'"),
            (NODES.replace("AT", "IT"), "has 'country = IT' and lacks 'country = AT'"),
            (NODES.assign(balance=NODES["balance"].where(NODES.index > 3)), "'balance is missing'"),
            (NODES.assign(opened=range(len(NODES))), r"lacks 'opened \(date\)'"),
        ],
        ids=["column", "category", "gap", "date"],
    )
    def test_columns_that_are_read_in_another_way_are_refused(self, detector, nodes, said):
        with pytest.raises(InputError, match=said) as refused:
            detector.decision_function((self.EDGES, nodes))
        assert "be read the same way" in str(refused.value)


class TestThreads:
    """Callers keep their own torch settings, whenever a computation is interrupted."""

    @pytest.fixture(autouse=True)
    @staticmethod
    def two_threads():
        before = torch.get_num_threads()
        torch.set_num_threads(2)
        yield
        assert caller_state() == (2, True)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(caller_state).result() == (2, True)
        torch.set_num_threads(before)

    def test_after_fit(self, explained):
        _, graph, how = explained
        EgoScore(**how).fit(graph)

    def test_after_an_error_in_fit(self, explained):
        with pytest.raises(InputError):
            explained[0].decision_function(generate_network(20, 40, 3))

    def test_while_explanations_are_suspended(self, explained):
        detector = explained[0]
        first, second = (detector.explain_all(["n1", "n2", "n3"]) for _ in range(2))
        for some in (first, second, first):
            next(some)
            assert caller_state() == (2, True)
        first.close()
        assert caller_state() == (2, True)
        assert [why.node for why in second] == ["n2", "n3"]

    def test_after_two_fits_at_once(self, explained):
        detector, graph, how = explained
        meet = Barrier(2)

        def fit(seed):
            meet.wait()
            return EgoScore(**how, seed=seed).fit(graph).decision_score_

        with ThreadPoolExecutor(2) as pool:
            scores = list(pool.map(fit, [0, 0]))
            assert {pool.submit(torch.get_num_threads).result() for _ in range(4)} == {2}
        assert torch.equal(scores[0], detector.decision_score_)
        assert torch.equal(scores[1], detector.decision_score_)


def caller_state():
    """The number of threads, and whether denormal numbers are kept."""
    return torch.get_num_threads(), float(torch.tensor(1e-40) * 1.0) > 0.0


class TestExplainLater:
    def test_from_a_run_nothing_else_is_needed(self, explained, tmp_path):
        detector, graph, how = explained
        detect(graph, Origin("small"), EgoScore(**how), tmp_path)
        loaded = EgoScore.load(tmp_path)
        for node in ("n0", "n33"):
            assert loaded.explain(node) == detector.explain(node)

    def test_from_a_model_file_the_network_has_to_be_given(self, explained, tmp_path):
        detector, graph, _ = explained
        detector.save(tmp_path / "model.safetensors")
        for path in (tmp_path, tmp_path / "model.safetensors"):
            loaded = EgoScore.load(path)
            with pytest.raises(InputError, match="loaded without its graph") as caught:
                loaded.explain("n0")
            assert "\n" not in str(caught.value)
            ours, theirs = detector.explain("n0"), loaded.explain("n0", graph)
            assert theirs.features == ours.features
            assert theirs.score == pytest.approx(ours.score, rel=1e-4)

    def test_the_features_are_told_as_what_they_were(self, graph, tmp_path):
        kinds = ("number", "category", "date", "yes/no")
        columns = tuple(FeatureColumn(f"c{k}", kind, "NZ") for k, kind in enumerate(kinds))
        x = graph.features.copy()
        x[:, 1], x[:, 2], x[:, 3] = x[:, 1] > 0, 19_000 + 100 * x[:, 2].round(), x[:, 3] > 0
        described = replace(graph, features=x, columns=columns)
        detect(described, Origin("small"), EgoScore(**DEFAULT), tmp_path)
        found = {one.name: one for one in EgoScore.load(tmp_path).explain(5).features}
        assert set(found) == {"c0", "c1 = NZ", "c2", "c3"}
        assert found["c1 = NZ"].observed in ("yes", "no")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", found["c2"].observed)
        assert found["c3"].observed in ("yes", "no")

    def test_a_network_that_is_damaged_is_told(self, explained, tmp_path):
        _, graph, how = explained
        detect(graph, Origin("small"), EgoScore(**how), tmp_path)
        (tmp_path / "network" / "edges.parquet").write_bytes(b"PAR1")
        with pytest.raises(RunError, match=r"edges.parquet is damaged"):
            EgoScore.load(tmp_path).explain("n0")


@pytest.mark.parametrize("how", [DEFAULT, QUICK], ids=["default", "paper"])
class TestAuto:
    def test_those_far_out_are_flagged(self, graph, how):
        detector = EgoScore(**how, contamination="auto").fit(graph)
        low, high = np.quantile(detector.decision_score_, (0.25, 0.75))
        assert detector.threshold_ == pytest.approx(high + 3 * (high - low))
        flagged = detector.decision_score_ > detector.threshold_
        assert torch.equal(detector.label_, flagged.long())
        assert torch.equal(detector.predict(), detector.label_)
        assert bool(detector.predict(return_conf=True)[1].isfinite().all())

    def test_it_is_kept_in_a_file(self, graph, how, tmp_path):
        detector = EgoScore(**how, contamination="auto").fit(graph)
        detector.save(tmp_path / "m.safetensors")
        loaded = EgoScore.load(tmp_path / "m.safetensors")
        assert (loaded.contamination, loaded.threshold_) == ("auto", detector.threshold_)
        assert torch.equal(loaded.label_, detector.label_)
        assert torch.equal(loaded.p_value_, detector.p_value_)


class TestOneMeaningOfFlagged:
    """The command line and Python flag the same; significant nodes are among the flagged."""

    @pytest.mark.parametrize("how", [DEFAULT, QUICK], ids=["default", "paper"])
    def test_the_defaults_flag_what_the_command_line_flags(self, graph, how, tmp_path):
        detector = EgoScore(**how).fit(graph)
        found = detect(graph, Origin("small"), EgoScore(**how, contamination="auto"), tmp_path)
        assert found.findings.threshold == detector.threshold_
        assert found.findings.num_flagged == int(detector.label_.sum())

    @pytest.mark.parametrize("fdr", [0.1, 0.53, 0.9, 0.99])
    @pytest.mark.parametrize("contamination", ["auto", 0.02, 0.3])
    def test_significant_nodes_are_flagged(self, graph, fdr, contamination, tmp_path):
        detector = EgoScore(**DEFAULT, fdr=fdr, contamination=contamination).fit(graph)
        stand_out = false_discovery_control(detector.p_value_) <= fdr
        flagged = detector.label_.numpy() == 1
        assert detector.significant_.tolist() == (stand_out & flagged).astype(int).tolist()
        assert torch.equal(detector.label_, (detector.decision_score_ > detector.threshold_).long())
        assert torch.equal(detector.predict(graph), detector.label_)
        if contamination == "auto":
            assert not (stand_out & ~flagged).any()
        else:
            assert flagged.sum() <= np.ceil(contamination * 60)
        detector.save(tmp_path / "model")
        loaded = EgoScore.load(tmp_path / "model")
        assert torch.equal(loaded.significant_, detector.significant_)
        assert torch.equal(loaded.label_, detector.label_)

    def test_the_rule_says_where_the_threshold_was_lowered(self, graph, tmp_path):
        found = detect(graph, Origin("small"), EgoScore(**DEFAULT, fdr=0.99), tmp_path)
        assert found.findings.rule.code == "threshold-significant"
        assert found.findings.threshold < found.findings.rule.fields["fence"]
        marked, flagged = (found.ranking[name].to_numpy() for name in ("significant", "flag"))
        assert 0 < marked.sum() <= flagged.sum()
        assert (flagged[marked == 1] == 1).all()


def test_numbers_of_another_network_are_compared_in_the_users_units(tmp_path):
    """Moments of two nights are measured from different offsets; they are the same moments."""
    base = generate_network(150, 450, 3, seed=4)
    columns = (FeatureColumn("when", offset=1.7e9), FeatureColumn("a"), FeatureColumn("b"))
    first = replace(base, columns=columns)
    detector = EgoScore(updates=3).fit(first)
    moved = base.features + np.float32([-100, 0, 0])
    again = replace(
        base, features=moved, columns=(FeatureColumn("when", offset=1.7e9 + 100), *columns[1:])
    )
    later = replace(base, columns=(FeatureColumn("when", offset=1.7e9 + 5000), *columns[1:]))
    # not the training network itself, whose nodes are judged by what has not seen them
    alike = replace(first, features=first.features * np.float32(1 + 1e-6))
    own = detector.decision_function(alike).numpy()
    # rounding may exchange neighbours in rank, which moves a score a little
    moved_by = np.abs(detector.decision_function(again).numpy() - own)
    assert np.quantile(moved_by, 0.9) < 0.05
    assert moved_by.max() < 0.3
    assert np.abs(detector.decision_function(later).numpy() - own).max() > 1
    detector.save(tmp_path / "model")
    loaded = EgoScore.load(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.decision_function(later), detector.decision_function(later)
    )


def with_cities(first, second):
    """A network of two cities, one feature each; the ages of its nodes come first."""
    source = nx.gnp_random_graph(40, 0.2, seed=3)
    for node, data in source.nodes(data=True):
        data.update(age=20 + node, city=first if node % 3 else second)
    return source


class TestTitles:
    @pytest.mark.parametrize("how", [DEFAULT, QUICK], ids=["default", "paper"])
    def test_other_categories_are_refused(self, how, tmp_path):
        fitted = EgoScore(**how).fit(with_cities("Oslo", "Rome"))
        fitted.save(tmp_path / "model")
        for detector in (fitted, EgoScore.load(tmp_path / "model")):
            same = detector.decision_function(with_cities("Rome", "Oslo"))
            assert bool(same.isfinite().all())
            for use in (detector.decision_function, partial(detector.explain, 0)):
                with pytest.raises(InputError) as caught:
                    use(with_cities("Bern", "Oslo"))
                assert "has 'city = Bern'" in str(caught.value)
                assert "lacks 'city = Rome'" in str(caught.value)

    def test_tables_are_compared_as_well_and_their_order_counts(self):
        edges = {"source": range(40), "target": [*range(1, 40), 0]}
        nodes = {
            "id": range(40),
            "age": [n % 7 for n in range(40)],
            "pay": [n**2 for n in range(40)],
        }
        detector = EgoScore(**DEFAULT).fit(AttributedGraph.from_tables(edges, nodes))
        back = AttributedGraph.from_tables(edges, nodes, features=["pay", "age"])
        with pytest.raises(InputError, match="order, 'pay', 'age'"):
            detector.decision_function(back)

    def test_a_date_is_not_a_number(self):
        edges = {"source": range(40), "target": [*range(1, 40), 0]}
        dates = [f"2024-01-{1 + n % 28:02d}" for n in range(40)]
        numbers = [n**2 for n in range(40)]
        first, second = ({"id": range(40), "opened": one} for one in (dates, numbers))
        detector = EgoScore(**DEFAULT).fit((edges, first))
        assert bool(detector.decision_function((edges, first)).isfinite().all())
        with pytest.raises(InputError, match=r"has 'opened' and lacks 'opened \(date\)'"):
            detector.decision_function((edges, second))

    def test_where_nothing_is_called_by_a_name_the_number_decides(self, tmp_path):
        graph = AttributedGraph.from_networkx(with_cities("Oslo", "Rome"))
        moments = graph.features + np.float64([1.7e9, 0, 0])  # which are measured from an offset
        named = AttributedGraph.from_edges(ends(graph), moments, feature_names=["when", "a", "b"])
        plain = AttributedGraph.from_edges(ends(graph), graph.features, feature_names=list("abc"))
        nameless = [(ends(graph), moments), (ends(graph), graph.features), plain]
        detector = EgoScore(**DEFAULT).fit(named)
        assert named.columns
        for data in nameless:
            assert bool(detector.decision_function(data).isfinite().all())
            assert detector.explain(0, data).node == "0"
        assert bool(EgoScore(**DEFAULT).fit(nameless[0]).decision_function(named).isfinite().all())
