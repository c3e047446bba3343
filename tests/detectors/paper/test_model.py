"""Fitting a model, and the fitted model."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from memory_store import MemoryStore
from sklearn.preprocessing import StandardScaler

from egoscore import EgoScore, generate_network
from egoscore.detectors.paper import train
from egoscore.detectors.paper.model import FittedModel, fit_model
from egoscore.errors import InputError
from egoscore.graph import FeatureScaling

CPU = torch.device("cpu")
SETTINGS = EgoScore(preset="paper", epochs=3, hidden_size=8).settings()
FITTING = sys.modules[fit_model.__module__]


@pytest.fixture(scope="module")
def graph():
    return generate_network(40, 100, 3)


@pytest.fixture(scope="module")
def model(graph):
    return fit_model(graph, SETTINGS, 5, CPU)


class Store(MemoryStore):
    """Remembers what it hears; has a checkpoint to resume from if one was kept before."""

    def __init__(self, parts=()):
        super().__init__()
        self.heard, self.parts = [], dict(parts)

    def load(self, name):
        self.heard.append(("load", name))
        return super().load(name)

    def save(self, name, tensors, facts):
        self.heard.append(("save", facts["epoch"]))
        super().save(name, tensors, facts)


ASKED = ("load", "checkpoint")


@pytest.fixture(autouse=True)
def every_epoch(monkeypatch):
    """A checkpoint after every epoch, not now and then."""
    monkeypatch.setattr(train, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)


def weights(model):
    return torch.cat([value.flatten() for value in model.networks.state_dict().values()])


class TestStore:
    def test_it_is_asked_once_and_told_of_every_epoch_and_of_the_end(self, graph):
        store = Store()
        fit_model(graph, SETTINGS, 5, CPU, store)
        assert store.heard == [ASKED, ("save", 1), ("save", 2), ("save", 3)]

    def test_the_end_is_kept_however_soon_it_comes(self, graph, monkeypatch):
        monkeypatch.setattr(train, "_SECONDS_BETWEEN_CHECKPOINTS", 3600.0)
        store = Store()
        fit_model(graph, SETTINGS, 5, CPU, store)
        assert store.heard == [ASKED, ("save", 3)]

    def test_what_was_kept_is_continued_to_the_same_end(self, graph, model):
        store = Store()
        fit_model(graph, replace(SETTINGS, epochs=2), 5, CPU, store)
        later = Store(store.parts)
        again = fit_model(graph, SETTINGS, 5, CPU, later)
        assert later.heard == [ASKED, ("save", 3)]
        np.testing.assert_array_equal(again.history, model.history)
        assert torch.equal(weights(again), weights(model))
        assert all(torch.equal(again.average[name], model.average[name]) for name in model.average)

    def test_what_was_finished_is_taken_as_it_is(self, graph, model):
        store = Store()
        fit_model(graph, SETTINGS, 5, CPU, store)
        # from another seed, so that only what was kept can give these weights
        later, epochs = Store(store.parts), []
        again = fit_model(graph, SETTINGS, 6, CPU, later, lambda state: epochs.append(state.epoch))
        assert later.heard == [ASKED]
        assert epochs == []
        assert torch.equal(weights(again), weights(model))

    def test_it_changes_nothing_that_is_learned(self, graph, model):
        again = fit_model(graph, SETTINGS, 5, CPU, Store())
        np.testing.assert_array_equal(again.history, model.history)
        assert torch.equal(weights(again), weights(model))

    def test_an_epoch_is_kept_before_others_hear_of_it(self, graph):
        store = Store()

        def power_cut(state):
            raise RuntimeError("power cut")

        with pytest.raises(RuntimeError, match="power cut"):
            fit_model(graph, SETTINGS, 5, CPU, store, power_cut)
        assert store.heard == [ASKED, ("save", 1)]


@pytest.mark.parametrize("store", [None, Store()])
def test_after_every_epoch_the_caller_hears_of_it(graph, store):
    heard = []

    def listen(state):
        heard.append((state.epoch, len(state.history)))

    fit_model(graph, SETTINGS, 5, CPU, store, listen)
    assert heard == [(1, 1), (2, 2), (3, 3)]


class TestResult:
    def test_it_holds_what_it_was_made_from(self, model):
        assert (model.settings, model.seed, model.directed) == (SETTINGS, 5, False)
        assert len(model.history) == 3

    def test_it_knows_a_directed_network(self):
        directed = generate_network(20, 40, 3, directed=True)
        assert fit_model(directed, replace(SETTINGS, epochs=0), 5, CPU).directed is True

    def test_features_are_scaled_as_scikit_learn_does(self, graph, model):
        oracle = StandardScaler().fit(graph.features.astype(np.float64))
        np.testing.assert_allclose(model.scaling.mean, oracle.mean_)
        np.testing.assert_allclose(model.scaling.factor, 1 / oracle.scale_)

    def test_networks_learn_from_scaled_features(self, graph, model):
        # powers of two: not a bit of the scaled features changes
        units = np.array([1024, 0.25, 8], dtype=np.float32)
        again = fit_model(replace(graph, features=graph.features * units), SETTINGS, 5, CPU)
        np.testing.assert_array_equal(again.history, model.history)

    def test_the_largest_ego_graph_is_a_quantile_unless_it_is_given(self, graph, model):
        quantile = np.quantile(graph.neighbours.degrees + 1, 0.95, method="lower")
        assert model.max_nodes == quantile < 50
        small = fit_model(graph, replace(SETTINGS, epochs=0, max_nodes=4), 5, CPU)
        assert (small.max_nodes, small.settings.max_nodes) == (4, 4)

    def test_the_running_average_is_that_of_these_networks(self, model):
        parameters = dict(model.networks.named_parameters())
        assert model.average.keys() == parameters.keys()
        assert any(not torch.equal(model.average[name], parameters[name]) for name in parameters)

    def test_without_training_all_is_there_but_a_history(self, graph):
        untrained = fit_model(graph, replace(SETTINGS, epochs=0), 5, CPU)
        assert untrained.history.shape == (0, 2)
        for name, value in untrained.networks.named_parameters():
            assert torch.equal(value, untrained.average[name])


@pytest.mark.parametrize(
    "change",
    [
        {"num_hops": 2},
        {"max_nodes": 3},
        {"sde": "ve"},
        {"hidden_size": 12},
        {"lr": 0.02},
        {"weight_decay": 0.5},
        {"batch_size": 15},
    ],
)
def test_every_setting_of_training_reaches_it(graph, model, change):
    changed = fit_model(graph, replace(SETTINGS, **change), 5, CPU)
    assert not np.array_equal(changed.history, model.history)


class TestSeed:
    def test_it_reaches_the_first_weights(self, graph):
        untrained = replace(SETTINGS, epochs=0)
        one, other = (fit_model(graph, untrained, seed, CPU) for seed in (5, 6))
        assert not torch.equal(weights(one), weights(other))

    def test_it_reaches_training_also_where_the_weights_are_the_same(self, graph):
        store, whole = Store(), replace(SETTINGS, max_nodes=40)  # no ego-graph is cut by chance
        fit_model(graph, replace(whole, epochs=1), 5, CPU, store)
        one, other = (fit_model(graph, whole, seed, CPU, Store(store.parts)) for seed in (5, 6))
        np.testing.assert_array_equal(one.history[0], other.history[0])
        assert not np.array_equal(one.history[1], other.history[1])

    def test_training_sees_the_ego_graphs_that_scoring_will_see(self, graph, monkeypatch):
        seen = []
        monkeypatch.setattr(FITTING, "train", lambda state, egos, *_: seen.append(egos))
        model = fit_model(graph, replace(SETTINGS, max_nodes=4), 6, CPU)
        nodes = np.arange(40)
        trained, scored = (egos.batch(nodes) for egos in (seen[0], model.ego_graphs(graph, CPU)))
        assert torch.equal(trained.x, scored.x)
        assert torch.equal(trained.adj, scored.adj)


SHORT = EgoScore(
    preset="paper", epochs=2, hidden_size=8, max_nodes=5, num_levels=2, steps=10
).settings()


def fit(settings=SHORT, seed=3, **kwargs):
    return fit_model(generate_network(40, 100, 3, **kwargs), settings, seed, CPU)


@pytest.fixture(scope="module")
def fitted():
    return fit()


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


class TestBytes:
    @pytest.mark.parametrize("directed", [False, True])
    def test_a_model_comes_back_from_its_tensors_and_metadata(self, directed):
        fitted = fit(directed=directed)
        tensors, facts = fitted.to_tensors()
        again = FittedModel.from_tensors(tensors, json.loads(json.dumps(facts)))
        assert (again.settings, again.seed, again.max_nodes) == (SHORT, 3, 5)
        assert again.directed is directed
        np.testing.assert_array_equal(again.history, fitted.history)
        assert same(again.networks, fitted.networks)
        assert again.average.keys() == fitted.average.keys()
        assert all(torch.equal(again.average[name], fitted.average[name]) for name in again.average)
        np.testing.assert_array_equal(again.scaling.mean, fitted.scaling.mean)
        np.testing.assert_array_equal(again.scaling.factor, fitted.scaling.factor)

    def test_the_scaling_keeps_all_its_digits(self, fitted):
        tensors, _ = fitted.to_tensors()
        assert tensors["scaling.mean"].dtype == tensors["scaling.factor"].dtype == torch.float64

    def test_the_losses_are_part_of_it(self, fitted):
        assert fitted.to_tensors()[0]["history"].tolist() == fitted.history.tolist()
        assert len(fitted.history) == 2

    def test_a_model_that_was_never_trained_can_be_kept(self):
        fitted = fit(replace(SHORT, epochs=0))
        again = FittedModel.from_tensors(*fitted.to_tensors())
        assert again.history.shape == (0, 2)
        assert same(again.networks, fitted.networks)


class TestScoringNetworks:
    def test_without_ema_they_are_those_that_were_trained(self, fitted):
        assert fitted.scoring_networks() is fitted.networks

    def test_with_ema_they_are_the_running_average(self):
        fitted = fit(replace(SHORT, use_ema=True))
        networks = fitted.scoring_networks()
        for name, value in networks.named_parameters():
            assert torch.equal(value, fitted.average[name])
        assert not same(networks, fitted.networks)


class TestEgoGraphs:
    def test_features_are_scaled_as_in_training(self, fitted):
        other = generate_network(20, 40, 3, seed=9)
        egos = fitted.ego_graphs(other, CPU)
        np.testing.assert_array_equal(egos.graph.features, fitted.scaling.apply(other).features)
        own = FeatureScaling.fit(other.features).apply(other).features
        assert not np.allclose(egos.graph.features, own)

    def test_they_are_cut_as_in_training(self, fitted):
        egos = fitted.ego_graphs(generate_network(20, 80, 3), CPU)
        assert (egos.max_nodes, egos.seed, egos.num_hops) == (5, 3, 1)
        assert egos.sizes.max() == 5

    def test_the_limit_found_in_training_holds_for_other_networks(self):
        sparse = fit(replace(SHORT, max_nodes=None))
        degrees = generate_network(40, 100, 3).neighbours.degrees
        limit = min(50, int(np.quantile(degrees + 1, 0.95)))
        assert sparse.max_nodes == limit
        dense = generate_network(40, 600, 3)
        assert sparse.ego_graphs(dense, CPU).sizes.max() == limit

    def test_another_number_of_features_is_refused(self, fitted):
        with pytest.raises(InputError, match="has 4 features but the detector was fitted on 3"):
            fitted.ego_graphs(generate_network(20, 40, 4), CPU)

    def test_another_directedness_is_refused(self, fitted):
        with pytest.raises(InputError, match="undirected, but this one is directed"):
            fitted.ego_graphs(generate_network(20, 40, 3, directed=True), CPU)
