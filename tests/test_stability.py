"""Which of the highest nodes a second fit finds again."""

from __future__ import annotations

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.graph.thinning import thinned
from egoscore.stability import DROPPED, stability

QUICK = {"updates": 8, "hidden_size": 8, "contamination": "auto"}


@pytest.fixture(scope="module")
def graph():
    return generate_network(400)


def test_it_is_the_overlap_with_a_fit_of_the_thinned_graph(graph):
    fitted = EgoScore(**QUICK).fit(graph)
    found = stability(graph, fitted)
    again = EgoScore(**QUICK | {"seed": 1, "updates": 2}).fit(thinned(graph, DROPPED, 1))
    top = max(10, int(fitted.label_.sum()))
    both = (np.argsort(-one.decision_score_.numpy())[:top].tolist() for one in (fitted, again))
    first, second = both
    assert (found.fields["kept"], found.fields["top"]) == (len({*first} & {*second}), top)


def test_a_few_nodes_that_stand_out_are_found_again(graph):
    x = graph.features.copy()
    x[[5, 50, 150, 250, 350, 390, 7, 70, 170, 270], 1] += 1000.0
    changed = AttributedGraph.from_edges(np.array(graph.adjacency.to_scipy().nonzero()), x)
    found = stability(changed, EgoScore(**QUICK).fit(changed))
    assert found.code == "ranking-stable"


def test_it_is_not_measured_where_a_second_fit_takes_long_or_nodes_are_too_few(graph):
    fitted = EgoScore("paper", epochs=1, hidden_size=8, num_samples=1).fit(graph)
    assert stability(graph, fitted) is None
    tiny = AttributedGraph.from_edges([[0, 1], [1, 2]], np.arange(6.0).reshape(3, 2))
    assert stability(tiny, EgoScore(**QUICK).fit(tiny)) is None
