"""The reasons of the paper's recipe: from ego-graphs that came back, averaged by hand."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detectors.base import Job
from egoscore.detectors.paper.components import LEVEL_COMPONENTS
from egoscore.detectors.paper.explain import ReconstructionExplainer, sample
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.explain.explainer import MOST_NODES, peers_of
from egoscore.graph.feature_column import FeatureColumn

QUICK = {
    "preset": "paper",
    "epochs": 3,
    "num_levels": 2,
    "num_samples": 2,
    "steps": 6,
    "hidden_size": 8,
}
CPU = torch.device("cpu")


def fit(graph, **changes):
    detector = EgoScore(**QUICK | changes).fit(graph)
    return detector, detector.detector_.explainer(graph, detector.components_, Job(0, CPU))


@pytest.fixture(scope="module")
def graph():
    return generate_network(120, 300, 4, seed=2)


@pytest.fixture(scope="module", params=[1, 2], ids=["one hop", "two hops"])
def fitted(request, graph):
    return fit(graph, num_hops=request.param, max_nodes=12)


@pytest.fixture(scope="module")
def directed():
    graph = generate_network(60, 200, 3, seed=3, directed=True)
    return graph, *fit(graph)


def back(detector, graph, node):
    """Members, and features and adjacency before and after, one ego-graph at a time."""
    model = detector.model_
    egos = model.ego_graphs(graph, CPU)
    way = Reconstruction(egos, model.scoring_networks(), model.settings, model.seed)
    batch = egos.batch(np.array([node]))
    size = int(batch.sizes[0])
    with torch.inference_mode():
        x, adj = way.restore(batch, range(detector.settings().num_samples))
    xs = [x[level, s, 0, :size].numpy() for level in range(2) for s in range(2)]
    adjs = [adj[level, s, 0, :size, :size].numpy() > 0.5 for level in range(2) for s in range(2)]
    members = egos.members(np.array([node]))[0][0, :size]
    before = batch.x[0, :size].numpy(), batch.adj[0, :size, :size].numpy()
    return members, *before, np.mean(xs, axis=0), np.mean(adjs, axis=0)


NODES = [0, 7, 64]


@pytest.mark.parametrize("node", NODES)
def test_features_are_told_beside_how_they_came_back(graph, fitted, node):
    detector, explainer = fitted
    group = peers_of(detector.components_.ego_size, node)
    others = group[np.unique(np.linspace(0, len(group) - 1, 32).astype(int))]
    errors = [(b[1] - b[3])[0] for b in (back(detector, graph, other) for other in others)]
    usual = np.sqrt(np.square(errors).mean(axis=0))
    _, x, _, restored, _ = back(detector, graph, node)
    sizes = (x - restored)[0] / usual
    unit = graph.features.std(axis=0)
    mean = graph.features.mean(axis=0, dtype=np.float64)
    found = explainer.reasons(node).features
    order = np.argsort(-np.abs(sizes))
    assert [one.name for one in found] == [f"x{j}" for j in order]
    for one, j in zip(found, order, strict=True):
        assert one.size == pytest.approx(sizes[j], rel=1e-2, abs=0.02)
        assert float(one.observed) == pytest.approx(graph.features[node, j], rel=1e-3)
        expected = restored[0, j] * unit[j] + mean[j]
        assert float(one.expected) == pytest.approx(expected, rel=5e-3, abs=5e-3)


@pytest.mark.parametrize("node", NODES)
def test_edges_are_counted_before_and_after(graph, fitted, node):
    detector, explainer = fitted
    _, _, adj, _, restored = back(detector, graph, node)
    (found,) = explainer.reasons(node).structure
    assert found.name == "edges in the ego-graph"
    assert found.observed == f"{np.triu(adj).sum():.3g}"
    assert float(found.expected) == pytest.approx(np.triu(restored).sum(), rel=1e-2)
    difference = np.triu(adj).sum() - np.triu(restored).sum()
    assert np.sign(found.size) == np.sign(round(difference, 3))


@pytest.mark.parametrize("node", NODES)
def test_ties_surprise_by_the_share_of_returns_that_have_them_otherwise(graph, fitted, node):
    detector, explainer = fitted
    members, _, adj, _, restored = back(detector, graph, node)
    reasons = explainer.reasons(node)
    expected = {}
    for place in range(1, len(members)):
        there, share = adj[0, place] > 0, restored[0, place]
        surprise = 0.5 - share if there else share - 0.5
        if there or surprise > 0:
            expected[str(members[place])] = (round(surprise, 3), there)
    for tie in reasons.surprising + reasons.expected:
        assert (tie.surprise, tie.present) == pytest.approx(expected[tie.node])
    assert len(reasons.surprising) == min(8, sum(s > 0 for s, _ in expected.values()))
    assert len(reasons.expected) == min(8, sum(s <= 0 for s, _ in expected.values()))
    assert all(tie.surprise > 0 for tie in reasons.surprising)
    surprises = [tie.surprise for tie in reasons.surprising]
    assert surprises == sorted(surprises, reverse=True)
    fits = [tie.surprise for tie in reasons.expected]
    assert fits == sorted(fits)


@pytest.mark.parametrize("node", NODES)
def test_energies_and_components_are_those_of_the_table(fitted, node):
    detector, explainer = fitted
    table, found = detector.components_, explainer.reasons(node)
    assert found.ego_size == table.ego_size[node]
    assert found.energy_actual == pytest.approx(table.energy[node])
    assert found.energy_expected == pytest.approx(table.component("energy_after")[node].mean())
    assert [one.name for one in found.components] == list(LEVEL_COMPONENTS)
    for one in found.components:
        assert one.value == pytest.approx(table.component(one.name)[node].mean(), abs=1e-6)


@pytest.mark.parametrize("node", [*NODES, "highest"])
def test_answers_say_how_rare_each_error_is_among_nodes_alike(fitted, node):
    detector, explainer = fitted
    table = detector.components_
    if node == "highest":
        node = int(table.component("feature_error").mean(axis=1).argmax())
    found = explainer.reasons(node).questions
    group = peers_of(table.ego_size, node)
    for question, name in [
        ("features", "feature_error"),
        ("structure", "structure_error"),
        ("energy", "energy_shift"),
    ]:
        values = table.component(name).mean(axis=1)
        more = (values[group] > values[node]).sum() + (values[group] == values[node]).sum() / 2
        assert found[question] == pytest.approx(-np.log(max(more, 0.5) / len(group)), abs=1e-5)
    assert list(found.values()) == sorted(found.values(), reverse=True)


@pytest.mark.parametrize("node", NODES)
def test_the_picture_shows_what_most_returns_have(graph, fitted, node):
    detector, explainer = fitted
    members, x, adj, restored_x, restored = back(detector, graph, node)
    reasons = explainer.reasons(node)
    found = reasons.picture
    assert found.nodes == tuple(map(str, members[:MOST_NODES]))
    assert found.nodes[0] == str(node)
    for edges, matrix in ((found.actual, adj), (found.expected, restored)):
        expected = [(i, j) for i in range(len(members)) for j in range(i) if matrix[i, j] > 0.5]
        assert sorted(edges) == sorted((j, i) for i, j in expected)
    shown = int(reasons.features[0].name.removeprefix("x"))
    assert found.shade == f"x{shown}"
    values = np.concatenate([x[:, shown], restored_x[:, shown]])
    scaled = (values - values.min()) / np.ptp(values)
    np.testing.assert_allclose([*found.shade_actual, *found.shade_expected], scaled, atol=2e-3)


def test_of_a_large_ego_graph_a_part_is_drawn():
    star = np.stack([np.zeros(40, dtype=np.int64), np.arange(1, 41)])
    graph = AttributedGraph.from_edges(star, np.random.default_rng(0).normal(size=(41, 2)))
    _, explainer = fit(graph, max_nodes=41)
    found = explainer.reasons(0).picture
    assert (len(found.nodes), found.left_out) == (MOST_NODES, 41 - MOST_NODES)
    assert len(found.actual) == MOST_NODES - 1


class TestDirected:
    def test_every_edge_counts_once(self, directed):
        graph, detector, explainer = directed
        for node in (0, 9, 33):
            _, _, adj, _, restored = back(detector, graph, node)
            (found,) = explainer.reasons(node).structure
            assert found.observed == f"{adj.sum():.3g}"
            assert float(found.expected) == pytest.approx(restored.sum(), rel=1e-2)

    def test_a_tie_is_there_in_either_direction(self, directed):
        graph, _, explainer = directed
        for node in (0, 9, 33):
            reasons = explainer.reasons(node)
            told = {t.node for t in reasons.surprising + reasons.expected if t.present}
            assert told <= {str(other) for other in graph.neighbours_of(node)}


def with_sizes(reasons, size):
    """The same with all deviations of this size."""
    features, structure = (
        tuple(replace(one, size=size) for one in part)
        for part in (reasons.features, reasons.structure)
    )
    return replace(reasons, features=features, structure=structure)


class TestText:
    def test_each_cause_has_its_numbers(self, fitted):
        explainer = fitted[1]
        reasons = with_sizes(explainer.reasons(7), 2.5)
        first, edges = reasons.features[0], reasons.structure[0]
        features, structure, energy = (
            explainer.phrase(cause, reasons) for cause in ("features", "structure", "energy")
        )
        assert all(part in features for part in (first.name, first.observed, first.expected))
        assert all(part in structure for part in (edges.observed, edges.expected))
        assert f"{reasons.energy_actual:.3g}" in energy
        assert f"{reasons.energy_expected:.3g}" in energy

    def test_deviations_of_the_usual_size_are_not_shown(self, fitted):
        explainer = fitted[1]
        reasons = with_sizes(explainer.reasons(7), -1.9)
        for cause in ("features", "structure"):
            assert not set("0123456789") & set(explainer.phrase(cause, reasons))

    def test_energies_that_round_to_the_same_are_not_shown_as_a_change(self, fitted):
        explainer = fitted[1]
        same = replace(explainer.reasons(7), energy_actual=0.12341, energy_expected=0.12339)
        assert "0.123" not in explainer.phrase("energy", same)
        assert not re.search("creased", explainer.in_short("energy", same))

    @pytest.mark.parametrize(("size", "edges"), [(2.5, "fewer"), (-2.5, "more"), (1.0, "")])
    def test_the_short_form_has_the_feature_and_the_direction(self, fitted, size, edges):
        explainer = fitted[1]
        reasons = with_sizes(explainer.reasons(7), size)
        reasons = replace(reasons, energy_actual=1.0, energy_expected=2.0)
        is_named = reasons.features[0].name in explainer.in_short("features", reasons)
        assert is_named == (abs(size) > 2)
        structure = explainer.in_short("structure", reasons)
        assert [word for word in ("fewer", "more") if word in structure] == [edges] * bool(edges)
        assert "increased" in explainer.in_short("energy", reasons)


@pytest.mark.parametrize("name", ["one node", "isolated", "constant", "category"])
def test_odd_networks_are_explained_too(name, graph):
    few = AttributedGraph.from_edges([[1], [2]], np.random.default_rng(0).normal(size=(9, 2)))
    odd = {
        "one node": AttributedGraph.from_edges([[], []], [[1.0, 2.0]]),
        "isolated": few,
        "constant": replace(graph, features=np.full_like(graph.features, 3)),
        "category": replace(
            graph,
            features=(graph.features > 0).astype(np.float32),
            columns=tuple(FeatureColumn("k", "category", c) for c in "abcd"),
        ),
    }[name]
    detector, _ = fit(odd)
    for why in detector.explain_all([0, odd.num_nodes - 1]):
        record = [why.score, why.energy_actual, why.energy_expected]
        record += [one.size for one in why.features + why.structure]
        record += [one.percentile for one in why.components]
        assert np.isfinite(record).all()
        assert "nan" not in why.summary
        if name == "category":
            assert all(one.observed in ("yes", "no") for one in why.features)


def test_explaining_one_node_does_not_depend_on_others_explained_before(fitted):
    detector, used = fitted
    fresh = ReconstructionExplainer(
        used.reconstruction, used.graph, used.units.scaling, detector.components_
    )
    for node in (64, 0):
        assert used.reasons(node) == fresh.reasons(node)


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 1000])
def test_a_sample_is_spread_evenly_and_has_no_node_twice(size):
    group = np.arange(size) * 3
    found = sample(group, 32)
    assert len(found) == min(size, 32)
    assert (found[0], found[-1]) == (group[0], group[-1])
    assert (np.diff(found) > 0).all()
    assert size < 64 or np.diff(found).max() <= 1.1 * np.diff(found).min() + 3


def test_names_are_beside_ids_and_in_the_drawing(graph):
    names = np.array([f"Person {number}" for number in range(graph.num_nodes)])
    detector, _ = fit(replace(graph, names=names), max_nodes=12)
    why = detector.explain("Person 5")
    assert (why.node, why.name, why.shown) == ("5", "Person 5", "Person 5")
    assert why.summary.startswith("Person 5 ranks ")
    ties = (*why.surprising, *why.expected)
    assert len(ties) > 1
    assert all(tie.name == f"Person {tie.node}" for tie in ties)
    near = {f"Person {other}" for other in graph.neighbours_of(5)}
    assert why.picture.nodes[0] == "Person 5"
    assert near & set(why.picture.nodes[1:])
    assert all(name.startswith("Person ") for name in why.picture.nodes)
