"""The likelihood of ego-graphs: against Gaussian data, determinants and full Jacobians."""

import math
from dataclasses import replace
from functools import partial

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.linalg import hadamard

from egoscore import generate_network
from egoscore.detectors.paper import likelihood
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.likelihood import (
    LikelihoodConfig,
    follow_flow,
    hutchinson,
    negative_log_likelihood,
)
from egoscore.detectors.paper.noise import pair_order
from egoscore.detectors.paper.sde import SDES, VE, VP
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.steps import LAST_TIME
from egoscore.detectors.paper.train import TrainingState, train
from egoscore.errors import TrainingError
from egoscore.graph import AttributedGraph, FeatureScaling

SEED = 11
NODES = np.arange(30)


def example(directed):
    """Ego-graphs of one to seven nodes, the last one isolated."""
    source = nx.gnp_random_graph(30, 0.12, seed=4, directed=directed)
    source.remove_edges_from([edge for edge in source.edges if 29 in edge])
    features = np.random.default_rng(5).normal(size=(30, 6))
    graph = AttributedGraph.from_edges(np.array(source.edges).T, features, directed)
    return EgoGraphs(graph, max_nodes=7, seed=SEED), ScoreModel(6, 8, directed, seed=SEED)


def marginal(sde, t, mean, std):
    """Mean and variance at time t of data N(mean, std²)."""
    t = torch.as_tensor(t, dtype=torch.float64)
    return sde.decay(t) * mean, sde.decay(t) ** 2 * std**2 + sde.variance(t)


class GaussianModel:
    """The exact gradients for data in which every free value is N(mean, std²) by itself."""

    def __init__(self, sde, mean, std):
        self.sde = sde
        self.moments = mean, std

    def predict_noise(self, x, adj, mask, t, positions):
        moments = marginal(self.sde, t, *self.moments)
        mean, variance = (part.view(-1, 1, 1).to(x) for part in moments)
        scale = self.sde.std(t).view(-1, 1, 1).to(x) / variance
        pairs = mask.unsqueeze(1) * mask.unsqueeze(2) * (1 - torch.eye(mask.shape[1]))
        return (x - mean) * scale * mask.unsqueeze(2), (adj - mean) * scale * pairs


def carried(values, sde, mean, std):
    """Where the flow of Gaussian data carries values, and the logarithm of how it stretches."""
    first_mean, first = (float(part) for part in marginal(sde, LAST_TIME, mean, std))
    last_mean, last = (float(part) for part in marginal(sde, 1.0, mean, std))
    stretch = math.sqrt(last / first)
    return last_mean + stretch * (values - first_mean), math.log(stretch)


def free_values(egos, node):
    """Features and pairs of an ego-graph as one vector."""
    batch = egos.batch(np.array([node]))
    adj = batch.adj[0].double().numpy()
    apart = ~np.eye(len(adj), dtype=bool) if egos.graph.directed else np.tri(len(adj), k=-1) > 0
    return np.concatenate([batch.x[0].double().numpy().ravel(), adj[apart]])


def tiny_flow(directed, size=3, num_features=2):
    """What a small network predicts for graphs in float64, and two points to start from."""
    model = ScoreModel(num_features, 8, directed, seed=3).double()
    for parameter in model.parameters():
        parameter.data *= 2.0  # so that the flow is far from linear
    order = pair_order(size, directed, torch.device("cpu"))

    def predict(values, t):
        mask = torch.ones(len(values), size, dtype=torch.float64)
        nowhere = mask.new_empty(*mask.shape, 0)
        return likelihood._predict_noise(model, mask, nowhere, order, values, t)

    width = size * num_features + len(order.lower)
    values = torch.randn(2, width, generator=torch.Generator().manual_seed(1)).double()
    return predict, values


def all_directions(values):
    """Signs whose mean of e·eᵀ is the identity, so that Hutchinson's estimate is no estimate."""
    signs = torch.from_numpy(hadamard(16)).double()[:, : values.shape[1]]
    return signs.unsqueeze(1).repeat(1, len(values), 1)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", SDES)
