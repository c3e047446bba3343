"""A stack of models against each of its models alone: nothing may tell them apart."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from egoscore import AttributedGraph
from egoscore.device import one_thread
from egoscore.diffuse import VP
from egoscore.ego import EgoGraphs
from egoscore.errors import TrainingError
from egoscore.learn import GenerativeModel, JointModel, ScoreModel, TrainingConfig, train
from egoscore.learn.state import TrainingState

SEEDS = (3, 2**40 + 1, 8, 5, 6)
RATES = (0.1, 0.05, 0.01, 0.1, 0.02)


@pytest.fixture(autouse=True, scope="module")
def in_one_thread():
    """Sums keep their order."""
    with one_thread():
        yield


def network(directed=False, num_features=5, positions=0):
    """Ego-graphs of many sizes, some above the largest allowed."""
    numbers = np.random.default_rng(1)
    ends = (numbers.random((2, 240)) ** 2 * 75).astype(np.int64)
    graph = AttributedGraph.from_edges(ends, numbers.normal(size=(80, num_features)), directed)
    if not positions:
        return graph
    known = numbers.normal(size=(len(SEEDS), 80, positions)).astype(np.float32)
    return replace(graph, positions=known)


def trained(graph, seeds, rates, models, epochs=40):
    egos = EgoGraphs(graph, max_nodes=9, seed=seeds)
    assert (graph.neighbours.degrees >= 9).any()
    state = TrainingState(models, rates, 0.01)
    train(state, egos, VP(), TrainingConfig(epochs, rates, 0.01, 0), seeds)
    return state


def drawn(graph, seed, hidden_size=8, positions=0):
    return ScoreModel(graph.num_features, hidden_size, graph.directed, seed, positions)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("num_features", "hidden_size"), [(1, 4), (5, 8), (21, 12), (28, 16)])
def test_every_model_learns_what_it_learns_alone(directed, num_features, hidden_size):
    graph = network(directed, num_features)
    models = [drawn(graph, seed, hidden_size) for seed in SEEDS]
    state = trained(graph, SEEDS, RATES, GenerativeModel.side_by_side(models))
    for number, model in enumerate(state.model.apart()):
        alone = trained(graph, SEEDS[number], RATES[number], models[number])
        np.testing.assert_allclose(state.histories[number], alone.history, rtol=1e-4)
        expected = dict(alone.model.named_parameters())
        for name, value in model.named_parameters():
            torch.testing.assert_close(value, expected[name], rtol=1e-4, atol=1e-5, msg=name)
        for name, value in state.averages[number].items():
            torch.testing.assert_close(value, alone.average[name], rtol=1e-4, atol=1e-5)


def test_models_may_be_told_different_positions():
    graph = network(positions=3)
    models = [drawn(graph, seed, positions=3) for seed in SEEDS]
    state = trained(graph, SEEDS, RATES, GenerativeModel.side_by_side(models))
    for number, model in enumerate(state.model.apart()):
        own = replace(graph, positions=graph.positions[number])
        alone = trained(own, SEEDS[number], RATES[number], models[number])
        for value, expected in zip(model.parameters(), alone.model.parameters(), strict=True):
            torch.testing.assert_close(value, expected, rtol=1e-4, atol=1e-5)


def test_stacking_and_taking_apart_copies():
    graph = network()
    models = [drawn(graph, seed) for seed in SEEDS]
    stack = GenerativeModel.side_by_side(models)
    assert (stack.stack, stack.num_models) == ((5,), 5)
    for model, again in zip(models, stack.apart(), strict=True):
        assert again.stack == ()
        for name, value in model.named_parameters():
            assert torch.equal(value, again.get_parameter(name))
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.zero_()
    assert all(parameter.any() for parameter in models[0].feature_network.mlp.parameters())


def test_a_model_alone_is_a_stack_of_one():
    model = drawn(network(), 1)
    assert (model.stack, model.num_models) == ((), 1)
    assert model.apart() == [model]


def test_only_models_with_kernels_can_be_stacked():
    assert drawn(network(), 1).can_be_stacked
    assert not drawn(network(), 1).double().can_be_stacked
    assert not ScoreModel(3, 8, convolution="graff").can_be_stacked
    assert not JointModel(3, 8).can_be_stacked


def test_one_model_that_diverges_stops_all_and_its_lr_is_told():
    graph = network()
    models = [drawn(graph, seed) for seed in SEEDS[:3]]
    rates = (0.01, 1e30, 0.02)
    with pytest.raises(TrainingError, match=r"smaller lr \(now 1e\+30\)"):
        trained(graph, SEEDS[:3], rates, GenerativeModel.side_by_side(models))


def test_shuffled_batches_are_not_for_stacks():
    graph = network()
    models = GenerativeModel.side_by_side([drawn(graph, seed) for seed in SEEDS])
    state = TrainingState(models, 0.01, 0.01)
    with pytest.raises(ValueError, match="batches of 20"):
        train(state, EgoGraphs(graph, seed=SEEDS), VP(), TrainingConfig(1, 0.01, 0.01, 20), SEEDS)
