"""Nodes that alone join groups, compared with what networkx finds when it removes each."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from egoscore import AttributedGraph
from egoscore.graph.bridges import joined_groups


def of(graph: nx.Graph) -> list[int]:
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2).T
    features = np.zeros((len(graph), 1))
    return joined_groups(AttributedGraph.from_edges(edges, features).neighbours).tolist()


def second_largest_parts(graph: nx.Graph) -> list[int]:
    found = []
    for node in range(len(graph)):
        component = nx.node_connected_component(graph, node)
        parts = nx.connected_components(graph.subgraph(component - {node}))
        found.append(sorted([0, 0, *map(len, parts)])[-2])
    return found


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed):
    graph = nx.gnm_random_graph(40, 20 + 4 * seed, seed=seed)
    assert of(graph) == second_largest_parts(graph)


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(9),
        nx.star_graph(6),
        nx.cycle_graph(5),
        nx.barbell_graph(5, 1),
        nx.random_labeled_tree(50, seed=3),
        nx.disjoint_union(nx.path_graph(4), nx.empty_graph(2)),
    ],
)
def test_graphs_with_known_answers(graph):
    assert of(graph) == second_largest_parts(graph)


def test_a_long_path_needs_no_recursion():
    size = 100_000
    found = np.array(of(nx.path_graph(size)))
    nodes = np.arange(size)
    np.testing.assert_array_equal(found, np.minimum(nodes, size - 1 - nodes))
