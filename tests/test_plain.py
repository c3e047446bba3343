"""What is fast gives what is plain: reconstructions, losses and gradients, sizes 1 to M."""

import copy
import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import plain
import pytest
import torch

from egoscore import AttributedGraph
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.detectors.paper.sde import VP
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.detectors.paper.solve import SOLVERS
from egoscore.detectors.paper.steps import levels, num_steps
from egoscore.detectors.paper.train import TrainingState, _accumulate_gradients, _times

SEED, LARGEST, HIDDEN, NUM_FEATURES = 3, 9, 8, 5


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def example(request):
    """Ego-graphs of every size from 1 to M, some of them cut down to M."""
    kind = nx.DiGraph if request.param else nx.Graph
    source = nx.gnp_random_graph(24, 0.3, seed=1, directed=request.param)
    for size in range(1, LARGEST + 1):
        star = nx.star_graph(size - 1, create_using=kind)
        source = nx.disjoint_union(source, star)
    features = np.random.default_rng(2).normal(size=(len(source), NUM_FEATURES))
    edges = np.array(source.edges).T
    graph = AttributedGraph.from_edges(edges, features, request.param)
    egos = EgoGraphs(graph, max_nodes=LARGEST, seed=SEED)
    assert set(egos.sizes) == set(range(1, LARGEST + 1))
    model = ScoreModel(NUM_FEATURES, HIDDEN, request.param, seed=4)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():  # biases away from zero, where mistakes would hide
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return egos, model


def close(found, expected, to=1e-5):
    """To 1e-5, relative to the size of the numbers."""
    torch.testing.assert_close(found, expected, rtol=to, atol=to * float(expected.abs().max()))


# float32 is what the compiled kernels compute with; in float64 the plain networks take their place,
# which leaves the solvers to be compared.
PRECISIONS = list(itertools.product(SOLVERS, (torch.float32, torch.float64)))


def tolerance(solver, dtype, size):
    """A Langevin step is divided by the squared norm of a gradient.

    Of a graph with one to three pairs that can be next to nothing, and the step then multiplies
    rounding errors.
    """
    few_pairs = SOLVERS[solver].corrects and size in (2, 3)
    return 1e-3 if few_pairs and dtype == torch.float32 else 1e-5


@pytest.mark.parametrize(("solver", "dtype"), PRECISIONS)
def test_reconstructions_of_every_size(example, solver, dtype):
    egos, model = example
    model = copy.deepcopy(model).to(dtype)
    config = PaperSettings(num_levels=2, num_samples=2, steps=12, solver=solver)
    centres, weights = np.arange(len(egos)), dict(model.named_parameters())
    with torch.inference_mode():
        fast = Reconstruction(egos, model, config, SEED)
        restored = {}
        for size in range(1, LARGEST + 1):
            batch = egos.batch(centres[egos.sizes == size])
            batch = replace(batch, x=batch.x.to(dtype), adj=batch.adj.to(dtype))
            restored[size] = fast.restore(batch, range(2))
        for level, sample in itertools.product(range(2), range(2)):
            tau = levels(2)[level]
            steps = num_steps(tau, 12)
            x, adj = plain.reconstruct(
                weights, egos, centres, SEED, tau, level, sample, steps, solver, dtype
            )
            for size, (fast_x, fast_adj) in restored.items():
                same, to = egos.sizes == size, tolerance(solver, dtype, size)
                close(fast_x[level, sample], x[same, :size], to)
                close(fast_adj[level, sample], adj[same, :size, :size], to)


@pytest.mark.parametrize(("solver", "dtype"), PRECISIONS)
def test_reconstructions_of_mixed_sizes(example, solver, dtype):
    egos, model = example
    model = copy.deepcopy(model).to(dtype)
    config = PaperSettings(num_levels=2, num_samples=1, steps=6, solver=solver)
    centres, weights = np.arange(len(egos)), dict(model.named_parameters())
    with torch.inference_mode():
        batch = egos.batch(centres)
        batch = replace(batch, x=batch.x.to(dtype), adj=batch.adj.to(dtype))
        x, adj = Reconstruction(egos, model, config, SEED).restore(batch, range(1))
        for level, tau in enumerate(levels(2)):
            steps = num_steps(tau, 6)
            expected = plain.reconstruct(
                weights, egos, centres, SEED, tau, level, 0, steps, solver, dtype
            )
            for found, wanted in zip((x[level, 0], adj[level, 0]), expected, strict=True):
                for size in range(1, LARGEST + 1):
                    same = egos.sizes == size
                    close(found[same], wanted[same], tolerance(solver, dtype, size))
            assert not x[level, 0][batch.mask == 0].any()


def test_losses_and_gradients_of_a_batch(example):
    egos, model = example
    centres = np.arange(len(egos))
    state = TrainingState(model, lr=0.01, weight_decay=0.0)
    found = _accumulate_gradients(state, egos, centres, VP(), SEED)
    gradients = {name: p.grad.clone() for name, p in model.named_parameters()}
    state.zero_gradients()
    times = _times(SEED, 0, centres)
    losses = plain.losses(dict(model.named_parameters()), egos, centres, SEED, 0, times)
    for mean, each in zip(found, losses, strict=True):
        assert mean == pytest.approx(float(each.detach().mean()), rel=1e-5)
    (losses[0] + losses[1]).mean().backward()
    for name, parameter in model.named_parameters():
        close(gradients[name], parameter.grad)
    state.zero_gradients()
