"""Scoring with a stack of models against each of its models alone."""

import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.device import one_thread
from egoscore.diffuse import VP
from egoscore.ego import EgoGraphs
from egoscore.learn import GenerativeModel, ScoreModel
from egoscore.score import ReconstructionConfig, measure, most_models

SEEDS = (4, 9, 2**50)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("solver", ["em", "s4", "dpm"])
def test_components_are_those_of_each_model_alone(directed, solver):
    graph = generate_network(40, 140, 6, seed=2)
    if directed:
        ends = np.random.default_rng(1).integers(0, 40, (2, 200))
        graph = AttributedGraph.from_edges(ends, graph.features, directed=True)
    assert (graph.neighbours.degrees >= 7).any()  # sampled by seed
    config = ReconstructionConfig(3, 2, 20, solver)
    models = [ScoreModel(6, 8, directed, seed) for seed in SEEDS]
    nodes = np.arange(40)[::-1]
    with one_thread():
        egos = EgoGraphs(graph, max_nodes=7, seed=SEEDS)
        together = measure(
            egos, GenerativeModel.side_by_side(models), VP(), config, SEEDS, nodes
        ).apart(3)
        for seed, model, found in zip(SEEDS, models, together, strict=True):
            own = EgoGraphs(graph, max_nodes=7, seed=seed)
            alone = measure(own, model, VP(), config, seed, nodes)
            np.testing.assert_array_equal(found.node, alone.node)
            np.testing.assert_array_equal(found.ego_size, alone.ego_size)
            np.testing.assert_allclose(found.energy, alone.energy, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(found.values, alone.values, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("sizes", "most"),
    [
        (np.full(100, 10), 2**21 // (12 * 100 * 100)),  # all of them are one batch
        (np.full(10_000, 10), 16),  # batches are full
        (np.full(3, 1000), 1),  # an ego-graph that is a batch of its own, and more
    ],
)
def test_memory_allows_as_many_models_as_have_room_for_their_batches(sizes, most):
    assert most_models(sizes, ReconstructionConfig(4, 3, 100, "em")) == most
