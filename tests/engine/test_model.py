"""A fitted model: inert bytes and back, and ego-graphs cut as in training."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from egoscore import EgoScore, generate_network
from egoscore.engine.fit import fit_model
from egoscore.engine.model import FittedModel, parse_metadata
from egoscore.errors import InputError, RunError
from egoscore.graph import FeatureScaling

CPU = torch.device("cpu")
SETTINGS = EgoScore(
    preset="paper", epochs=2, hidden_size=8, max_nodes=5, num_levels=2, steps=10
).settings()


def fit(settings=SETTINGS, seed=3, **kwargs):
    return fit_model(generate_network(40, 100, 3, **kwargs), settings, seed, CPU)


@pytest.fixture(scope="module")
def model():
    return fit()


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


class TestBytes:
    @pytest.mark.parametrize("directed", [False, True])
    def test_a_model_comes_back_from_its_tensors_and_metadata(self, directed):
        model = fit(directed=directed)
        metadata = json.loads(json.dumps(model.metadata()))
        again = FittedModel.from_tensors(model.tensors(), metadata)
        assert (again.settings, again.seed, again.max_nodes) == (SETTINGS, 3, 5)
        assert again.directed is directed
        assert again.history == model.history
        assert same(again.networks, model.networks)
        assert again.average.keys() == model.average.keys()
        assert all(torch.equal(again.average[name], model.average[name]) for name in again.average)
        np.testing.assert_array_equal(again.scaling.mean, model.scaling.mean)
        np.testing.assert_array_equal(again.scaling.factor, model.scaling.factor)

    def test_the_scaling_keeps_all_its_digits(self, model):
        assert model.tensors()["scaling.mean"].dtype == torch.float64
        assert model.tensors()["scaling.factor"].dtype == torch.float64

    def test_the_losses_are_part_of_it(self, model):
        assert model.tensors()["history"].tolist() == [list(row) for row in model.history]
        assert len(model.history) == 2

    def test_a_model_that_was_never_trained_can_be_kept(self):
        model = fit(replace(SETTINGS, epochs=0))
        again = FittedModel.from_tensors(model.tensors(), model.metadata())
        assert again.history == []
        assert same(again.networks, model.networks)

    def test_metadata_says_what_it_is(self, model):
        text = {"egoscore": json.dumps(model.metadata())}
        assert parse_metadata(text, "file") == json.loads(json.dumps(model.metadata()))

    @pytest.mark.parametrize("text", [None, {}, {"format": "pt"}, {"egoscore": "{"}])
    def test_metadata_of_others_is_refused(self, text):
        with pytest.raises(RunError, match="file is a safetensors file, but not a model"):
            parse_metadata(text, "file")

    @pytest.mark.parametrize("change", [{"format_version": 1}, {"format": "other"}])
    def test_another_format_is_refused_with_what_to_do(self, model, change):
        text = {"egoscore": json.dumps(model.metadata() | change)}
        with pytest.raises(RunError, match="update egoscore or fit the model again"):
            parse_metadata(text, "file")

    @pytest.mark.parametrize("text", ["[]", "3", "null"])
    def test_metadata_that_is_no_object_is_refused(self, text):
        with pytest.raises(RunError):
            parse_metadata({"egoscore": text}, "file")


class TestScoringNetworks:
    def test_without_ema_they_are_those_that_were_trained(self, model):
        assert model.scoring_networks() is model.networks

    def test_with_ema_they_are_the_running_average(self):
        model = fit(replace(SETTINGS, use_ema=True))
        networks = model.scoring_networks()
        for name, value in networks.named_parameters():
            assert torch.equal(value, model.average[name])
        assert not same(networks, model.networks)


class TestEgoGraphs:
    def test_features_are_scaled_as_in_training(self, model):
        other = generate_network(20, 40, 3, seed=9)
        egos = model.ego_graphs(other, CPU)
        np.testing.assert_array_equal(egos.graph.features, model.scaling.apply(other).features)
        own = FeatureScaling.fit(other.features).apply(other).features
        assert not np.allclose(egos.graph.features, own)

    def test_they_are_cut_as_in_training(self, model):
        egos = model.ego_graphs(generate_network(20, 80, 3), CPU)
        assert (egos.max_nodes, egos.seeds.tolist(), egos.num_hops) == (5, [3], 1)
        assert egos.sizes.max() == 5

    def test_the_limit_found_in_training_holds_for_other_networks(self):
        sparse = fit(replace(SETTINGS, max_nodes=None))
        degrees = generate_network(40, 100, 3).neighbours.degrees
        limit = min(50, int(np.quantile(degrees + 1, 0.95)))
        assert sparse.max_nodes == limit
        dense = generate_network(40, 600, 3)
        assert sparse.ego_graphs(dense, CPU).sizes.max() == limit

    def test_another_number_of_features_is_refused(self, model):
        with pytest.raises(InputError, match="has 4 features but the detector was fitted on 3"):
            model.ego_graphs(generate_network(20, 40, 4), CPU)

    def test_another_directedness_is_refused(self, model):
        with pytest.raises(InputError, match="network that is undirected, this one is directed"):
            model.ego_graphs(generate_network(20, 40, 3, directed=True), CPU)
