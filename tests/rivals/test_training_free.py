"""Scores from a few formulas: what loops, networkx, scipy and scikit-learn say."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import combine_pvalues, rankdata
from sklearn.covariance import LedoitWolf

from egoscore import AttributedGraph, generate_network
from egoscore.rivals.training_free import TRAINING_FREE, fisher, mahalanobis

NAMES = [
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


def score(name, graph, seed=0):
    found = TRAINING_FREE[name].score(graph, seed)
    assert found.shape == (graph.num_nodes,)
    assert found.dtype == np.float64
    return found


def test_names_come_in_the_order_of_the_table():
    assert list(TRAINING_FREE) == NAMES
    assert len({trivial.title for trivial in TRAINING_FREE.values()}) == len(NAMES)


def test_the_distance_to_the_neighbours_mean(graph):
    found = score("neighbour-distance", graph)
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
    np.testing.assert_allclose(score(name, graph), expected, rtol=0.02, atol=0.02)


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
    for name in NAMES:
        found = score(name, graph, 0)
        np.testing.assert_array_equal(found, score(name, graph, 1))
        assert np.ptp(found) > 0


@pytest.mark.parametrize("name", NAMES)
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
    assert np.isfinite(score(name, graph)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_single_node_gives_a_number(name):
    graph = AttributedGraph.from_edges(np.empty((2, 0), dtype=np.int64), [[1.0, 2.0]])
    assert np.isfinite(score(name, graph)).all()
