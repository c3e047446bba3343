"""What is drawn: edges against networkx, shades between the least and the greatest."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph
from egoscore.explain.picture import names_of, pairs_within, shades


@st.composite
def networks(draw):
    size = draw(st.integers(1, 12))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=30))
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = AttributedGraph.from_edges(edges, np.ones((size, 1)), directed=draw(st.booleans()))
    chosen = draw(st.lists(node, min_size=1, max_size=size, unique=True))
    return graph, pairs, chosen


@given(networks())
@settings(max_examples=150, deadline=None)
def test_edges_within_are_those_of_networkxs_subgraph(network):
    graph, pairs, chosen = network
    theirs = nx.Graph([(u, v) for u, v in pairs if u != v])
    theirs.add_nodes_from(range(graph.num_nodes))
    place = {node: number for number, node in enumerate(chosen)}
    expected = {tuple(sorted((place[u], place[v]))) for u, v in theirs.subgraph(chosen).edges}
    found = pairs_within(graph, chosen)
    assert found == sorted(expected)


class TestShades:
    def test_they_run_from_the_least_of_all_to_the_greatest(self):
        before, after = shades(np.array([2.0, 4.0]), np.array([3.0, 10.0]))
        assert before == (0.0, 0.25)
        assert after == (0.125, 1.0)

    def test_where_nothing_differs_all_are_the_same(self):
        assert shades(np.full(3, 7.0), np.full(3, 7.0)) == ((0.0,) * 3, (0.0,) * 3)

    def test_they_are_plain_numbers(self):
        before, after = shades(np.array([1, 2], dtype=np.float32), np.array([0, 4], np.float32))
        assert all(type(value) is float for value in before + after)

    @pytest.mark.parametrize("size", [1, 5])
    def test_there_is_one_for_each_node(self, size):
        values = np.random.default_rng(0).normal(size=(2, size))
        for part in shades(*values):
            assert len(part) == size
            assert min(part) >= 0
            assert max(part) <= 1


def test_names_are_the_users():
    graph = AttributedGraph.from_edges([[0], [1]], np.ones((3, 1)), ids=["x", "y", "z"])
    assert names_of(graph, [2, 0]) == ("z", "x")
