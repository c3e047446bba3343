"""Columns with many categories: whose neighbours agree on another one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore
from egoscore.detectors.conditional.disagreement import Votes

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def tables():
    """Three hundred accounts of thirty countries, most of whose links stay at home."""
    rng = np.random.default_rng(2)
    size = 600
    country = np.arange(size) % 30
    source = rng.integers(0, size, 4000)
    near = (source + 30 * rng.integers(1, 20, 4000)) % size
    target = np.where(rng.random(4000) < 0.9, near, rng.integers(0, size, 4000))
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(size)], "age": rng.normal(40, 9, size)})
    nodes["country"] = [f"land {one:02}" for one in country]
    edges = pd.DataFrame({"a": nodes.id[source].to_numpy(), "b": nodes.id[target].to_numpy()})
    return edges[edges.a != edges.b], nodes


def test_votes_are_counted_as_a_counter_counts(tables):
    graph = AttributedGraph.from_tables(*tables)
    codes = graph.categories["country"].codes.copy()
    codes[::7] = -1
    votes = Votes.of(graph.neighbours, codes)
    for node in range(0, graph.num_nodes, 11):
        near = Counter(codes[other] for other in graph.neighbours_of(node) if codes[other] >= 0)
        assert votes.known[node] == near.total()
        assert votes.own[node] == (near[codes[node]] if codes[node] >= 0 else 0)
        assert votes.most[node] == max(near.values(), default=0)
        assert near[votes.other[node]] == votes.most[node]


def test_another_country_than_that_of_nearly_all_neighbours_is_found_and_told(tables):
    edges, nodes = tables
    nodes = nodes.copy()
    nodes.loc[123, "country"] = "land 20"
    detector = EgoScore(updates=10, hidden_size=8).fit(AttributedGraph.from_tables(edges, nodes))
    why = detector.explain("n123")
    assert why.rank <= 6
    first = why.extremes[0]
    assert (first.kind, first.name) == ("category", "country")
    assert (first.observed, first.other) == ("land 20", "land 03")
    assert first.agree > 0.5 * first.voters > 0


def test_the_same_tables_read_again_get_the_same_scores(tables):
    edges, nodes = tables
    detector = EgoScore(updates=4, hidden_size=8).fit(AttributedGraph.from_tables(edges, nodes))
    again = detector.decision_function(AttributedGraph.from_tables(edges, nodes))
    np.testing.assert_allclose(again, detector.decision_score_, rtol=1e-5)