def test_gaussian_data_has_the_density_that_theory_gives(kind, directed):
    egos, _ = example(directed)
    sde, mean, std = SDES[kind], 0.3, 0.8
    config = LikelihoodConfig(num_steps=40)
    found = negative_log_likelihood(egos, GaussianModel(sde, mean, std), sde, SEED, NODES, config)
    prior = 1.0 if kind != "ve" else VE().sigma_max
    for node in NODES:
        ends, log_stretch = carried(free_values(egos, node), sde, mean, std)
        log_prior = -0.5 * (ends / prior) ** 2 - math.log(prior * math.sqrt(2 * math.pi))
        assert found[node] == pytest.approx(-np.mean(log_prior + log_stretch), abs=1e-3)


def test_standard_normal_data_keep_their_density_in_a_variance_preserving_flow():
    egos, _ = example(False)
    found = negative_log_likelihood(egos, GaussianModel(VP(), 0.0, 1.0), VP(), SEED, NODES)
    values = [free_values(egos, node) for node in NODES]
    expected = [0.5 * np.mean(value**2) + 0.5 * math.log(2 * math.pi) for value in values]
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("kind", SDES)
def test_the_flow_converges_at_second_order(kind):
    sde, mean, std = SDES[kind], 0.3, 0.5
    values = torch.linspace(-2, 2, 8, dtype=torch.float64).view(2, 4)
    ends, log_stretch = carried(values, sde, mean, std)

    def predict(values, t):
        centre, variance = (part.view(-1, 1) for part in marginal(sde, t, mean, std))
        return sde.std(t).view(-1, 1) * (values - centre) / variance

    errors = []
    for num_steps in (20, 40, 80):
        found, growth = follow_flow(predict, values, torch.ones(1, 2, 4), sde, num_steps)
        errors.append([(found - ends).abs().max(), (growth - 4 * log_stretch).abs().max()])
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders.min() > 1.8, orders
    assert np.max(errors[-1]) < 1e-3


@pytest.mark.parametrize("directed", [False, True])
def test_the_growth_is_the_log_determinant_of_the_map(directed):
    """The map from the start to the end of the flow, differentiated by differences."""
    predict, values = tiny_flow(directed)
    _, growth = follow_flow(predict, values, all_directions(values), VP(), 20)
    shifts = 1e-5 * torch.eye(values.shape[1]).double()
    for value, found in zip(values, growth, strict=True):
        starts = torch.cat([value + shifts, value - shifts])
        ends, _ = follow_flow(predict, starts, torch.ones_like(starts)[None], VP(), 20)
        jacobian = (ends[: len(shifts)] - ends[len(shifts) :]) / 2e-5
        expected = float(torch.linalg.slogdet(jacobian).logabsdet)
        assert float(found) == pytest.approx(expected, abs=5e-4)
        linear = -0.275 * len(value)
        assert abs(expected - linear) > 0.02  # the networks have their share in it


@pytest.mark.parametrize("directed", [False, True])
def test_the_networks_have_right_gradients_in_what_they_see(directed):
    predict, values = tiny_flow(directed, size=4)
    t = torch.tensor([0.2, 0.9]).double()
    assert torch.autograd.gradcheck(lambda v: predict(v, t), values.requires_grad_())


class TestHutchinson:
    def traces(self, function, values):
        rows = torch.autograd.functional.jacobian(function, values)  # (B, D, B, D)
        return torch.stack([rows[i, :, i].trace() for i in range(len(values))])

    @pytest.mark.parametrize("directed", [False, True])
    def test_over_all_directions_it_is_the_trace_of_the_jacobian(self, directed):
        predict, values = tiny_flow(directed)
        function = partial(predict, t=torch.tensor([0.3, 0.8]).double())
        found, divergence = hutchinson(function, values, all_directions(values))
        torch.testing.assert_close(found, function(values))
        torch.testing.assert_close(divergence, self.traces(function, values))

    def test_random_signs_give_the_trace_on_average(self):
        predict, values = tiny_flow(False)
        many = values[:1].repeat(20_000, 1)
        signs = torch.randn(many.shape, generator=torch.Generator().manual_seed(2)).sign().double()
        t = torch.tensor([0.3]).double()
        _, estimates = hutchinson(lambda v: predict(v, t.expand(len(v))), many, signs[None])
        trace = self.traces(partial(predict, t=t), values[:1])
        assert float((estimates.mean() - trace) / estimates.std()) == pytest.approx(0.0, abs=0.02)
        assert estimates.std() > 0.01

    def test_one_probe_is_enough_where_values_do_not_mix(self):
        values = torch.linspace(-1, 1, 10, dtype=torch.float64).view(2, 5)
        signs = torch.tensor([1.0, -1, -1, 1, 1]).double().expand(1, 2, 5)
        _, divergence = hutchinson(torch.sin, values, signs)
        torch.testing.assert_close(divergence, values.cos().sum(dim=1))


