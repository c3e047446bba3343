"""The direction of links in the default detector."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from default_detector import fit, job, measured

from egoscore.detectors.conditional.detector import ConditionalDetector
from egoscore.detectors.conditional.expectation import expect
from egoscore.detectors.conditional.explain_text import IN_SHORT, PHRASES
from egoscore.errors import InputError
from egoscore.explain.explanation import Extreme
from egoscore.graph import AttributedGraph
from egoscore.graph.structure import (
    DIRECTION,
    STRUCTURE,
    describe_structure,
    structure,
    structure_and_direction,
)

NUM_NODES, TURNED = 600, np.arange(12)


def ranked(directed):
    """Links lead from higher to lower rank, a feature; those of the lowest nodes are turned."""
    rng = np.random.default_rng(5)
    ends = np.sort(rng.integers(0, NUM_NODES, (2, 3000)), axis=0)
    edges = np.where(np.isin(ends[0], TURNED), ends, ends[::-1])
    rank = np.linspace(-2, 2, NUM_NODES)
    x = np.column_stack([rank, rng.normal(size=(NUM_NODES, 2))])
    return AttributedGraph.from_edges(edges, x, directed)


@pytest.fixture(scope="module")
def fitted():
    graph = ranked(directed=True)
    detector, table = fit(graph)
    return graph, detector, table


def test_in_and_out_degrees_and_reciprocity_are_those_of_networkx():
    source = nx.gnp_random_graph(60, 0.06, seed=2, directed=True)
    source.add_node(60)
    graph = AttributedGraph.from_edges(np.array(source.edges).T, np.ones((61, 1)), directed=True)
    found = structure_and_direction(graph)
    np.testing.assert_array_equal(found[:, : len(STRUCTURE)], structure(graph))
    sent, received, mutual = found[:, len(STRUCTURE) :].T
    np.testing.assert_allclose(np.expm1(sent), [source.out_degree(v) for v in range(61)])
    np.testing.assert_allclose(np.expm1(received), [source.in_degree(v) for v in range(61)])
    both = [
        len({*source.successors(v)} & {*source.predecessors(v)})
        / max(1, len({*source.successors(v)} | {*source.predecessors(v)}))
        for v in range(61)
    ]
    np.testing.assert_allclose(mutual, both, atol=1e-12)
    assert len(describe_structure(directed=True)) == len(STRUCTURE) + len(DIRECTION)


def test_an_undirected_graph_has_no_direction():
    graph = ranked(directed=False)
    assert structure_and_direction(graph).shape == (NUM_NODES, len(STRUCTURE))
    detector, _ = fit(graph)
    assert len(detector.learned.extremes.position.tails) == 4
    assert not detector.learned.is_directed


def test_the_context_has_the_means_of_both_directions(fitted):
    graph, detector, _ = fitted
    view = detector.learned.view(graph)
    values = np.random.default_rng(1).normal(size=(NUM_NODES, 2)).astype(np.float32)
    dense = graph.adjacency.to_scipy().toarray()
    means = [a @ values / np.maximum(a.sum(axis=1), 1)[:, None] for a in (dense, dense.T)]
    both = dense + dense.T > 0
    mean, difference = view.near.means(values)
    np.testing.assert_allclose(difference, means[0] - means[1], atol=1e-5)
    np.testing.assert_allclose(
        mean, both @ values / np.maximum(both.sum(axis=1), 1)[:, None], atol=1e-5
    )


@pytest.mark.parametrize("nodes", [[0], [599, 5, 17]])
def test_the_expectation_of_some_nodes_is_that_of_all(fitted, nodes):
    graph, detector, _ = fitted
    where = structure_and_direction(graph)
    some, every = (
        expect(detector.learned, graph, where, which, is_training=True).expected
        for which in (np.array(nodes), np.arange(NUM_NODES))
    )
    np.testing.assert_allclose(some, every[nodes], rtol=1e-4, atol=1e-5)


def test_nodes_whose_links_are_turned_rank_higher_where_links_have_a_direction(fitted):
    _, _, table = fitted
    blind = fit(ranked(directed=False))[1]
    ranks = [np.argsort(np.argsort(-one.score))[TURNED].mean() for one in (table, blind)]
    assert ranks[0] < 30 < 100 < ranks[1]


def test_a_hub_in_one_direction_is_named():
    rng = np.random.default_rng(8)
    edges = np.stack([rng.integers(0, 500, 2500), rng.integers(0, 500, 2500)])
    hub = np.stack([np.arange(100, 140), np.full(40, 7)])
    away = np.stack([np.full(90, 7), np.arange(200, 290)])
    everyone = np.concatenate([edges[:, edges[0] != 7], hub, away], axis=1)
    graph = AttributedGraph.from_edges(everyone, rng.normal(size=(500, 2)), directed=True)
    detector, table = fit(graph)
    assert table.score.argmax() == 7
    found = detector.explainer(graph, table, job()).reasons(7)
    first = found.extremes[0]
    assert first.kind in ("sent", "degree")
    if first.kind == "sent":
        assert first.observed == "90"


@pytest.mark.parametrize("kind", ["degree", "sent", "received"])
@pytest.mark.parametrize("count", [1, 3])
def test_what_is_said_has_both_numbers(fitted, kind, count):
    graph, detector, table = fitted
    reasons = detector.explainer(graph, table, job()).reasons(3)
    one = Extreme(kind, "", "5,300", "1,200", count, 60, 9.0)
    said = PHRASES["extremes"](replace(reasons, extremes=(one,)))
    assert "5,300" in said
    assert ("1,200" if count == 1 else "only 3 of 60") in said
    assert "5,300" in IN_SHORT["extremes"](replace(reasons, extremes=(one,)))


def test_a_total_is_told_with_the_number_of_partners(tmp_path):
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.integers(0, 300, (2000, 2)), columns=["source", "target"])
    table = table[(table.source != 7) & (table.source != table.target)].drop_duplicates()
    table["amount"] = rng.lognormal(3, 0.5, len(table)).round(2)
    huge = pd.DataFrame({"source": 7, "target": range(20, 29), "amount": 90_000.0})
    path = tmp_path / "edges.csv"
    table = pd.concat([table, huge])
    table.to_csv(path, index=False)
    graph = AttributedGraph.from_tables(path, directed=True)
    node = graph.ids.tolist().index(7)
    detector, scores = fit(graph)
    assert scores.score.argsort()[::-1].tolist().index(node) < 10
    found = detector.explainer(graph, scores, job()).reasons(node).extremes
    [total] = [one for one in found if one.name == "amount sent (total)"]
    assert total.observed.startswith("81")
    assert total.observed.endswith("9 nodes)")


def test_a_model_survives_being_saved(fitted):
    graph, detector, table = fitted
    tensors, facts = detector.to_tensors(table)
    restored, _ = ConditionalDetector.from_tensors(tensors, facts)
    np.testing.assert_array_equal(measured(restored, graph, True).score, table.score)


def test_a_graph_of_the_other_kind_is_refused(fitted):
    _, detector, _ = fitted
    with pytest.raises(InputError, match="directed"):
        detector.learned.view(ranked(directed=False))
