"""What is drawn of a large neighbourhood."""

import networkx
import numpy as np
import pytest

from egoscore import AttributedGraph
from egoscore.serve.neighbourhood import MOST_FAR, MOST_NEAR, neighbourhood, places

LEAVES = 100_000


@pytest.fixture(scope="module")
def star():
    """A hub with many neighbours, each of which has a neighbour of its own."""
    near = np.arange(1, LEAVES + 1)
    ends = np.concatenate([[np.zeros(LEAVES, int), near], [near, near + LEAVES]], axis=1)
    return AttributedGraph.from_edges(ends, np.zeros((2 * LEAVES + 1, 1), np.float32))


def test_of_a_hub_the_neighbours_with_the_highest_scores_are_drawn(star):
    score = np.random.default_rng(0).random(star.num_nodes)
    found = neighbourhood(star, 0, score)
    best = 1 + np.argsort(-score[1 : LEAVES + 1])[:MOST_NEAR]
    assert found.rows == (0, *best.tolist())
    assert found.left_out == LEAVES - MOST_NEAR
    assert len(found.edges) == MOST_NEAR


def test_two_hops_of_a_hub(star):
    score = np.random.default_rng(0).random(star.num_nodes)
    found = neighbourhood(star, 0, score, hops=2)
    assert len(found.rows) == 1 + 2 * MOST_NEAR  # each of the neighbours drawn has one more
    assert found.hops.count(2) == MOST_NEAR <= MOST_FAR
    drawn = networkx.Graph([(found.rows[a], found.rows[b]) for a, b in found.edges])
    distance = networkx.single_source_shortest_path_length(drawn, 0)
    assert [distance[row] for row in found.rows] == list(found.hops)


def test_an_isolated_node():
    graph = AttributedGraph.from_edges(np.array([[0], [1]]), np.zeros((3, 1), np.float32))
    found = neighbourhood(graph, 2, np.zeros(3), hops=2)
    assert (found.rows, found.edges, found.left_out) == ((2,), (), 0)
    assert places(found.hops, found.edges).shape == (1, 2)


@pytest.mark.parametrize("hops", [1, 2])
def test_no_two_nodes_have_the_same_place(star, hops):
    found = neighbourhood(star, 0, np.zeros(star.num_nodes), hops)
    at = places(found.hops, found.edges)
    assert len({tuple(one) for one in at.tolist()}) == len(found.rows)
