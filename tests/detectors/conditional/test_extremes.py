"""Single numbers, categories and counts that are out of bounds, planted one at a time."""

from dataclasses import replace

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detectors.conditional.batch import Batch
from egoscore.detectors.conditional.numbers import SIDES, Numbers
from egoscore.detectors.conditional.preprocess import fit_scale
from egoscore.detectors.conditional.view import View
from egoscore.graph.feature_column import FeatureColumn

NODE = 123


@pytest.fixture(scope="module")
def quiet():
    return generate_network(800, 2400, 4, outlier_fraction=0, seed=7)


def explained(graph):
    why = next(EgoScore(updates=5).fit(graph).explain_rows([NODE]))
    return why, [(one.kind, one.name) for one in why.extremes]


def changed(graph, value, column=1, transform=lambda x: x):
    x = transform(graph.features.astype(np.float64)).astype(np.float32)
    x[NODE, column] = value(x)
    return replace(graph, features=x)


def amounts(x):
    return np.exp(x + 6.0)


VALUES = {
    "three times the maximum": (lambda x: 3 * x[:, 1].max(), amounts, "above"),
    "thirty times a high value": (lambda x: 30 * np.quantile(x[:, 1], 0.99), amounts, "above"),
    "far too small": (lambda x: x[:, 1].min() / 300, amounts, "below"),
    "a negative amount": (lambda x: -np.median(x[:, 1]), amounts, "below"),
    "on a symmetric scale": (lambda x: 3 * x[:, 1].max(), lambda x: x, "above"),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_outside_the_range_ranks_first_and_is_named(quiet, name):
    value, transform, kind = VALUES[name]
    why, found = explained(changed(quiet, value, transform=transform))
    assert why.rank <= 3
    assert why.causes[0] == "extremes"
    assert found[0] == (kind, "x1")
    assert why.extremes[0].count == 1
    assert why.extremes[0].num_nodes == 800


def test_a_column_with_a_heavy_tail_does_not_fill_the_list(quiet):
    rng = np.random.default_rng(0)
    x = quiet.features.copy()
    x[:, 1] = rng.pareto(1.0, size=800)
    detector = EgoScore(updates=5).fit(replace(quiet, features=x))
    top = np.argsort(-detector.decision_score_.numpy())[:20]
    highest = set(np.argsort(-x[:, 1])[:20].tolist())
    assert len(set(top.tolist()) & highest) <= 6


def test_the_number_that_contradicts_all_neighbours_is_found():
    rng = np.random.default_rng(1)
    group = np.arange(900) % 3
    ends = rng.integers(0, 900, (9000, 2))
    ends = ends[group[ends[:, 0]] == group[ends[:, 1]]]
    x = np.column_stack([10.0 * group + rng.normal(size=900), rng.normal(size=900)])
    x[NODE, 0] = 10.0 * ((group[NODE] + 2) % 3)
    why, found = explained(AttributedGraph.from_edges(ends.T, x))
    assert why.rank <= 5
    assert found[0][0] in ("more", "less")
    assert found[0][1] == "x0"


def test_a_category_that_all_neighbours_contradict_is_found():
    rng = np.random.default_rng(2)
    kind = np.arange(900) % 3
    ends = rng.integers(0, 900, (9000, 2))
    ends = ends[kind[ends[:, 0]] == kind[ends[:, 1]]]
    was = kind[NODE]
    kind[NODE] = (was + 1) % 3
    nodes = {"id": np.arange(900), "kind": np.array(["red", "green", "blue"])[kind]}
    nodes["size"] = rng.normal(size=900)
    edges = {"source": ends[:, 0], "target": ends[:, 1]}
    why, found = explained(AttributedGraph.from_tables(edges, nodes))
    assert why.rank <= 3
    assert found[0] == ("category", "kind")
    assert why.extremes[0].observed == ["red", "green", "blue"][kind[NODE]]
    assert ["red", "green", "blue"][was] in why.extremes[0].other


def with_edges(graph, more):
    near = graph.neighbours.to_scipy().tocoo()
    ends = np.hstack([[near.row, near.col], np.array(more).T])
    return AttributedGraph.from_edges(ends, graph.features)


def test_a_hub_is_first_and_called_one(quiet):
    most = 3 * int(quiet.neighbours.degrees.max())
    others = np.setdiff1d(np.arange(800), [NODE])[:most]
    why, found = explained(with_edges(quiet, [(NODE, other) for other in others]))
    assert why.rank <= 8
    assert found[0][0] == "degree"


def test_the_centre_of_a_star_is_first():
    star = np.stack([np.zeros(50_000, dtype=np.int64), np.arange(1, 50_001)])
    x = np.random.default_rng(0).normal(size=(50_001, 2))
    detector = EgoScore(updates=2, hidden_size=8).fit(AttributedGraph.from_edges(star, x))
    assert next(detector.explain_rows([0])).rank == 1


def test_a_clique_of_unrelated_nodes_is_found_and_counted(quiet):
    near = quiet.neighbours.to_scipy()
    apart = (near + near @ near).toarray() == 0  # neither linked nor with a shared neighbour
    members = [NODE]
    while len(members) < 8:
        members.append(int(np.flatnonzero(apart[members].all(axis=0))[len(members)]))
    pairs = [(a, b) for place, a in enumerate(members) for b in members[:place]]
    graph = with_edges(quiet, pairs)
    detector = EgoScore(updates=5).fit(graph)
    found = list(detector.explain_rows(members))
    assert max(why.rank for why in found) <= 20
    assert all(("clique", "8") in [(e.kind, e.observed) for e in why.extremes] for why in found)


def test_a_bridge_to_many_unrelated_nodes_is_found():
    rng = np.random.default_rng(3)
    group = np.arange(1000) // 10  # a hundred groups of ten, all linked
    pairs = [(a, b) for g in range(100) for a in range(10) for b in range(a)]
    ends = np.array([(10 * (p // 45) + a, 10 * (p // 45) + b) for p, (a, b) in enumerate(pairs)])
    across = [(NODE, int(other)) for other in rng.choice(1000, 15, replace=False)]
    graph = AttributedGraph.from_edges(np.vstack([ends, across]).T, rng.normal(size=(1000, 3)))
    why, found = explained(graph)
    assert len(np.unique(group)) == 100
    assert why.rank <= 3
    assert "strangers" in [kind for kind, _ in found]


def test_rounding_errors_are_no_extremes(quiet):
    x = quiet.features.astype(np.float64)
    x[:, 2] = 0.3
    x[NODE, 2] = 0.1 + 0.2
    edges = np.array(quiet.adjacency.to_scipy().nonzero())
    detector = EgoScore(updates=5).fit(AttributedGraph.from_edges(edges, x))
    x[NODE, 2] = 0.3
    without = EgoScore(updates=5).fit(AttributedGraph.from_edges(edges, x))
    np.testing.assert_array_equal(detector.decision_score_, without.decision_score_)
    assert "x2" not in [one.name for one in next(detector.explain_rows([NODE])).extremes]


def test_what_is_missing_is_not_extreme(quiet):
    x = np.column_stack([quiet.features, np.zeros(800)]).astype(np.float32)
    x[NODE, 1] = 1e6
    x[NODE, 4] = 1.0
    columns = (*(FeatureColumn(f"x{j}") for j in range(4)), FeatureColumn("x1", "missing"))
    graph = replace(quiet, features=x, columns=columns, feature_names=())
    scale = fit_scale(graph, 0)
    view = View.of(graph, scale, True)
    numbers = Numbers.fit(view, 0)
    errors = numbers.errors(view)
    found = list(numbers.distances(graph, graph.features, errors, view.near.degree))
    assert all(found[len(SIDES) + side][NODE] == 0 for side in range(len(SIDES)))


def test_a_node_by_itself_is_judged_as_among_all(quiet):
    scale = fit_scale(quiet, 0)
    view = View.of(quiet, scale, True)
    numbers = Numbers.fit(view, 0)
    every = numbers.errors(view)
    some = np.array([3, NODE, 700])
    batch = Batch.of_nodes(quiet, scale, some)
    alone = numbers.prediction.given_all(batch, numbers.columns)
    np.testing.assert_allclose(alone, every[some], rtol=1e-4, atol=1e-5)
