"""Averages over neighbours, compared with dense matrices of random walks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional.neighbours import Neighbours

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


@st.composite
def networks(draw, largest=12):
    """Small networks, with isolated nodes, loops and repeats, directed or not."""
    size = draw(st.integers(1, largest))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=3 * size))
    return build(size, edges, draw(st.booleans()))


def build(size, edges, directed=False):
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(pairs, np.zeros((size, 1)), directed=directed)


def values_of(graph, width=3, seed=0):
    return np.random.default_rng(seed).normal(size=(graph.num_nodes, width)).astype(np.float32)


def walks(graph):
    """Where one step leads, (N, N), and two steps that do not end where they began."""
    adj = np.zeros((graph.num_nodes, graph.num_nodes))
    rows = np.repeat(np.arange(graph.num_nodes), graph.adjacency.degrees)
    adj[rows, graph.adjacency.indices] = 1
    adj = np.maximum(adj, adj.T)
    one = adj / np.maximum(adj.sum(axis=1, keepdims=True), 1)
    two = one @ one
    np.fill_diagonal(two, 0)
    total = two.sum(axis=1, keepdims=True)
    return one, np.divide(two, total, out=np.zeros_like(two), where=total > 1e-9)


def check(graph):
    near, values = Neighbours.of(graph), values_of(graph)
    one, two = walks(graph)
    np.testing.assert_allclose(near.mean(values), one @ values, **CLOSE)
    np.testing.assert_allclose(near.mean_two_steps(values), two @ values, **CLOSE)
    np.testing.assert_allclose(near.back, np.diag(one @ one), **CLOSE)
    np.testing.assert_array_equal(near.degree, np.count_nonzero(one, axis=1))
    np.testing.assert_array_equal(near.has_one_step, one.any(axis=1))
    np.testing.assert_array_equal(near.has_two_steps, two.any(axis=1))


@given(networks())
@settings(deadline=None, max_examples=200)
def test_means_are_those_of_random_walks(graph):
    check(graph)


@pytest.mark.parametrize("directed", [False, True])
def test_on_a_larger_network_too(directed):
    check(generate_network(300, 900, 2, directed=directed, seed=5))


def test_without_neighbours_means_are_zero():
    near = Neighbours.of(build(4, [(1, 2), (2, 3)]))
    values = np.ones((4, 2), dtype=np.float32)
    assert near.has_one_step.tolist() == [False, True, True, True]
    assert near.mean(values).tolist() == [[0, 0], [1, 1], [1, 1], [1, 1]]
    assert near.mean_two_steps(values)[0].tolist() == [0, 0]


def test_two_who_know_only_each_other_have_nobody_two_steps_away():
    near = Neighbours.of(build(5, [(0, 1), (2, 3), (3, 4)]))
    assert near.has_two_steps.tolist() == [False, False, True, False, True]
    values = np.arange(5, dtype=np.float32)[:, None] + 1
    assert near.mean(values)[:, 0].tolist() == [2, 1, 4, 4, 4]
    assert near.mean_two_steps(values)[:, 0].tolist() == [0, 0, 5, 0, 3]


def test_a_hub_whose_way_leads_nearly_always_back_gives_finite_means():
    leaves = 3000
    edges = [(0, leaf) for leaf in range(1, leaves + 1)] + [(leaves, leaves + 1)]
    near = Neighbours.of(build(leaves + 2, edges))
    values = np.zeros((leaves + 2, 1), dtype=np.float32)
    values[-1] = 1
    assert near.has_two_steps[0]
    assert near.mean_two_steps(values)[0] == pytest.approx(1, abs=1e-2)


def test_values_are_left_as_they_are():
    graph = generate_network(30, 60, 2)
    near, values = Neighbours.of(graph), values_of(graph)
    before = values.copy()
    near.mean(values)
    near.mean_two_steps(values)
    np.testing.assert_array_equal(values, before)
    assert near.mean(values).dtype == near.mean_two_steps(values).dtype == np.float32
