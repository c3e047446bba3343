"""A node's place given its degree: against least squares, and where something was planted."""

import networkx as nx
import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from egoscore import AttributedGraph, generate_network
from egoscore.graph.structure import STRUCTURE, structure
from egoscore.surprise.place import Place


def build(theirs, size=None):
    edges = np.array(list(theirs.edges), dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, np.zeros((size or len(theirs), 1)))


def surprise(graph, seed=0):
    found = structure(graph)
    return Place.fit(found, seed).surprise(found)


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
    np.testing.assert_allclose(surprise(graph), expected, rtol=1e-2, atol=1e-4)


def test_a_clique_stands_out_though_its_members_have_as_many_neighbours_as_others():
    network, members = planted()
    assert {network.degree(node) for node in members} == {6}
    found = surprise(build(network))
    others = np.delete(found, members)
    assert found[members].min() > np.quantile(others, 0.99)


def test_a_hub_is_not_strange_for_being_a_hub():
    """In a network that grew by preference, degree alone says little about the rest."""
    network = nx.barabasi_albert_graph(600, 3, seed=1)
    found = surprise(build(network))
    degree = np.array([network.degree(node) for node in range(600)])
    assert abs(np.corrcoef(np.log(degree), np.log(found))[0, 1]) < 0.5


def test_other_numbers_for_the_nodes_move_the_answers_and_nothing_else():
    found = structure(generate_network(300, 700, 2, seed=3))
    order = np.random.default_rng(0).permutation(300)
    before = Place.fit(found, 0).surprise(found)
    after = Place.fit(found[order], 0).surprise(found[order])
    np.testing.assert_allclose(after, before[order], rtol=1e-3, atol=1e-5)


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
def test_any_network_gives_finite_numbers(theirs):
    found = surprise(build(theirs))
    assert found.shape == (len(theirs),)
    assert np.isfinite(found).all()
    assert (found >= 0).all()


@pytest.mark.parametrize("theirs", [nx.empty_graph(9), nx.complete_graph(8), nx.cycle_graph(12)])
def test_where_all_places_are_alike_none_is_strange(theirs):
    np.testing.assert_allclose(surprise(build(theirs)), 0, atol=1e-6)


def test_isolated_nodes_are_not_strange_for_that():
    found = surprise(build(nx.disjoint_union(nx.karate_club_graph(), nx.empty_graph(10))))
    assert found[-10:].max() < np.median(found[:-10])


def test_another_network_is_measured_by_the_first():
    usual, other = (structure(generate_network(300, 900, 2, seed=seed)) for seed in (3, 4))
    place = Place.fit(usual, 0)
    assert np.isfinite(place.surprise(other)).all()
    np.testing.assert_allclose(place.surprise(usual[:9]), place.surprise(usual)[:9], rtol=1e-4)
    clique = structure(build(nx.complete_graph(12)))
    assert place.surprise(clique).min() > np.median(place.surprise(usual))


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
            observed, expected, sizes = place.compared(found[node])
            np.testing.assert_array_equal(observed, others[node])
            np.testing.assert_allclose(expected, curve[node], atol=1e-6)
            np.testing.assert_allclose(sizes, (others - curve)[node] / deviation, atol=1e-6)

    def test_the_sizes_are_those_by_which_nodes_are_judged(self):
        found = structure(generate_network(300, 700, 2, seed=3))
        place = Place.fit(found, 0)
        sizes = np.array([place.compared(one)[2] for one in found], dtype=np.float32)
        np.testing.assert_allclose(place.distance.squared(sizes), place.surprise(found), rtol=1e-4)

    @pytest.mark.parametrize("theirs", [nx.empty_graph(1), nx.path_graph(2), nx.complete_graph(8)])
    def test_where_all_places_are_alike_none_is_off(self, theirs):
        found = structure(build(theirs))
        place = Place.fit(found, 0)
        for one in found:
            np.testing.assert_allclose(place.compared(one)[2], 0, atol=1e-6)
