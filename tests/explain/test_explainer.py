"""What explainers share: peers against counting by hand and scipy, pictures against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import percentileofscore

from egoscore import AttributedGraph
from egoscore.explain.explainer import (
    components_of,
    describe_peers,
    names_of,
    pairs_within,
    peers_of,
    percentile,
    shades,
    surprise,
)

WIDER = (1, 1.1, 1.25, 1.5, 2, 4, 16, float("inf"))


def by_hand(sizes, node):
    """The closest ring around a size with a hundred nodes in it, or everybody."""
    for ratio in WIDER:
        near = [
            number
            for number, size in enumerate(sizes)
            if sizes[node] / ratio <= size <= sizes[node] * ratio
        ]
        if len(near) >= 100:
            return near
    return near


class TestPeers:
    @given(
        st.lists(st.integers(1, 60), min_size=1, max_size=400),
        st.sampled_from([1, 4, 9]),
        st.data(),
    )
    @settings(max_examples=60, deadline=None)
    def test_they_are_the_nearest_hundred_or_more(self, sizes, copies, data):
        sizes = sizes * copies
        node = data.draw(st.integers(0, len(sizes) - 1))
        assert peers_of(np.array(sizes), node).tolist() == by_hand(sizes, node)

    def test_a_hundred_of_the_same_size_are_enough(self):
        sizes = np.repeat([4, 5, 6], 100)
        assert peers_of(sizes, 150).tolist() == list(range(100, 200))

    def test_ninety_nine_are_not(self):
        sizes = np.repeat([20, 21, 40], [99, 50, 100])
        assert peers_of(sizes, 0).tolist() == list(range(149))

    @pytest.mark.parametrize("size", [1, 2, 99])
    def test_of_few_nodes_all_are_taken(self, size):
        assert peers_of(np.arange(size) * 1000 + 1, 0).tolist() == list(range(size))

    def test_a_hub_is_compared_with_all_if_nobody_is_like_it(self):
        assert len(peers_of(np.array([20_001] + [2] * 50), 0)) == 51


class TestPercentile:
    @given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=60), st.integers(-6, 6))
    @settings(max_examples=200, deadline=None)
    def test_it_is_scipys_with_equals_counted_or_not(self, values, value):
        for equals, kind in ((0.0, "strict"), (0.5, "mean"), (1.0, "weak")):
            expected = percentileofscore(values, value, kind=kind)
            found = percentile(np.array(values), float(value), equals)
            assert found == pytest.approx(expected)
        assert percentile(np.array(values), float(value)) == pytest.approx(
            percentileofscore(values, value, kind="strict")
        )


def test_a_surprise_is_the_logarithm_of_a_rarity():
    values = np.arange(100.0)
    assert surprise(values, 99.0) == pytest.approx(np.log(200))
    assert surprise(values, 49.0) == pytest.approx(-np.log(0.505))
    assert surprise(np.ones(7), 1.0) == pytest.approx(np.log(2))


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([1], "1 node whose ego-graph has 1 node"),
        ([1, 1], "2 nodes whose ego-graphs have 1 node"),
        ([7, 9], "2 nodes whose ego-graphs have 7 to 9 nodes"),
        ([1200] * 1500, "1,500 nodes whose ego-graphs have 1,200 nodes"),
    ],
)
def test_who_they_are_is_told_as_people_count(sizes, words):
    assert describe_peers(np.array(sizes), np.arange(len(sizes))) == words


RNG = np.random.default_rng(0)
SIZES = RNG.integers(1, 30, 700)
COLUMNS = {"energy": RNG.normal(size=700), "error": RNG.integers(0, 4, 700).astype(np.float32)}


@pytest.mark.parametrize("node", [0, 7, 699])
def test_every_column_is_told_with_its_rank_among_its_peers(node):
    group = peers_of(SIZES, node)
    found = components_of(COLUMNS, group, node)
    assert [one.name for one in found] == list(COLUMNS)
    for one, values in zip(found, COLUMNS.values(), strict=True):
        assert one.value == pytest.approx(values[node], abs=1e-6)
        expected = percentileofscore(values[group], values[node], kind="strict")
        assert one.percentile == pytest.approx(expected, abs=0.05)


def test_nobody_is_higher_than_itself():
    values = np.arange(159.0)
    highest = components_of({"x": values}, np.arange(159), 158)[0]
    assert highest.percentile == pytest.approx(100 * 158 / 159, abs=0.05)
    values = np.arange(10_000.0)
    assert components_of({"x": values}, np.arange(10_000), 9_999)[0].percentile < 100
    equal = components_of({"x": np.ones(7)}, np.arange(7), 3)[0]
    assert equal.percentile == 0.0


def test_the_comparison_is_not_with_all_nodes():
    sizes = np.repeat([3, 30], 200)
    values = sizes.astype(float) + np.tile(np.arange(200), 2) / 1000
    assert components_of({"x": values}, peers_of(sizes, 199), 199)[0].percentile == pytest.approx(
        99.5, abs=0.05
    )
    assert components_of({"x": values}, peers_of(sizes, 200), 200)[0].percentile == pytest.approx(
        0.0, abs=0.06
    )


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
