"""Cutting ego-graphs, compared with networkx."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from egoscore import AttributedGraph
from egoscore.detectors.paper.ego import EgoGraphs

EVERYTHING = 10**6


@st.composite
def networks(draw, largest=14):
    """(number of nodes, edges, directed) with loops, repeats, isolated nodes and often a hub."""
    size = draw(st.integers(1, largest))
    node = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=2 * size))
    if draw(st.booleans()):
        hub = draw(node)
        edges += [(hub, leaf) if draw(st.booleans()) else (leaf, hub) for leaf in range(size)]
    return size, edges, draw(st.booleans())


def build(size, edges, directed=False):
    """The same network twice: ours, with the node's number as its feature, and networkx's."""
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    ours = AttributedGraph.from_edges(pairs, np.arange(size)[:, None] * 1.0, directed=directed)
    theirs = nx.DiGraph() if directed else nx.Graph()
    theirs.add_nodes_from(range(size))
    theirs.add_edges_from((u, v) for u, v in edges if u != v)
    return ours, theirs


def star(num_leaves, centre=0):
    """A hub at number `centre`; the leaves take the other numbers."""
    leaves = np.delete(np.arange(num_leaves + 1), centre)
    edges = np.stack([np.full(num_leaves, centre), leaves])
    return AttributedGraph.from_edges(edges, np.zeros((num_leaves + 1, 1)))


def cut(graph, centre, hops=1, max_nodes=EVERYTHING, seed=0):
    """Members and adjacency of one ego-graph."""
    egos = EgoGraphs(graph, num_hops=hops, max_nodes=max_nodes, seed=seed)
    members, adj = egos.members(np.array([centre]))
    return members[0], adj[0]


def kept_of_a_hub(graph, centre, max_nodes, seeds, hops=1):
    """Which others are kept, one row per seed."""
    return np.array([cut(graph, centre, hops, max_nodes, seed)[0][1:] for seed in seeds])


@pytest.mark.parametrize("hops", [1, 2, 3])
@given(networks())
@settings(deadline=None, max_examples=60)
def test_ego_graphs_are_those_of_networkx(hops, network):
    ours, theirs = build(*network)
    egos = EgoGraphs(ours, num_hops=hops, max_nodes=EVERYTHING)
    members, adj = egos.members(np.arange(len(egos)))
    for centre in range(len(egos)):
        expected = nx.ego_graph(theirs, centre, radius=hops, undirected=True)
        size = len(expected)
        inside = members[centre, :size].tolist()
        assert egos.sizes[centre] == size
        assert inside[0] == centre
        assert sorted(inside) == sorted(expected)
        assert (members[centre, size:] == -1).all()
        induced = nx.to_numpy_array(theirs.subgraph(inside), nodelist=inside)
        assert np.array_equal(adj[centre, :size, :size], induced)
        assert adj[centre].sum() == induced.sum()  # nothing outside


@pytest.mark.parametrize("hops", [1, 2, 3])
@given(networks(), st.integers(1, 8), st.integers(0, 2**64 - 1))
@settings(deadline=None, max_examples=60)
def test_large_ego_graphs_are_cut_down_to_a_part_with_all_its_edges(hops, network, limit, seed):
    ours, theirs = build(*network)
    egos = EgoGraphs(ours, num_hops=hops, max_nodes=limit, seed=seed)
    members, adj = egos.members(np.arange(len(egos)))
    for centre in range(len(egos)):
        full = set(nx.ego_graph(theirs, centre, radius=hops, undirected=True))
        size = min(len(full), limit)
        inside = members[centre, :size].tolist()
        assert egos.sizes[centre] == size
        assert inside[0] == centre
        assert len(set(inside)) == size
        assert set(inside) <= full
        assert (members[centre, size:] == -1).all()
        induced = nx.to_numpy_array(theirs.subgraph(inside), nodelist=inside)
        assert np.array_equal(adj[centre, :size, :size], induced)
        assert adj[centre].sum() == induced.sum()


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("limit", [5, EVERYTHING])
@given(networks())
@settings(deadline=None, max_examples=40)
def test_members_stand_nearest_first_and_then_by_number(hops, limit, network):
    # With one hop that is: the centre, then the others in ascending order.
    ours, theirs = build(*network)
    members, _ = EgoGraphs(ours, num_hops=hops, max_nodes=limit).members(np.arange(ours.num_nodes))
    both_ways = theirs.to_undirected()
    for centre, row in enumerate(members):
        walk = nx.bfs_edges(both_ways, centre, depth_limit=hops, sort_neighbors=sorted)
        order = [centre, *(node for _, node in walk)]
        inside = row[row >= 0].tolist()
        assert inside == [node for node in order if node in inside]


@pytest.mark.parametrize("hops", [1, 2])
def test_an_ego_graph_does_not_depend_on_what_is_cut_with_or_before_it(hops):
    random = np.random.default_rng(0)
    graph, _ = build(60, random.integers(0, 60, (600, 2)), directed=True)
    egos = EgoGraphs(graph, num_hops=hops, max_nodes=7, seed=5)
    order = random.permutation(60)
    together, together_adj = egos.members(order)
    again, again_adj = egos.members(order[::-1].copy())
    assert np.array_equal(again[::-1], together)
    assert np.array_equal(again_adj[::-1], together_adj)
    for row, centre in enumerate(order):
        alone, alone_adj = cut(graph, centre, hops, 7, seed=5)
        assert np.array_equal(together[row][: len(alone)], alone)
        assert np.array_equal(together_adj[row][: len(alone), : len(alone)], alone_adj)


def test_the_sample_depends_on_all_bits_of_the_seed():
    graph = star(100)
    kept = kept_of_a_hub(graph, 0, 20, seeds=[0, 1, 2, 2**32, 2**40, 2**63])
    assert len({tuple(row) for row in kept}) == 6
    assert np.array_equal(kept, kept_of_a_hub(graph, 0, 20, seeds=[0, 1, 2, 2**32, 2**40, 2**63]))


def test_nodes_with_the_same_neighbours_keep_different_ones():
    edges = [(hub, leaf) for hub in range(10) for leaf in range(10, 110)]
    graph, _ = build(110, edges)
    members, _ = EgoGraphs(graph, max_nodes=20).members(np.arange(10))
    assert len({tuple(row[1:]) for row in members}) == 10


@pytest.mark.parametrize(("centre", "hops"), [(0, 1), (20, 1), (7, 1), (0, 2), (20, 2)])
def test_every_leaf_of_a_star_is_kept_equally_often(centre, hops):
    # From a leaf and with two hops the others are the hub and all other leaves.
    num_leaves, wanted, trials = 20, 5, 3000
    graph = star(num_leaves, centre if hops == 1 else 3)
    kept = kept_of_a_hub(graph, centre, wanted + 1, range(trials), hops)
    times = np.delete(np.bincount(kept.ravel(), minlength=num_leaves + 1), centre)
    share = wanted / num_leaves
    # the counts of a draw without replacement are correlated: hence the last factor
    statistic = np.sum((times - trials * share) ** 2) / (trials * share * (1 - share))
    statistic *= (num_leaves - 1) / num_leaves
    assert 0.001 < stats.chi2.sf(statistic, num_leaves - 1) < 0.999


def test_every_subset_of_a_star_is_kept_equally_often():
    kept = kept_of_a_hub(star(6), 0, 4, range(4000))
    times = Counter(map(tuple, kept))
    assert len(times) == 20  # 6 over 3
    assert stats.chisquare(list(times.values())).pvalue > 0.001


def test_a_hub_of_200_000_leaves_keeps_low_and_high_numbers_alike():
    num_leaves, limit = 200_000, 50
    graph = star(num_leaves)
    kept = kept_of_a_hub(graph, 0, limit, range(40))
    assert kept.shape == (40, limit - 1)
    assert stats.kstest(kept.ravel() / num_leaves, "uniform").pvalue > 0.01
    _, adj = cut(graph, 0, max_nodes=limit)
    expected = np.zeros((limit, limit))
    expected[0, 1:] = expected[1:, 0] = 1
    assert np.array_equal(adj, expected)


@pytest.mark.parametrize("hops", [2, 3])
def test_leaves_of_a_large_star_reach_each_other_through_the_hub(hops):
    members, adj = cut(star(3_000, centre=11), centre=2_999, hops=hops, max_nodes=30, seed=1)
    assert len(set(members)) == 30
    assert members[0] == 2_999
    assert adj.sum() == (2 * 29 if 11 in members else 0)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_of_a_hub_in_a_small_ego_graph_are_found(directed):
    # A hub with far more neighbours than the ego-graph has nodes is looked up, not listed.
    random = np.random.default_rng(3)
    size, hub = 400, 123
    spokes = [(hub, v) if random.random() < 0.5 else (v, hub) for v in range(size) if v != hub]
    ours, theirs = build(size, [*spokes, *random.integers(0, size, (300, 2))], directed)
    assert ours.adjacency.degrees[hub] > 16 * 10
    egos = EgoGraphs(ours, max_nodes=10)
    small = np.flatnonzero(egos.sizes < 10)
    assert len(small) > 200
    members, adj = egos.members(small)
    for inside, found in zip(members, adj, strict=True):
        inside = inside[inside >= 0].tolist()
        expected = nx.to_numpy_array(theirs.subgraph(inside), nodelist=inside)
        assert hub in inside
        assert np.array_equal(found[: len(inside), : len(inside)], expected)
