"""An unusual position: observed values against networkx, expected values against the curve."""

import networkx as nx
import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.detectors.conditional.explain import unusual_position
from egoscore.detectors.conditional.placement import Place
from egoscore.explain.deviations import Ranges
from egoscore.graph.structure import DIRECTION, NAMES, STRUCTURE, describe_structure, structure

SHARED = NAMES["common_neighbours"]
CLUSTERING = NAMES["clustering"]
CORE = NAMES["core"]
BACK = NAMES["return_2"]


def build(theirs):
    edges = np.array(list(theirs.edges), dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, np.zeros((len(theirs), 1)))


def position(graph, node):
    found = structure(graph)
    place = Place.fit(found, 0)
    return unusual_position(place, found[node], Ranges.of(found, place.mean))


@pytest.mark.parametrize("node", [0, 5, 33])
def test_observed_values_are_networkxs(node):
    club = nx.karate_club_graph()
    found = {one.name: one.observed_value for one in position(build(club), node)}
    near = list(club.neighbors(node))
    shared = [len(list(nx.common_neighbors(club, node, other))) for other in near]
    assert found[SHARED] == pytest.approx(np.mean(shared), rel=1e-6)
    assert found[CLUSTERING] == pytest.approx(nx.clustering(club, node), rel=1e-6)
    assert found[CORE] == pytest.approx(nx.core_number(club)[node], rel=1e-6)
    back = sum(1 / club.degree(other) for other in near) / len(near)
    assert found[BACK] == pytest.approx(back, rel=1e-6)


def test_expected_values_are_the_curves_in_the_same_units():
    graph = generate_network(300, 700, 2, seed=3)
    found, place = structure(graph), Place.fit(structure(graph), 0)
    for node in (2, 40):
        _, expected, sizes = place.compare(found[node])
        by_name = dict(zip(STRUCTURE, expected, strict=True))
        answers = {one.name: one for one in position(graph, node)}
        core, clustering = np.exp(by_name["core"]) - 1, max(0.0, by_name["clustering"])
        assert answers[CORE].expected_value == pytest.approx(core, rel=1e-6)
        assert answers[CLUSTERING].expected_value == pytest.approx(clustering, abs=1e-6)
        assert sorted(one.size for one in answers.values()) == sorted(np.round(sizes, 2))


def test_the_largest_deviation_comes_first():
    graph = generate_network(300, 700, 2, seed=3)
    for node in range(0, 300, 50):
        sizes = [abs(one.size) for one in position(graph, node)]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) == len(STRUCTURE)


def test_the_degree_of_a_hub_comes_first():
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(400), (np.arange(400) + 1) % 400])
    others = rng.integers(0, 400, (2, 400))
    spokes = np.stack([np.zeros(300, dtype=np.int64), np.arange(1, 301)])
    graph = AttributedGraph.from_edges(np.hstack([ring, others, spokes]), np.ones((400, 1)))
    found = structure(graph)
    place = Place.fit(found, 0)
    first = unusual_position(place, found[0], Ranges.of(found, place.mean))[0]
    assert first.name == "number of neighbours"
    assert int(first.observed) == graph.neighbours.degrees[0]
    assert first.size > 5


def test_every_column_has_a_name_of_its_own():
    assert list(NAMES) == [*STRUCTURE, *DIRECTION]
    assert len({column.title for column in describe_structure()}) == len(STRUCTURE)


def test_a_clique_among_strangers_has_an_unusual_clustering_coefficient():
    network = nx.random_regular_graph(6, 400, seed=1)
    members = range(0, 350, 50)
    network.remove_edges_from([edge for edge in network.edges if set(edge) & set(members)])
    network.add_edges_from((u, v) for u in members for v in members if u < v)
    for member in members:
        first = position(build(network), member)[0]
        assert first.size > 5
        assert first.name != BACK
        found = {one.name: one for one in position(build(network), member)}
        assert found[CLUSTERING].observed_value == pytest.approx(1.0)
        assert found[SHARED].observed_value == pytest.approx(5.0)


def test_no_negative_value_is_expected():
    graph = generate_network(300, 400, 2, seed=3)
    for node in range(22):
        assert all(one.expected_value >= 0 for one in position(graph, node)[:6])


@pytest.mark.parametrize("theirs", [nx.empty_graph(1), nx.empty_graph(4), nx.path_graph(2)])
def test_in_the_smallest_networks_nothing_is_unusual(theirs):
    assert {one.size for one in position(build(theirs), 0)} == {0.0}
