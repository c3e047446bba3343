"""Graphs without some of their edges, compared with the edges they had."""

from __future__ import annotations

import numpy as np
import pytest

from egoscore import AttributedGraph, generate_network
from egoscore.graph.structure import structure
from egoscore.graph.thinning import thinned
from egoscore.load import Options, read_tables


def pairs(graph: AttributedGraph) -> set[tuple[int, int]]:
    links = graph.adjacency.to_scipy().tocoo()
    return set(zip(links.row.tolist(), links.col.tolist(), strict=True))


@pytest.mark.parametrize("directed", [False, True])
def test_about_the_share_is_left_out_and_nothing_is_added(directed):
    rng = np.random.default_rng(0)
    graph = AttributedGraph.from_edges(
        rng.integers(0, 300, (2, 4000)), rng.normal(size=(300, 3)), directed
    )
    fewer = thinned(graph, 0.1, 5)
    assert pairs(fewer) < pairs(graph)
    # four standard deviations of a binomial
    spread = np.sqrt(graph.num_edges * 0.1 * 0.9)
    assert abs(fewer.num_edges - 0.9 * graph.num_edges) < 4 * spread
    if not directed:
        assert all((b, a) in pairs(fewer) for a, b in pairs(fewer))
    both = fewer.adjacency.to_scipy() + fewer.adjacency.to_scipy().T
    assert (fewer.neighbours.to_scipy().toarray() == (both.toarray() > 0)).all()


def test_it_follows_the_seed():
    graph = generate_network(200)
    assert pairs(thinned(graph, 0.1, 1)) == pairs(thinned(graph, 0.1, 1))
    assert pairs(thinned(graph, 0.1, 1)) != pairs(thinned(graph, 0.1, 2))


def test_features_stay_unless_they_are_the_structure(tmp_path):
    graph = generate_network(200)
    assert thinned(graph, 0.3, 1).features is graph.features
    edges = "\n".join(f"n{i},n{i + step}" for i in range(90) for step in (1, 2))
    (tmp_path / "edges.csv").write_text(f"a,b\n{edges}\n")
    bare = read_tables(tmp_path / "edges.csv", None, Options()).graph
    assert bare.is_structural
    fewer = thinned(bare, 0.3, 1)
    np.testing.assert_allclose(fewer.features, structure(fewer).astype(np.float32))
