"""Fitting: what is scaled, cut and trained, and what a store hears of it."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler

from egoscore import EgoScore, generate_network
from egoscore.engine.fit import fit_model

CPU = torch.device("cpu")
SETTINGS = EgoScore(preset="paper", epochs=3, hidden_size=8).settings()
FITTING = sys.modules[fit_model.__module__]


@pytest.fixture(scope="module")
def graph():
    return generate_network(40, 100, 3)


@pytest.fixture(scope="module")
def model(graph):
    return fit_model(graph, SETTINGS, 5, CPU)


class Store:
    """Remembers what it hears; has one state to resume from if one was kept before."""

    def __init__(self, kept=None):
        self.heard = []
        self.kept = kept

    def resume(self, state):
        self.heard.append(("resume", state.epoch))
        if self.kept is not None:
            state.restore(*self.kept)

    def keep(self, state, finished):
        self.heard.append(("keep", state.epoch, finished))
        self.kept = (state.tensors(), state.epoch, list(state.history))


def weights(model):
    return torch.cat([value.flatten() for value in model.networks.state_dict().values()])


class TestStore:
    def test_it_is_asked_once_and_told_of_every_epoch_and_of_the_end(self, graph):
        store = Store()
        fit_model(graph, SETTINGS, 5, CPU, store)
        assert store.heard == [
            ("resume", 0),
            ("keep", 1, False),
            ("keep", 2, False),
            ("keep", 3, True),
        ]

    def test_what_was_kept_is_continued_to_the_same_end(self, graph, model):
        store = Store()
        fit_model(graph, replace(SETTINGS, epochs=2), 5, CPU, store)
        later = Store(store.kept)
        again = fit_model(graph, SETTINGS, 5, CPU, later)
        assert later.heard == [("resume", 0), ("keep", 3, True)]
        assert again.history == model.history
        assert torch.equal(weights(again), weights(model))
        assert all(torch.equal(again.average[name], model.average[name]) for name in model.average)

    def test_what_was_finished_is_taken_as_it_is(self, graph, model):
        store = Store()
        fit_model(graph, SETTINGS, 5, CPU, store)
        # from another seed, so that only what was kept can give these weights
        later, epochs = Store(store.kept), []
        again = fit_model(graph, SETTINGS, 6, CPU, later, lambda state: epochs.append(state.epoch))
        assert later.heard == [("resume", 0)]
        assert epochs == []
        assert torch.equal(weights(again), weights(model))

    def test_it_changes_nothing_that_is_learned(self, graph, model):
        again = fit_model(graph, SETTINGS, 5, CPU, Store())
        assert again.history == model.history
        assert torch.equal(weights(again), weights(model))

    def test_an_epoch_is_kept_before_others_hear_of_it(self, graph):
        store = Store()

        def power_cut(state):
            raise RuntimeError("power cut")

        with pytest.raises(RuntimeError, match="power cut"):
            fit_model(graph, SETTINGS, 5, CPU, store, power_cut)
        assert store.heard == [("resume", 0), ("keep", 1, False)]


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
        assert again.history == model.history

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
        assert untrained.history == []
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
    assert fit_model(graph, replace(SETTINGS, **change), 5, CPU).history != model.history


class TestSeed:
    def test_it_reaches_the_first_weights(self, graph):
        untrained = replace(SETTINGS, epochs=0)
        one, other = (fit_model(graph, untrained, seed, CPU) for seed in (5, 6))
        assert not torch.equal(weights(one), weights(other))

    def test_it_reaches_training_also_where_the_weights_are_the_same(self, graph):
        store, whole = Store(), replace(SETTINGS, max_nodes=40)  # no ego-graph is cut by chance
        fit_model(graph, replace(whole, epochs=1), 5, CPU, store)
        one, other = (fit_model(graph, whole, seed, CPU, Store(store.kept)) for seed in (5, 6))
        assert one.history[0] == other.history[0]
        assert one.history[1] != other.history[1]

    def test_training_sees_the_ego_graphs_that_scoring_will_see(self, graph, monkeypatch):
        seen = []
        monkeypatch.setattr(FITTING, "train", lambda state, egos, *_: seen.append(egos))
        model = fit_model(graph, replace(SETTINGS, max_nodes=4), 6, CPU)
        nodes = np.arange(40)
        trained, scored = (egos.batch(nodes) for egos in (seen[0], model.ego_graphs(graph, CPU)))
        assert torch.equal(trained.x, scored.x)
        assert torch.equal(trained.adj, scored.adj)
