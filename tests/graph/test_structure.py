"""A node's structure, compared with networkx and with powers of dense matrices."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph, generate_network
from egoscore.graph.structure import STRUCTURE, structure


@st.composite
def networks(draw, largest=14):
    """(number of nodes, edges, directed) with loops, repeats, isolated nodes and often a hub."""
    size = draw(st.integers(1, largest))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=4 * size))
    if draw(st.booleans()):
        edges += [(draw(node), leaf) for leaf in range(size)]
    if draw(st.booleans()):
        hub = draw(node)
        edges += [(leaf, hub) for leaf in range(size)]
    return size, edges, draw(st.booleans())


def build(size, edges, directed=False):
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(pairs, np.zeros((size, 1)), directed=directed)


def columns(graph):
    found = structure(graph)
    assert found.shape == (graph.num_nodes, len(STRUCTURE))
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    return dict(zip(STRUCTURE, found.T, strict=True))


def by_networkx(graph):
    """The columns that networkx knows."""
    near = nx.from_scipy_sparse_array(graph.neighbours.to_scipy())
    nodes, degree, triangles = range(graph.num_nodes), dict(near.degree), nx.triangles(near)
    clustering, cores = nx.clustering(near), nx.core_number(near)
    shared = [[len(list(nx.common_neighbors(near, v, u))) for u in near[v]] for v in nodes]
    for v in nodes:
        assert sum(shared[v]) == 2 * triangles[v]
    return {
        "log_degree": [np.log(1 + degree[v]) for v in nodes],
        "clustering": [clustering[v] for v in nodes],
        "common_neighbours": [np.log(1 + np.mean(each or [0])) for each in shared],
        "neighbours_degree": [
            np.mean([np.log(1 + degree[u]) for u in near[v]] or [0]) for v in nodes
        ],
        "core": [np.log(1 + cores[v]) for v in nodes],
    }


def by_matrices(graph):
    """The columns about random walks."""
    adj = graph.neighbours.to_scipy().toarray().astype(np.float64)
    walk = adj / np.maximum(adj.sum(axis=1), 1)[:, None]
    return {f"return_{k}": np.diag(np.linalg.matrix_power(walk, k)) for k in (2, 3)}


def check(graph):
    expected = by_networkx(graph) | by_matrices(graph)
    found = columns(graph)
    assert found.keys() == expected.keys()
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-12, atol=1e-15, err_msg=name)


@given(networks())
@settings(deadline=None, max_examples=200)
def test_structure_is_what_networkx_and_matrices_say(network):
    check(build(*network))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("nodes", "edges"), [(300, 300), (300, 1500), (150, 4000)])
def test_larger_networks_too(nodes, edges, directed):
    check(generate_network(nodes, edges, 2, directed=directed, seed=3))


@pytest.mark.parametrize("theirs", [nx.karate_club_graph(), nx.barbell_graph(7, 4)])
def test_networks_with_several_cores(theirs):
    graph = build(len(theirs), list(theirs.edges))
    check(graph)
    assert len(set(columns(graph)["core"])) > 1


@pytest.mark.parametrize("size", [1, 2, 9])
def test_without_edges_everything_is_zero(size):
    assert not structure(build(size, [])).any()


def test_an_isolated_node_is_all_zero_and_changes_nothing():
    edges = [(0, 1), (1, 2), (2, 0), (2, 3)]
    alone = structure(build(4, edges))
    moved = structure(build(6, [(u + 1, v + 1) for u, v in edges]))
    assert not moved[[0, 5]].any()
    np.testing.assert_array_equal(moved[1:5], alone)


@pytest.mark.parametrize("directed", [False, True])
def test_one_edge(directed):
    log_2 = np.log(2)
    expected = [log_2, 0, 0, log_2, 1, 0, log_2]
    np.testing.assert_allclose(structure(build(2, [(1, 0)], directed)), [expected] * 2)


@pytest.mark.parametrize("size", [3, 4, 20])
def test_a_clique(size):
    edges = [(u, v) for u in range(size) for v in range(u)]
    degree, log_size = size - 1, np.log(size)
    back = [1 / degree, (degree - 1) / degree**2]
    expected = [log_size, 1, np.log(size - 1), log_size, *back, log_size]
    np.testing.assert_allclose(structure(build(size, edges)), [expected] * size)


@pytest.mark.parametrize("centre", [0, 3, 1000])
def test_a_star(centre):
    leaves = [v for v in range(1001) if v != centre]
    found = structure(build(1001, [(centre, leaf) for leaf in leaves]))
    many, log_2 = np.log(1001), np.log(2)
    np.testing.assert_allclose(found[centre], [many, 0, 0, log_2, 1, 0, log_2])
    np.testing.assert_allclose(found[leaves], [[log_2, 0, 0, many, 1 / 1000, 0, log_2]] * 1000)


def test_a_triangle_with_a_tail():
    found = columns(build(4, [(0, 1), (1, 2), (2, 0), (2, 3)]))
    np.testing.assert_allclose(found["clustering"], [1, 1, 1 / 3, 0])
    np.testing.assert_allclose(found["common_neighbours"], np.log([2, 2, 1 + 2 / 3, 1]))
    np.testing.assert_allclose(found["return_3"], [1 / 6, 1 / 6, 1 / 6, 0])
    np.testing.assert_allclose(np.exp(found["core"]) - 1, [2, 2, 2, 1])


@given(networks())
@settings(deadline=None, max_examples=50)
def test_edges_count_both_ways(network):
    size, edges, _ = network
    turned = [(v, u) for u, v in edges]
    undirected = structure(build(size, edges))
    np.testing.assert_array_equal(structure(build(size, edges, directed=True)), undirected)
    np.testing.assert_array_equal(structure(build(size, turned, directed=True)), undirected)


@given(networks(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=100)
def test_other_numbers_for_the_nodes_move_the_rows_and_nothing_else(network, random):
    size, edges, directed = network
    renamed = list(range(size))
    random.shuffle(renamed)
    there = structure(build(size, [(renamed[u], renamed[v]) for u, v in edges], directed))
    np.testing.assert_allclose(there[renamed], structure(build(*network)), rtol=1e-12, atol=1e-15)


def test_a_hub_with_very_many_neighbours_costs_no_more_than_its_edges():
    size = 200_000  # by pairs of its neighbours, this would take minutes
    ring = np.arange(1, size)
    edges = np.concatenate([[np.zeros_like(ring), ring], [ring, np.roll(ring, 1)]], axis=1)
    found = columns(AttributedGraph.from_edges(edges, np.zeros((size, 1))))
    assert np.exp(found["common_neighbours"][0]) == pytest.approx(3)
    np.testing.assert_allclose(np.exp(found["core"]) - 1, 3)
    np.testing.assert_allclose(found["clustering"][1:], 2 / 3)
