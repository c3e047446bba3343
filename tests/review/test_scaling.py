"""Inputs: ranks, their squares and neighbour means, the same for every graph."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import percentileofscore, rankdata

from egoscore import AttributedGraph
from egoscore.detectors.inputs import graph_blocks
from egoscore.graph.structure import STRUCTURE
from egoscore.review.ranks import mid_ranks
from egoscore.review.scaling import InputScale


def graph_of(features, seed=0):
    draw = np.random.default_rng(seed)
    edges = draw.integers(0, len(features), size=(2, 3 * len(features)))
    return AttributedGraph.from_edges(edges, features)


@pytest.fixture
def graph():
    draw = np.random.default_rng(3)
    kinds = draw.normal(size=300), draw.integers(0, 3, size=300), np.ones(300)
    return graph_of(np.column_stack(kinds).astype(np.float32))


def test_ranks_share_ties_and_have_unit_deviation(graph):
    blocks = graph_blocks(graph)
    inputs = InputScale.fit(blocks, graph)
    scale = inputs.scale
    for column in (0, 1):
        ranks = rankdata(graph.features[:, column])
        expected = (ranks - ranks.mean()) / ranks.std()
        np.testing.assert_allclose(inputs.ranks[:, column], expected, atol=0.02)
    assert scale.names[:2] == graph.titles[:2] or scale.names[:2] == graph.feature_names[:2]


def test_the_training_graph_scored_again_has_the_same_inputs(graph):
    blocks = graph_blocks(graph)
    inputs = InputScale.fit(blocks, graph)
    again = inputs.scale.apply(blocks, graph)
    assert (inputs.ranks == again.ranks).all()
    assert (inputs.around == again.around).all()


def test_a_constant_column_is_left_out(graph):
    scale = InputScale.fit(graph_blocks(graph), graph).scale
    assert scale.blocks["features"].kept.tolist() == [0, 1]
    assert len(scale.names) <= 2 + len(STRUCTURE)


def test_products_are_those_of_the_rows(graph):
    blocks = graph_blocks(graph)
    inputs = InputScale.fit(blocks, graph)
    rows = inputs.rows(np.arange(graph.num_nodes))
    weights = np.random.default_rng(0).normal(size=rows.shape[1])
    np.testing.assert_allclose(inputs.dot(weights), rows @ weights, atol=1e-5)
    np.testing.assert_allclose(inputs.rows(np.array([7, 2])), rows[[7, 2]])


def test_blocks_have_equal_weight(graph):
    blocks = graph_blocks(graph)
    scale = InputScale.fit(blocks, graph).scale
    first = len(scale.blocks["features"].kept)
    np.testing.assert_allclose([(scale.weight[:first] ** 2).sum()], 1.0, rtol=1e-6)
    np.testing.assert_allclose([(scale.weight[first:] ** 2).sum()], 1.0, rtol=1e-6)


def test_a_monotone_change_of_a_feature_changes_nothing(graph):
    blocks = graph_blocks(graph)
    other = replace(graph, features=np.exp(graph.features))
    one = InputScale.fit(blocks, graph)
    two = InputScale.fit(graph_blocks(other), other)
    np.testing.assert_allclose(one.ranks, two.ranks, atol=1e-6)


def test_values_of_a_new_graph_beyond_the_old_ones_count_as_the_highest(graph):
    blocks = graph_blocks(graph)
    scale = InputScale.fit(blocks, graph).scale
    features = graph.features[:20] + np.float32([100.0, 0.0, 0.0])
    new = graph_of(features, seed=1)
    inputs = scale.apply(graph_blocks(new), new)
    assert (inputs.ranks[:, 0] == inputs.ranks[:, 0].max()).all()
    assert inputs.ranks[0, 0] >= scale.apply(blocks, graph).ranks[:, 0].max()


def test_of_many_columns_those_with_the_most_values_are_used():
    draw = np.random.default_rng(0)
    rare = (draw.random((200, 100)) < 0.02).astype(np.float32)
    graph = graph_of(np.hstack([rare, draw.normal(size=(200, 10)).astype(np.float32)]))
    kept = InputScale.fit(graph_blocks(graph), graph).scale.blocks["features"].kept
    assert len(kept) == 64
    assert set(range(100, 110)) <= set(kept.tolist())


def test_a_graph_without_edges_has_inputs():
    features = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    graph = AttributedGraph.from_edges(np.zeros((2, 0), dtype=int), features)
    blocks = graph_blocks(graph)
    inputs = InputScale.fit(blocks, graph)
    assert inputs.ranks.shape == (30, 2)
    assert not inputs.around.any()


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_ranks_are_those_of_scipy(size):
    draw = np.random.default_rng(size)
    grid = np.sort(draw.integers(0, 9, size)).astype(np.float32)
    values = draw.integers(-2, 12, 50).astype(np.float32)
    found = mid_ranks(grid, np.float32(1e-6), values)
    expected = [percentileofscore(grid, value, kind="mean") / 100 for value in values]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    nearly = mid_ranks(grid, np.float32(1e-3), values + np.float32(1e-4))
    np.testing.assert_allclose(nearly, expected, rtol=1e-6)
