"""Who is compared with whom, against counting by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import percentileofscore

from egoscore.explain.peers import describe_peers, peers_of, percentile, surprise

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
    def test_it_is_scipys_with_equals_counted_half(self, values, value):
        expected = percentileofscore(values, value, kind="mean")
        assert percentile(np.array(values), float(value)) == pytest.approx(expected)


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
