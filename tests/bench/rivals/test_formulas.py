"""Scores from formulas, on graphs small enough to check by hand."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import combine_pvalues, rankdata
from sklearn.covariance import LedoitWolf

from egoscore import AttributedGraph, generate_network
from egoscore.bench.rivals.formulas import TRAINING_FREE, TRIVIAL, fisher, mahalanobis

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


FREE_NAMES = [
    "neighbour-distance",
    "clustering-dirichlet",
    "gaussian",
    "centre-dirichlet",
    "centre-dirichlet-4",
    "linear",
]


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def graph(request):
    return generate_network(150, 450, 5, directed=request.param, seed=4)


class Plain:
    """The same quantities, node by node."""

    def __init__(self, graph):
        x = graph.features.astype(np.float64)
        self.x = (x - x.mean(axis=0)) / x.std(axis=0)
        self.near = nx.Graph(graph.neighbours.to_scipy())
        self.nodes = range(graph.num_nodes)

    def over(self, quantity):
        return np.array([quantity(node, list(self.near[node])) for node in self.nodes])

    def distance(self):
        x = self.x
        return self.over(lambda v, near: np.linalg.norm(x[v] - x[near].mean(0)) if near else 0.0)

    def dirichlet(self):
        x = self.x
        return self.over(lambda v, near: np.mean([((x[v] - x[u]) ** 2).sum() for u in near] or [0]))

    def ego_squares(self):
        return self.over(lambda v, near: (self.x[[v, *near]] ** 2).sum(axis=1).mean())

    def squares(self):
        return (self.x**2).sum(axis=1)

    def clustering(self):
        found = nx.clustering(self.near)
        return self.over(lambda v, near: found[v])

    def around(self):
        return self.over(lambda v, near: self.x[near].mean(axis=0) if near else 0 * self.x[0])

    def place(self):
        adj = nx.to_numpy_array(self.near, nodelist=self.nodes)
        degree = adj.sum(axis=1)
        walk = adj / np.maximum(degree, 1)[:, None]
        back = [np.diag(np.linalg.matrix_power(walk, steps)) for steps in (2, 3)]
        columns = [np.log1p(degree), self.clustering(), walk @ np.log1p(degree), *back]
        place = np.column_stack(columns)
        return (place - place.mean(axis=0)) / place.std(axis=0)

    def strange_place(self):
        return LedoitWolf().fit(self.place()).mahalanobis(self.place())

    def unexplained(self):
        known = np.column_stack([self.around(), self.place(), np.ones(len(self.x))])
        width = known.shape[1]
        penalty = np.sqrt(0.01 * len(known)) * np.eye(width)  # ridge as rows that ask for zero
        rows = np.vstack([known, penalty])
        asked = np.vstack([self.x, np.zeros((width, self.x.shape[1]))])
        rest = self.x - known @ np.linalg.lstsq(rows, asked, rcond=None)[0]
        return LedoitWolf().fit(rest).mahalanobis(rest)


def by_scipy(*quantities):
    """Fisher's statistic over two, from shares of nodes that have as much or more."""
    shares = [
        (len(values) - rankdata(values.round(5)) + 0.5) / len(values) for values in quantities
    ]
    return [combine_pvalues(of_node).statistic / 2 for of_node in zip(*shares, strict=True)]


def free_score(name, graph, seed=0):
    found = TRAINING_FREE[name].score(graph, seed)
    assert found.shape == (graph.num_nodes,)
    assert found.dtype == np.float64
    return found


def test_training_free_names_come_in_the_order_of_the_table():
    assert list(TRAINING_FREE) == FREE_NAMES
    assert len({trivial.title for trivial in TRAINING_FREE.values()}) == len(FREE_NAMES)


def test_the_distance_to_the_neighbours_mean(graph):
    found = free_score("neighbour-distance", graph)
    np.testing.assert_allclose(found, Plain(graph).distance(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("clustering-dirichlet", ("clustering", "dirichlet")),
        ("gaussian", ("ego_squares", "strange_place")),
        ("centre-dirichlet", ("dirichlet", "strange_place")),
        ("centre-dirichlet-4", ("dirichlet", "strange_place", "squares", "clustering")),
        ("linear", ("unexplained", "strange_place")),
    ],
)
def test_the_others_are_fishers_sum_over_quantities(graph, name, parts):
    plain = Plain(graph)
    expected = by_scipy(*(getattr(plain, part)() for part in parts))
    np.testing.assert_allclose(free_score(name, graph), expected, rtol=0.02, atol=0.02)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_fisher_is_scipys(pairs):
    first, second = np.array(pairs, dtype=np.float64).T
    expected = [
        combine_pvalues([(np.sum(a > v) + np.sum(a == v) / 2) / len(a) for a, v in of_node])
        for of_node in (((first, u), (second, v)) for u, v in pairs)
    ]
    found = fisher(first, second)
    np.testing.assert_allclose(2 * found, [answer.statistic for answer in expected], atol=1e-9)


def test_distances_are_scikit_learns():
    rows = np.random.default_rng(0).normal(size=(60, 4)) @ np.diag([1, 2, 3, 9]) + 5
    expected = LedoitWolf().fit(rows).mahalanobis(rows)
    np.testing.assert_allclose(mahalanobis(rows), expected)
    assert mahalanobis(np.empty((7, 0))).tolist() == [0] * 7


def test_nothing_depends_on_the_seed_or_on_labels(graph):
    for name in FREE_NAMES:
        found = free_score(name, graph, 0)
        np.testing.assert_array_equal(found, free_score(name, graph, 1))
        assert np.ptp(found) > 0


@pytest.mark.parametrize("name", FREE_NAMES)
@pytest.mark.parametrize(
    ("edges", "features"),
    [
        (np.empty((2, 0), dtype=np.int64), np.ones((4, 3))),
        (np.empty((2, 0), dtype=np.int64), np.eye(4)),
        ([[0], [1]], np.ones((2, 1))),
        ([[0], [1]], [[1.0], [2.0]]),
        ([[0, 1, 2], [1, 2, 0]], np.eye(3)),
        ([[0, 0, 0], [1, 2, 3]], np.ones((5, 2))),
    ],
    ids=["nothing", "no edges", "two equal", "two", "a triangle", "a star and one alone"],
)
def test_small_and_flat_networks_give_numbers(name, edges, features):
    graph = AttributedGraph.from_edges(edges, features)
    assert np.isfinite(free_score(name, graph)).all()


@pytest.mark.parametrize("name", FREE_NAMES)
def test_a_single_node_gives_a_number(name):
    graph = AttributedGraph.from_edges(np.empty((2, 0), dtype=np.int64), [[1.0, 2.0]])
    assert np.isfinite(free_score(name, graph)).all()