@pytest.mark.parametrize("directed", [False, True])
def test_a_nodes_number_does_not_depend_on_company_order_or_batch_size(monkeypatch, directed):
    egos, model = example(directed)
    config = LikelihoodConfig(num_steps=3)
    compute = partial(negative_log_likelihood, egos, model, VP(), SEED, config=config)
    together = compute(NODES)  # of all sizes in one batch, thus padded
    some = np.array([21, 3, 29, 8, 3])
    np.testing.assert_allclose(compute(some), together[some], rtol=1e-4)
    monkeypatch.setattr(likelihood, "CAPACITY", 1)  # every ego-graph by itself
    np.testing.assert_allclose(compute(NODES[::-1]), together[::-1], rtol=1e-4)


def test_the_seed_determines_the_probes():
    egos, model = example(False)
    first, again, other = (
        negative_log_likelihood(egos, model, VP(), seed, NODES) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert (first != other).all()
    np.testing.assert_allclose(first, other, rtol=0.2)


def test_more_probes_make_the_spread_between_seeds_smaller():
    egos, model = example(False)

    def spread(num_probes):
        config = LikelihoodConfig(1, num_probes)
        runs = [negative_log_likelihood(egos, model, VP(), s, NODES, config) for s in range(12)]
        return np.std(runs, axis=0).mean()

    assert spread(16) == pytest.approx(spread(1) / 4, rel=0.2)


@pytest.mark.parametrize("directed", [False, True])
def test_probes_are_signs_and_padding_stays_exactly_zero(monkeypatch, directed):
    egos, model = example(directed)
    seen = []

    def spy(predict, values, probes, *others):
        ends, growth = follow_flow(predict, values, probes, *others)
        seen.append((values, probes, ends))
        return ends, growth

    monkeypatch.setattr(likelihood, "follow_flow", spy)
    negative_log_likelihood(egos, model, VP(), SEED, NODES, LikelihoodConfig(2, 3))
    ((_, probes, ends),) = seen
    order = np.concatenate(list(egos.chunks(NODES, 2**20, 2**20)))
    num_pairs = egos.sizes * (egos.sizes - 1) // (1 if directed else 2)
    real = probes.abs()
    assert torch.equal(real.unique(), torch.tensor([0.0, 1.0]))
    assert np.array_equal(real[0].sum(dim=1), (6 * egos.sizes + num_pairs)[order])
    assert not ends[real[0] == 0].any()
    assert abs(float(probes.sum() / real.sum())) < 0.05
    assert len(torch.unique(probes, dim=0)) == 3


def test_what_is_not_finite_is_refused_by_name():
    egos, model = example(False)
    features = egos.graph.features.copy()
    features[7] = 1e25
    wild = EgoGraphs(replace(egos.graph, features=features), max_nodes=7)
    with pytest.raises(TrainingError, match=r"likelihood of node \S+ is not finite"):
        negative_log_likelihood(wild, model, VP(), SEED, NODES)


def test_after_training_its_own_network_is_likely_and_a_scrambled_one_is_not():
    """Scrambled column by column: every feature by itself looks as before, also to the prior."""
    graph = generate_network(200, 500, 8, outlier_fraction=0.0, seed=1)
    graph = FeatureScaling.fit(graph.features).apply(graph)
    scrambled = np.random.default_rng(2).permuted(graph.features, axis=0)
    model = ScoreModel(8, 8)
    nodes = np.arange(200)

    def compute(features):
        egos = EgoGraphs(replace(graph, features=features), max_nodes=8)
        return negative_log_likelihood(egos, model, VP(), SEED, nodes)

    untrained = compute(graph.features)
    config = PaperSettings(epochs=40, lr=0.02, weight_decay=0.01, batch_size=0)
    state = TrainingState(model, config.lr, config.weight_decay)
    train(state, EgoGraphs(graph, max_nodes=8), config, SEED)
    typical = compute(graph.features)
    assert typical.mean() < untrained.mean() - 0.2
    assert np.mean(compute(scrambled) > typical) > 0.9
    assert (compute(graph.features + 5) > typical.max()).all()
