"""The gradient written out against autograd's on the plain networks, sizes 1 to M."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from egoscore import AttributedGraph
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import GraffScoreModel, ScoreModel
from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import SDES, VP
from egoscore.detectors.paper.train import add_gradients, denoising_losses
from egoscore.random import Keys

TIMES = torch.linspace(0.01, 1.0, 30, dtype=torch.float64)


def example(directed=False, num_features=5, num_edges=90, positions=0):
    """Thirty ego-graphs of many sizes, some of them alone, and the noise on them."""
    random = np.random.default_rng(3)
    ends = (random.random((2, num_edges)) ** 2 * 27).astype(np.int64)
    graph = AttributedGraph.from_edges(ends, random.normal(size=(30, num_features)), directed)
    if positions:
        known = random.normal(size=(30, positions)).astype(np.float32)
        graph = replace(graph, positions=known)
    batch = EgoGraphs(graph, max_nodes=11).batch(np.arange(30))
    keys = Keys.for_nodes(4, batch.node)
    return batch, EgoNoise(keys, batch.sizes, num_features, directed, torch.device("cpu"))


def model_of(num_features, hidden_size, directed, positions=0):
    model = ScoreModel(num_features, hidden_size, directed, 5, positions)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():  # biases away from zero, where mistakes would hide
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model


def require_equal(model, batch, noise, sde, weight):
    model.zero_grad()
    found = add_gradients(model, batch, noise, 7, TIMES[: len(batch.x)], sde, weight)
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    model.zero_grad()
    losses = denoising_losses(model, batch, noise, 7, TIMES[: len(batch.x)], sde)
    assert found == pytest.approx([float(loss.detach().sum()) for loss in losses], rel=1e-5)
    ((losses[0].sum() + losses[1].sum()) * weight).backward()
    for name, parameter in model.named_parameters():
        scale = float(parameter.grad.abs().max())
        close = {"rtol": 1e-4, "atol": 1e-5 * max(scale, 1e-3)}
        torch.testing.assert_close(gradients[name], parameter.grad, msg=name, **close)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("num_features", "hidden_size"), [(1, 4), (5, 12), (16, 32)])
def test_gradients_and_losses_are_those_of_autograd(directed, num_features, hidden_size):
    batch, noise = example(directed, num_features)
    assert {1, 2, 11} <= set(noise.sizes.tolist())
    require_equal(model_of(num_features, hidden_size, directed), batch, noise, VP(), 1 / 30)


def test_with_positions():
    batch, noise = example(positions=3)
    require_equal(model_of(5, 8, False, 3), batch, noise, VP(), 1 / 30)


@pytest.mark.parametrize("sde", SDES)
def test_for_every_sde(sde):
    batch, noise = example()
    require_equal(model_of(5, 8, False), batch, noise, SDES[sde], 1.0)


def test_where_no_node_has_a_neighbour():
    batch, noise = example(num_edges=0)
    require_equal(model_of(5, 8, False), batch, noise, VP(), 1 / 30)


def test_gradients_are_added_to_what_is_there():
    (batch, noise), model = example(), model_of(5, 8, False)
    once = add_gradients(model, batch, noise, 0, TIMES, VP(), 0.5)
    first = [parameter.grad.clone() for parameter in model.parameters()]
    assert add_gradients(model, batch, noise, 0, TIMES, VP(), 0.5) == once
    for parameter, before in zip(model.parameters(), first, strict=True):
        torch.testing.assert_close(parameter.grad, 2 * before)


def test_other_kinds_of_models_are_left_to_autograd():
    assert GraffScoreModel(3, 8).fused_gradients() is None
    assert ScoreModel(3, 8).double().fused_gradients() is None
