"""Strangers and closed cliques, against their definitions written with networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from egoscore import AttributedGraph
from egoscore.graph.cliques import circles


def graph_of(network: networkx.Graph) -> AttributedGraph:
    size = network.number_of_nodes()
    edges = np.array(list(network.edges), dtype=np.int64).reshape(-1, 2).T
    return AttributedGraph.from_edges(edges, np.zeros((size, 1)))


def strangers(network: networkx.Graph, node: int) -> int:
    return sum(
        network.degree(other) > 1 and not set(network[node]) & set(network[other])
        for other in network[node]
    )


def group(network: networkx.Graph, node: int, other: int) -> set[int]:
    """The neighbours of a node that `other`, one of them, can reach among them."""
    return networkx.node_connected_component(network.subgraph(network[node]), other)


def clique(network: networkx.Graph, node: int) -> int:
    shared = []
    for other in network[node]:
        common = len(set(network[node]) & set(network[other]))
        largest = max(len(group(network, node, other)), len(group(network, other, node)))
        if common and common + 1 >= 0.7 * largest:
            shared.append(common + 1)
    shared.sort(reverse=True)
    ranked = enumerate(shared, 1)
    return max((rank for rank, known in ranked if known >= rank >= 0.7 * known), default=0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["random", "clustered", "cliques", "star"])
def test_the_counts_are_those_of_the_definitions(kind, seed):
    if kind == "random":
        network = networkx.gnm_random_graph(60, 150, seed=seed)
    elif kind == "clustered":
        network = networkx.powerlaw_cluster_graph(80, 3, 0.6, seed=seed)
    elif kind == "cliques":
        network = networkx.connected_caveman_graph(5 + seed, 6)
    else:
        network = networkx.star_graph(20 + seed)
    found = circles(graph_of(network))
    nodes = range(network.number_of_nodes())
    assert found.strangers.tolist() == [strangers(network, node) for node in nodes]
    assert found.clique.tolist() == [clique(network, node) for node in nodes]


def test_the_members_of_a_clique_of_unrelated_nodes_know_seven_others():
    network = networkx.gnm_random_graph(400, 1000, seed=1)
    members = [0, 50, 100, 150, 200, 250, 300, 350]
    before = circles(graph_of(network)).clique
    network.add_edges_from((a, b) for a in members for b in members if a < b)
    found = circles(graph_of(network)).clique
    assert found[members].min() == 7
    assert before.max() < 7


def test_a_graph_without_edges_has_neither():
    found = circles(AttributedGraph.from_edges(np.zeros((2, 0), dtype=int), np.zeros((5, 1))))
    assert not found.strangers.any()
    assert not found.clique.any()
