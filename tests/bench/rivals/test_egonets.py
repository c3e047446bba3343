"""OddBall and AMEN: the papers' formulas read literally, and what the methods are meant to find."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import LocalOutlierFactor

from egoscore import AttributedGraph
from egoscore.bench.rivals import egonets
from egoscore.bench.rivals.egonets import amen, count_triangles, oddball


@st.composite
def networks(draw):
    size = draw(st.integers(1, 14))
    ends = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=50))
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    features = rng.normal(size=(size, 10))
    features[:, 1] = 7.0
    features[:, 2:5] = features[:, 2:5] > 0.8  # attributes that few have
    return AttributedGraph.from_edges(edges, features, draw(st.booleans()))


def undirected(graph):
    return nx.Graph(graph.neighbours.to_scipy())


def from_networkx(network, features):
    edges = np.array(network.edges, dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, features)


@given(networks())
@settings(max_examples=100, deadline=None)
def test_triangles_are_those_of_networkx(graph):
    expected = nx.triangles(undirected(graph))
    np.testing.assert_array_equal(
        count_triangles(graph.neighbours), [expected[node] for node in range(graph.num_nodes)]
    )


def oddball_read_literally(network):
    """Nodes with neighbours only: {node: score}."""
    points = {}
    for node in network:
        if network.degree(node) > 0:
            edges = nx.ego_graph(network, node).number_of_edges()
            points[node] = (network.degree(node), edges)
    bins = {}
    for neighbours, edges in points.values():
        bins.setdefault(int(np.log2(neighbours)), []).append((neighbours, edges))
    medians = np.array([np.median(np.log(inside), axis=0) for inside in bins.values()])
    law = np.linalg.pinv(np.vander(medians[:, 0], 2)) @ medians[:, 1]
    distance = {}
    for node, (neighbours, edges) in points.items():
        expected = np.exp(np.polyval(law, np.log(neighbours)))
        ratio = max(edges, expected) / min(edges, expected)
        distance[node] = ratio * np.log(abs(edges - expected) + 1)
    distinct = sorted(set(points.values()))
    factor = dict.fromkeys(distinct, 1.0)
    if len(distinct) > 1:
        lof = LocalOutlierFactor(n_neighbors=min(20, len(distinct) - 1)).fit(distinct)
        factor = dict(zip(distinct, -lof.negative_outlier_factor_, strict=True))
    farthest = max(distance.values())
    # all on the law, up to rounding
    share = (lambda value: value / farthest) if farthest > 1e-9 else (lambda value: 0.0)
    loneliest = max(factor.values())
    return {v: share(distance[v]) + factor[points[v]] / loneliest for v in points}


@given(networks())
@settings(max_examples=60, deadline=None)
def test_oddball_is_the_papers_formula(graph):
    network = undirected(graph)
    expected = oddball_read_literally(network) if network.number_of_edges() else {}
    found = oddball(graph)
    for node in network:
        assert found[node] == pytest.approx(expected.get(node, 0.0), rel=1e-6, abs=1e-6)


def attributes(features):
    columns = []
    for column in features.astype(np.float64).T:
        spread = column.max() - column.min()
        columns.append((column - column.min()) / spread if spread > 0 else 0 * column)
    return np.stack(columns, axis=1)


def normality_read_literally(network, node, x):
    ego = {node, *network[node]}
    boundary = [(i, b) for i in ego for b in network[i] if b not in ego]
    degree, ends = dict(network.degree), 2 * network.number_of_edges()
    entries = []
    for value in x.T:
        if not any(value[i] > 0 for i in ego):
            continue
        internal = sum(
            (network.has_edge(i, j) - degree[i] * degree[j] / ends) * value[i] * value[j]
            for i, j in product(ego, ego)
        )
        external = -sum(
            (1 - min(1, degree[i] * degree[b] / ends)) * value[i] * value[b] for i, b in boundary
        )
        entries.append(internal + external)
    positive = [entry for entry in entries if entry > 0]
    return np.linalg.norm(positive) if positive else max(entries, default=0.0)


@given(networks())
@settings(max_examples=60, deadline=None)
def test_amen_is_the_papers_formula(graph):
    network, x = undirected(graph), attributes(graph.features)
    expected = [normality_read_literally(network, v, x) if network[v] else 0.0 for v in network]
    np.testing.assert_allclose(-amen(graph), expected, rtol=1e-9, atol=1e-9)


def test_oddball_finds_a_planted_clique_and_a_planted_star():
    network = nx.gnm_random_graph(400, 800, seed=0)
    clique, centre = range(12), 399
    network.add_edges_from((i, j) for i in clique for j in clique if i < j)
    # a network of many triangles, so that a star is not what is usual
    for node in range(20, 380, 3):
        network.add_edges_from([(node, node + 1), (node + 1, node + 2), (node, node + 2)])
    network.add_edges_from((centre, node) for node in range(20, 380, 6))
    found = oddball(from_networkx(network, np.ones((400, 1))))
    assert set(np.argsort(-found)[:13]) == {*clique, centre}


def test_amen_ranks_an_incoherent_egonet_high():
    """Ten tight groups with an attribute each; node 0 is tied to one member of each instead."""
    network = nx.planted_partition_graph(10, 10, 0.9, 0.002, seed=0)
    network.remove_edges_from(list(network.edges(0)))
    network.add_edges_from((0, 10 * group + 5) for group in range(10))
    found = amen(from_networkx(network, np.repeat(np.eye(10), 10, axis=0)))
    assert np.argmax(found) == 0


def test_amen_does_not_depend_on_units_or_on_constant_features():
    rng = np.random.default_rng(0)
    network, features = nx.gnm_random_graph(40, 100, seed=0), rng.normal(size=(40, 9))
    wider = np.hstack([5 + 3 * features, np.ones((40, 4))])
    found = amen(from_networkx(network, features))
    np.testing.assert_allclose(amen(from_networkx(network, wider)), found, rtol=1e-4, atol=1e-5)


def test_amen_does_not_depend_on_how_many_columns_go_at_once(monkeypatch):
    x = np.random.default_rng(0).random((40, 9))
    graph = from_networkx(nx.gnm_random_graph(40, 100, seed=0), x)
    at_once = amen(graph)
    monkeypatch.setattr(egonets, "_ENTRIES_AT_ONCE", 100)
    np.testing.assert_allclose(amen(graph), at_once)


@pytest.mark.parametrize("method", [oddball, amen])
@pytest.mark.parametrize(
    "network",
    [
        nx.empty_graph(1),
        nx.empty_graph(5),
        nx.star_graph(30),
        nx.cycle_graph(10),
        nx.complete_graph(6),
        nx.disjoint_union(nx.star_graph(5), nx.empty_graph(3)),
    ],
)
def test_extreme_networks_give_numbers(method, network):
    size = network.number_of_nodes()
    for features in (np.ones((size, 2)), np.arange(2.0 * size).reshape(size, 2)):
        found = method(from_networkx(network, features))
        assert found.shape == (size,)
        assert np.isfinite(found).all()
        assert (found[[v for v in network if network.degree(v) == 0]] == 0).all()


@pytest.mark.parametrize("method", [oddball, amen])
def test_a_hub_is_not_quadratic(method):
    leaves = 100_000
    hub = np.stack([np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)])
    path = np.stack([np.arange(1, leaves), np.arange(2, leaves + 1)])
    x = np.random.default_rng(0).random((leaves + 1, 2))
    assert np.isfinite(method(AttributedGraph.from_edges(np.hstack([hub, path]), x))).all()
