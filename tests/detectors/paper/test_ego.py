"""Ego-graphs in batches: sizes, padding, and how centres are grouped."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph
from egoscore.detectors.paper.ego import EgoGraphs


def random_graph(size=80, num_edges=160, num_features=3, directed=False, seed=0):
    """Some nodes stay isolated: the last five have no edges."""
    random = np.random.default_rng(seed)
    edges = random.integers(0, size - 5, (2, num_edges))
    return AttributedGraph.from_edges(
        edges, random.normal(1.0, 1.0, (size, num_features)), directed=directed
    )


def graph_of_degrees(degrees):
    """One star for every degree, each hub followed by its leaves; and the hubs."""
    degrees = np.asarray(degrees)
    hubs = np.cumsum(degrees + 1) - degrees - 1
    leaves = np.delete(np.arange(degrees.sum() + len(degrees)), hubs)
    edges = np.stack([np.repeat(hubs, degrees), leaves])
    return AttributedGraph.from_edges(edges, np.ones((len(hubs) + len(leaves), 1))), hubs


def ego_sizes(graph, hops):
    theirs = nx.from_scipy_sparse_array(graph.neighbours.to_scipy())
    return [len(nx.ego_graph(theirs, node, radius=hops)) for node in theirs]


@pytest.mark.parametrize("directed", [False, True])
def test_a_batch_holds_features_and_edges_of_its_members_and_zeros_elsewhere(directed):
    graph = random_graph(directed=directed)
    egos = EgoGraphs(graph, max_nodes=6)
    centres = np.array([79, 3, 12, 0, 40])
    batch = egos.batch(centres)
    members, adj = egos.members(centres)
    assert batch.x.dtype == batch.adj.dtype == batch.mask.dtype == torch.float32
    assert np.array_equal(batch.node, centres)
    for row, size in enumerate(egos.sizes[centres]):
        inside = members[row, :size]
        assert np.array_equal(batch.x[row, :size], graph.features[inside])
        dense = graph.adjacency.to_scipy().toarray()[np.ix_(inside, inside)]
        assert np.array_equal(batch.adj[row, :size, :size], dense)
        assert batch.mask[row].tolist() == [1.0] * size + [0.0] * (batch.x.shape[1] - size)
        assert not batch.x[row, size:].any()
        assert not batch.adj[row, size:].any()
        assert not batch.adj[row, :, size:].any()
    assert np.array_equal(batch.adj, adj)


def test_the_centre_is_the_first_row():
    graph = random_graph()
    batch = EgoGraphs(graph, max_nodes=4).batch(np.arange(80))
    assert np.array_equal(batch.x[:, 0], graph.features)


def test_a_batch_is_no_wider_than_its_largest_ego_graph():
    graph, hubs = graph_of_degrees([9, 3, 1])
    egos = EgoGraphs(graph, max_nodes=50)
    assert egos.batch(hubs).x.shape == (3, 10, 1)
    assert egos.batch(hubs[1:]).x.shape == (2, 4, 1)


def test_an_isolated_node_is_an_ego_graph_of_one():
    graph = random_graph()
    batch = EgoGraphs(graph).batch(np.array([79]))
    assert batch.mask.tolist() == [[1.0]]
    assert batch.adj.tolist() == [[[0.0]]]
    assert batch.sizes.tolist() == [1]
    assert np.array_equal(batch.x[0], graph.features[79:])


def test_an_isolated_node_has_size_one_among_larger_ones():
    batch = EgoGraphs(random_graph()).batch(np.array([79, 3]))
    assert batch.mask[0].sum() == 1
    assert batch.mask[0, 0] == 1


def test_sizes_of_a_batch_count_nodes_even_without_edges():
    graph = random_graph(directed=True)
    for hops in (1, 2):
        egos = EgoGraphs(graph, num_hops=hops, max_nodes=9)
        batch = egos.batch(np.arange(80))
        assert np.array_equal(batch.sizes, egos.sizes)
        assert np.array_equal(batch.sizes, np.minimum(ego_sizes(graph, hops), 9))


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize(("num_edges", "seed"), [(0, 0), (60, 1), (160, 2), (2000, 3)])
def test_by_default_at_most_50_nodes_or_the_95_percent_quantile(num_edges, seed, hops):
    graph = random_graph(num_edges=num_edges, seed=seed)
    full = ego_sizes(graph, hops)
    egos = EgoGraphs(graph, num_hops=hops)
    assert egos.max_nodes == min(50, int(np.quantile(full, 0.95, method="lower")))
    assert np.array_equal(egos.sizes, np.minimum(full, egos.max_nodes))


def test_a_few_large_ego_graphs_do_not_set_the_default():
    graph, _ = graph_of_degrees([40] + [2] * 100)
    assert EgoGraphs(graph).max_nodes == 3


def test_the_default_for_two_hops_is_a_size_that_occurs():
    # 1890 ego-graphs of 2 nodes, 100 of 100 nodes: the quantile lies between the two.
    graph, _ = graph_of_degrees([1] * 945 + [99])
    assert 2 < np.quantile(ego_sizes(graph, 2), 0.95) < 100
    assert EgoGraphs(graph, num_hops=2).max_nodes == 2


sizes_of_egos = st.lists(st.integers(0, 30), min_size=1, max_size=25)


@given(sizes_of_egos, st.integers(1, 3000), st.integers(0, 2000))
@settings(deadline=None, max_examples=60)
def test_chunks_cover_every_centre_once(degrees, capacity, fill):
    graph, hubs = graph_of_degrees(degrees)
    centres = hubs[::-1].copy()
    chunks = list(EgoGraphs(graph, max_nodes=50).chunks(centres, capacity, fill))
    assert all(len(chunk) > 0 for chunk in chunks)
    assert sorted(np.concatenate(chunks)) == sorted(centres)


@given(sizes_of_egos, st.integers(1, 3000), st.integers(0, 2000))
@settings(deadline=None, max_examples=60)
def test_chunks_respect_the_capacity_unless_one_ego_graph_exceeds_it(degrees, capacity, fill):
    graph, hubs = graph_of_degrees(degrees)
    egos = EgoGraphs(graph, max_nodes=50)
    for chunk in egos.chunks(hubs, capacity, fill):
        width = egos.batch(chunk).adj.shape[1]
        assert len(chunk) == 1 or len(chunk) * width**2 <= capacity


@given(sizes_of_egos, st.integers(1, 3000))
@settings(deadline=None, max_examples=60)
def test_without_fill_sizes_are_never_mixed(degrees, capacity):
    graph, hubs = graph_of_degrees(degrees)
    egos = EgoGraphs(graph, max_nodes=50)
    for chunk in egos.chunks(hubs, capacity):
        assert len(set(egos.sizes[chunk])) == 1


def test_with_enough_capacity_each_size_is_one_chunk():
    graph, hubs = graph_of_degrees([5, 9, 5, 12, 9, 5])
    egos = EgoGraphs(graph, max_nodes=50)
    chunks = egos.chunks(hubs, capacity=10**6)
    assert [egos.sizes[chunk].tolist() for chunk in chunks] == [[13], [10, 10], [6, 6, 6]]


def test_fill_merges_small_runs_with_the_next_smaller_sizes():
    graph, hubs = graph_of_degrees([19, 17, 15, 13, 11, 9])
    egos = EgoGraphs(graph, max_nodes=50)
    apart = list(egos.chunks(hubs, capacity=10**6))
    merged = list(egos.chunks(hubs, capacity=10**6, fill=3 * 20**2))
    assert [len(chunk) for chunk in apart] == [1] * 6
    assert egos.sizes[merged[0]].tolist() == [20, 18, 16]
    assert len(merged) < len(apart)


def test_fill_never_exceeds_the_capacity():
    graph, hubs = graph_of_degrees([19, 17, 15, 13])
    egos = EgoGraphs(graph, max_nodes=50)
    chunks = list(egos.chunks(hubs, capacity=2 * 20**2, fill=10**6))
    assert [len(chunk) for chunk in chunks] == [2, 2]
