"""Who is far off by one quantity is told, also where the ranking has others first."""

from dataclasses import replace

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.tell.overlooked import candidates, sentence


@pytest.fixture(scope="module")
def fitted():
    """One value of node 5 is absurd, and node 9 is joined with half of the others."""
    graph = generate_network(2000, 4000, 5, outlier_fraction=0, seed=3)
    coo = graph.neighbours.to_scipy().tocoo()
    others = np.setdiff1d(np.arange(0, 2000, 2), [9])
    edges = np.hstack([[coo.row, coo.col], [np.full(len(others), 9), others]])
    x = graph.features.copy()
    x[5, 3] = 1e5
    changed = AttributedGraph.from_edges(edges, x)
    return changed, EgoScore(updates=20).fit(changed)


def told(found, listed):
    graph, fitted = found
    rows = candidates(fitted.components_, graph, fitted.model_, listed)
    assert not set(rows) & set(listed)
    return rows, sentence(list(fitted.explain_rows(rows)), 20)


def test_both_are_told_with_what_is_off(fitted):
    rows, said = told(fitted, [])
    assert {5, 9} <= set(rows)
    assert said.startswith("Not among the first 20, but far off by one quantity: ")
    for node, words in {5: "x3 ", 9: "number of neighbours "}.items():
        rank = fitted[1].explain(node).rank
        assert f"{node} (number {rank}): {words}" in said


def test_what_is_listed_is_not_told_again(fitted):
    rows, said = told(fitted, [5, 9])
    assert not {5, 9} & set(rows)
    assert said is None or "x3" not in said


def test_where_nothing_is_far_off_nothing_is_said():
    graph = generate_network(400, 1200, 5, outlier_fraction=0, seed=1)
    assert told((graph, EgoScore(updates=5).fit(graph)), [])[1] is None


def test_one_number_among_many_columns_is_told():
    graph = generate_network(300, 900, 5, outlier_fraction=0, seed=1)
    x = np.random.default_rng(0).normal(8, 1, (300, 2500)).astype(np.float32)
    x[7, 42] = 1000
    wide = AttributedGraph.from_edges(np.array(graph.adjacency.to_scipy().nonzero()), x)
    rows, said = told((wide, EgoScore(updates=2).fit(wide)), [])
    assert 7 in rows
    assert "): x42 1" in said


def test_only_what_was_asked_counts(fitted):
    """Where company or features are not asked, nobody stands out by them."""
    graph, detector = fitted
    table = detector.components_
    place = replace(table, questions={"place": table.questions["place"]})
    found = candidates(place, graph, detector.model_, [])
    assert 5 not in found
    assert 9 in found
