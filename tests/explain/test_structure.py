"""A node's place in words: what is shown against networkx, what is expected against a curve."""

import networkx as nx
import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.explain.seen import Seen
from egoscore.explain.structure import unusual_place
from egoscore.graph.structure import NAMES, STRUCTURE, describe_structure, structure
from egoscore.surprise.place import Place

SHARED = "neighbours it shares with a neighbour"
TRIANGLES = "share of neighbours joined with each other"
CORE = "core number"
BACK = "dependence of its neighbours on it"


def build(theirs):
    edges = np.array(list(theirs.edges), dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, np.zeros((len(theirs), 1)))


def told(graph, node):
    found = structure(graph)
    place = Place.fit(found, 0)
    return unusual_place(place, found[node], Seen.of(found, place.mean))


@pytest.mark.parametrize("node", [0, 5, 33])
def test_what_is_observed_is_networkxs(node):
    club = nx.karate_club_graph()
    found = {one.name: one.observed for one in told(build(club), node)}
    near = list(club.neighbors(node))
    shared = [len(list(nx.common_neighbors(club, node, other))) for other in near]
    assert found[SHARED] == f"{np.mean(shared):.4g}"
    assert found[TRIANGLES] == f"{nx.clustering(club, node):.4g}"
    assert found[CORE] == f"{nx.core_number(club)[node]:.4g}"
    back = sum(1 / club.degree(other) for other in near) / len(near)
    assert found[BACK] == f"{back:.4g}"


def test_what_is_expected_is_the_curve_in_the_same_units():
    graph = generate_network(300, 700, 2, seed=3)
    found, place = structure(graph), Place.fit(structure(graph), 0)
    for node in (2, 40):
        _, expected, sizes = place.compared(found[node])
        by_name = dict(zip(STRUCTURE, expected, strict=True))
        answers = {one.name: one for one in told(graph, node)}
        core = np.exp(by_name["core"]) - 1
        assert answers[CORE].expected == f"{core:.4g}"
        assert answers[TRIANGLES].expected == f"{max(0, by_name['clustering']):.4g}"
        assert sorted(one.size for one in answers.values()) == sorted(np.round(sizes, 2))


def test_the_furthest_off_comes_first():
    graph = generate_network(300, 700, 2, seed=3)
    for node in range(0, 300, 50):
        sizes = [abs(one.size) for one in told(graph, node)]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) == len(STRUCTURE)


def test_of_a_hub_the_number_of_neighbours_is_told_first():
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(400), (np.arange(400) + 1) % 400])
    others = rng.integers(0, 400, (2, 400))
    spokes = np.stack([np.zeros(300, dtype=np.int64), np.arange(1, 301)])
    graph = AttributedGraph.from_edges(np.hstack([ring, others, spokes]), np.ones((400, 1)))
    found = structure(graph)
    place = Place.fit(found, 0)
    first = unusual_place(place, found[0], Seen.of(found, place.mean))[0]
    assert first.name == "number of neighbours"
    assert int(first.observed) == graph.neighbours.degrees[0]
    assert first.size > 5


def test_every_column_has_a_name_of_its_own():
    assert list(NAMES) == list(STRUCTURE)
    assert len({column.title for column in describe_structure()}) == len(STRUCTURE)


def test_a_clique_among_strangers_is_told_by_its_triangles():
    network = nx.random_regular_graph(6, 400, seed=1)
    members = range(0, 350, 50)
    network.remove_edges_from([edge for edge in network.edges if set(edge) & set(members)])
    network.add_edges_from((u, v) for u in members for v in members if u < v)
    for member in members:
        first = told(build(network), member)[0]
        assert first.size > 5
        assert first.name != BACK
        found = {one.name: one for one in told(build(network), member)}
        assert (found[TRIANGLES].observed, found[SHARED].observed) == ("1", "5")


def test_less_than_nothing_is_expected_nowhere():
    graph = generate_network(300, 400, 2, seed=3)
    for node in range(300):
        assert all(float(one.expected) >= 0 for one in told(graph, node)[:6])
        if node > 20:
            break


@pytest.mark.parametrize("theirs", [nx.empty_graph(1), nx.empty_graph(4), nx.path_graph(2)])
def test_in_the_smallest_networks_nothing_is_unusual(theirs):
    assert {one.size for one in told(build(theirs), 0)} == {0.0}
