"""Trivial scores: what loops and networkx say, on any network."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph
from egoscore.rivals.trivial import TRIVIAL

NAMES = ["random", "degree", "-degree", "norm", "norm-standardised", "ego-norm", "clustering"]


@st.composite
def networks(draw):
    size = draw(st.integers(1, 12))
    ends = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=40))
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return AttributedGraph.from_edges(edges, rng.normal(3, 2, (size, 3)), draw(st.booleans()))


def undirected(graph):
    network = nx.Graph(graph.neighbours.to_scipy())
    assert network.number_of_nodes() == graph.num_nodes
    return network


def score(name, graph, seed=0):
    found = TRIVIAL[name].score(graph, seed)
    assert found.shape == (graph.num_nodes,)
    assert found.dtype == np.float64
    return found


def star(leaves):
    edges = np.stack([np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)])
    return AttributedGraph.from_edges(edges, np.ones((leaves + 1, 2)))


def test_names_come_in_the_order_of_the_table():
    assert list(TRIVIAL) == NAMES
    assert all(trivial.title for trivial in TRIVIAL.values())


@given(networks())
@settings(max_examples=100, deadline=None)
def test_degree_and_clustering_are_those_of_networkx(graph):
    network = undirected(graph)
    degrees = [network.degree(node) for node in range(graph.num_nodes)]
    np.testing.assert_array_equal(score("degree", graph), degrees)
    np.testing.assert_array_equal(score("-degree", graph), np.negative(degrees))
    expected = nx.clustering(network)
    np.testing.assert_allclose(
        score("clustering", graph), [expected[node] for node in range(graph.num_nodes)]
    )


@given(networks())
@settings(max_examples=50, deadline=None)
def test_norms_are_those_of_the_ego_graphs(graph):
    x = graph.features.astype(np.float64)
    np.testing.assert_allclose(score("norm", graph), [np.linalg.norm(row) for row in x])
    spread = x.std(axis=0)
    x = np.divide(x - x.mean(axis=0), spread, out=np.zeros_like(x), where=spread > 0)
    found = score("norm-standardised", graph)
    np.testing.assert_allclose(found, np.linalg.norm(x, axis=1), rtol=1e-5, atol=1e-6)
    network = undirected(graph)
    egos = [x[list(nx.ego_graph(network, node))] for node in range(graph.num_nodes)]
    expected = [np.linalg.norm(ego) / ego.size for ego in egos]
    np.testing.assert_allclose(score("ego-norm", graph), expected, rtol=1e-5, atol=1e-6)


def test_an_edge_counts_in_either_direction():
    graph = AttributedGraph.from_edges([[0, 2, 0], [1, 0, 3]], np.eye(4), directed=True)
    np.testing.assert_array_equal(score("degree", graph), [3, 1, 1, 1])


def test_random_follows_the_seed():
    graph = star(50)
    np.testing.assert_array_equal(score("random", graph, 3), score("random", graph, 3))
    assert (score("random", graph, 3) != score("random", graph, 4)).all()


@pytest.mark.parametrize("name", NAMES)
def test_no_edges_and_constant_features_give_numbers(name):
    graph = AttributedGraph.from_edges(np.empty((2, 0), dtype=np.int64), np.ones((4, 3)))
    assert np.isfinite(score(name, graph)).all()


def test_a_hub_is_not_quadratic():
    """Pairs of a hub's neighbours, 5·10⁹ of them here, are never visited."""
    leaves = 100_000
    hub = np.stack([np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)])
    path = np.stack([np.arange(1, leaves), np.arange(2, leaves + 1)])
    graph = AttributedGraph.from_edges(np.hstack([hub, path]), np.ones((leaves + 1, 1)))
    found = score("clustering", graph)
    np.testing.assert_allclose(found[:3], [2 / leaves, 1, 2 / 3])
