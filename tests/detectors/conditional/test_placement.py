"""A node's place: against least squares and scikit-learn, and where something was planted."""

import networkx as nx
import numpy as np
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.metrics import roc_auc_score

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional.placement import Place
from egoscore.graph.structure import STRUCTURE, structure


def build(theirs, size=None):
    edges = np.array(list(theirs.edges), dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, np.zeros((size or len(theirs), 1)))


MEASURES = {
    "structure_given_degree": Place.distance_given_degree,
    "structure": Place.distance,
    "clustering": lambda place, found: place.clustering(found),
}


def measured(graph, name="structure_given_degree"):
    found = structure(graph)
    return MEASURES[name](Place.fit(found, 0), found)


def planted(size=400, degree=6):
    """A random network where everybody has as many neighbours, seven of whom are a clique."""
    network = nx.random_regular_graph(degree, size, seed=1)
    members = range(0, size, size // (degree + 1))[: degree + 1]
    network.remove_edges_from([edge for edge in network.edges if set(edge) & set(members)])
    network.add_edges_from((u, v) for u in members for v in members if u < v)
    return network, list(members)


def test_it_is_the_distance_from_a_curve_by_least_squares():
    graph = generate_network(300, 500, 2, seed=3)
    found = structure(graph)
    degree = graph.neighbours.degrees
    log_degree = np.log(1 + degree)
    few = [degree == count for count in (0, 1, 2)]
    known = np.column_stack([np.ones(300), log_degree, log_degree**2, *few])
    others = np.delete(found, STRUCTURE.index("log_degree"), axis=1)
    left = others - known @ np.linalg.lstsq(known, others, rcond=1e-8)[0]
    left /= left.std(axis=0)
    oracle = LedoitWolf(assume_centered=True).fit(left)
    expected = oracle.mahalanobis(left) / left.shape[1]
    np.testing.assert_allclose(measured(graph), expected, rtol=1e-2, atol=1e-4)


def test_overall_it_is_the_distance_from_the_mean():
    graph = generate_network(300, 500, 2, seed=3)
    found = structure(graph)
    usual = (found - found.mean(axis=0)) / found.std(axis=0)
    expected = LedoitWolf(assume_centered=True).fit(usual).mahalanobis(usual) / usual.shape[1]
    np.testing.assert_allclose(measured(graph, "structure"), expected, rtol=1e-2, atol=1e-4)


def test_clustering_is_that_of_networkx():
    theirs = nx.karate_club_graph()
    expected = [nx.clustering(theirs, node) for node in range(len(theirs))]
    np.testing.assert_allclose(measured(build(theirs), "clustering"), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["structure_given_degree", "structure"])
def test_a_clique_stands_out_though_its_members_have_as_many_neighbours_as_others(name):
    network, members = planted()
    assert {network.degree(node) for node in members} == {6}
    found = measured(build(network), name)
    others = np.delete(found, members)
    assert found[members].min() > np.quantile(others, 0.99)


def test_many_large_cliques_are_told_by_what_is_usual_where_their_degree_explains_them():
    """A tenth of all nodes are in cliques, and nobody else has as many neighbours."""
    network = nx.gnm_random_graph(1000, 2500, seed=1)
    members = np.arange(100).reshape(5, 20)
    network.add_edges_from((u, v) for clique in members for u in clique for v in clique if u < v)
    graph = build(network)
    labels = np.arange(1000) < 100

    def accuracy(name):
        return roc_auc_score(labels, measured(graph, name))

    assert accuracy("structure_given_degree") < 0.8
    assert accuracy("structure") > 0.9
    assert accuracy("clustering") > 0.99


def test_a_hub_is_not_strange_given_that_it_is_a_hub_but_overall():
    """In a network that grew by preference, degree alone says little about the rest."""
    network = nx.barabasi_albert_graph(600, 3, seed=1)
    found = measured(build(network))
    degree = np.array([network.degree(node) for node in range(600)])
    assert abs(np.corrcoef(np.log(degree), np.log(found))[0, 1]) < 0.5
    hub = degree.argmax()
    given_degree, overall = found, measured(build(network), "structure")
    assert (overall > overall[hub]).mean() < 0.01 < (given_degree > given_degree[hub]).mean()


def test_other_numbers_for_the_nodes_move_the_answers_and_nothing_else():
    found = structure(generate_network(300, 700, 2, seed=3))
    order = np.random.default_rng(0).permutation(300)
    before, after = Place.fit(found, 0), Place.fit(found[order], 0)
    for measure in MEASURES.values():
        moved, expected = measure(after, found[order]), measure(before, found)[order]
        np.testing.assert_allclose(moved, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    "theirs",
    [
        nx.empty_graph(1),
        nx.empty_graph(9),
        nx.path_graph(2),
        nx.complete_graph(8),
        nx.star_graph(20),
        nx.disjoint_union_all([nx.path_graph(2)] * 5),
        nx.disjoint_union(nx.karate_club_graph(), nx.empty_graph(3)),
    ],
    ids=lambda network: f"{len(network)} nodes, {network.number_of_edges()} edges",
)
@pytest.mark.parametrize("name", MEASURES)
def test_any_network_gives_finite_numbers(theirs, name):
    found = measured(build(theirs), name)
    assert found.shape == (len(theirs),)
    assert np.isfinite(found).all()
    assert (found >= 0).all()


@pytest.mark.parametrize("name", ["structure_given_degree", "structure"])
@pytest.mark.parametrize("theirs", [nx.empty_graph(9), nx.complete_graph(8), nx.cycle_graph(12)])
def test_where_all_places_are_alike_none_is_strange(theirs, name):
    np.testing.assert_allclose(measured(build(theirs), name), 0, atol=1e-6)


def test_isolated_nodes_are_not_strange_for_that():
    found = measured(build(nx.disjoint_union(nx.karate_club_graph(), nx.empty_graph(10))))
    assert found[-10:].max() < np.median(found[:-10])


def test_another_network_is_measured_by_the_first():
    usual, other = (structure(generate_network(300, 900, 2, seed=seed)) for seed in (3, 4))
    place = Place.fit(usual, 0)
    clique = structure(build(nx.complete_graph(12)))
    for measure in MEASURES.values():
        found = measure(place, usual)
        assert np.isfinite(measure(place, other)).all()
        np.testing.assert_allclose(measure(place, usual[:9]), found[:9], rtol=1e-4)
        assert measure(place, clique).min() > np.median(found)


class TestCompared:
    def test_what_is_and_what_is_expected_are_those_of_least_squares(self):
        graph = generate_network(300, 500, 2, seed=3)
        found = structure(graph)
        degree = graph.neighbours.degrees
        log_degree = np.log(1 + degree)
        few = [degree == count for count in (0, 1, 2)]
        known = np.column_stack([np.ones(300), log_degree, log_degree**2, *few])
        others = np.delete(found, STRUCTURE.index("log_degree"), axis=1)
        curve = known @ np.linalg.lstsq(known, others, rcond=1e-8)[0]
        deviation = (others - curve).std(axis=0)
        place = Place.fit(found, 0)
        for node in (0, 17, int(degree.argmax())):
            observed, expected, sizes = place.compare(found[node])
            np.testing.assert_array_equal(observed, found[node])
            np.testing.assert_allclose(expected[1:], curve[node], atol=1e-6)
            np.testing.assert_allclose(sizes[1:], (others - curve)[node] / deviation, atol=1e-6)
            assert STRUCTURE[0] == "log_degree"
            assert expected[0] == pytest.approx(log_degree.mean())
            assert sizes[0] == pytest.approx(
                (log_degree[node] - log_degree.mean()) / log_degree.std()
            )

    def test_the_sizes_are_those_by_which_nodes_are_judged(self):
        found = structure(generate_network(300, 700, 2, seed=3))
        place = Place.fit(found, 0)
        sizes = np.array([place.compare(one)[2] for one in found], dtype=np.float32)
        judged = place.given_degree.squared(sizes[:, 1:])
        given_degree = place.distance_given_degree(found)
        np.testing.assert_allclose(judged, given_degree, rtol=1e-4)

    @pytest.mark.parametrize("theirs", [nx.empty_graph(1), nx.path_graph(2), nx.complete_graph(8)])
    def test_where_all_places_are_alike_none_is_off(self, theirs):
        found = structure(build(theirs))
        place = Place.fit(found, 0)
        for one in found:
            np.testing.assert_allclose(place.compare(one)[2], 0, atol=1e-6)
