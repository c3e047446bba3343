"""Caveats of the default detector, and nodes that its ranking may have overlooked."""

from dataclasses import replace

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detectors.conditional.caveats import caveats, overlooked
from egoscore.explain.explanation import HIGH, causes_of, far_by_itself


@pytest.fixture(scope="module")
def graph():
    return generate_network(400, seed=1)


@pytest.fixture(scope="module")
def fitted(graph):
    return EgoScore(updates=5, hidden_size=8).fit(graph)


def notes_of(graph, fitted, model=None, significant=0, **changes):
    table = replace(fitted.components_, **changes)
    notes = caveats(model or fitted.detector_.learned, graph, table, significant)
    return {note.code: note for note in notes}


def answered(**high):
    """Answers of 400 nodes, the given number of them high."""
    return {name: np.where(np.arange(400) < count, 4.0, 0.5) for name, count in high.items()}


class TestAgreementOfQuestions:
    def test_it_is_compared_with_chance(self, graph, fitted):
        share = np.exp(-3.0)
        expected = 400 * (3 * share**2 * (1 - share) + share**3)
        few = notes_of(graph, fitted, questions=answered(features=30, company=4, place=0))
        warning = few["list-may-be-chance"]
        assert warning.severity == "warning"
        assert (warning.fields["found"], warning.fields["nodes"]) == (4, 400)
        assert warning.fields["expected"] == pytest.approx(expected)
        many = notes_of(graph, fitted, questions=answered(features=30, company=25, place=3))
        assert many["agreement-of-questions"].fields["found"] == 25
        assert "list-may-be-chance" not in many

    def test_with_significant_nodes_the_list_is_not_called_chance(self, graph, fitted):
        questions = answered(features=30, company=4, place=0)
        notes = notes_of(graph, fitted, questions=questions, significant=1)
        assert notes["agreement-of-questions"].severity == "info"

    def test_the_nodes_counted_are_those_with_several_causes(self, graph, fitted):
        near = HIGH + np.linspace(-0.1, 0.1, 400)
        questions = {"features": near, "company": near[::-1], "place": np.roll(near, 70)}
        rows = [
            dict(zip(questions, row, strict=True)) for row in zip(*questions.values(), strict=True)
        ]
        several = sum(len(causes_of(row)) > 1 for row in rows)
        assert 0 < several < 400
        notes = notes_of(graph, fitted, questions=questions)
        (found,) = {note.fields["found"] for note in notes.values() if "found" in note.fields}
        assert found == several


def test_the_causes_of_the_highest_nodes_are_counted(graph, fitted):
    score = np.arange(400)[::-1].astype(np.float64)
    questions = answered(features=5, company=3, place=0)
    note = notes_of(graph, fitted, score=score, questions=questions)["causes-of-highest"]
    assert note.fields == {"top": 20, "counts": {"features": 5, "company": 3, "place": 0}}


def test_neighbours_that_tell_nothing_are_a_warning(graph, fitted):
    model = fitted.detector_.learned
    context = replace(model.centre.context, variance=np.ones_like(model.centre.context.variance))
    alone = replace(
        model,
        centre=replace(model.centre, context=context),
        next_to=replace(model.next_to, strength=np.zeros_like(model.next_to.strength)),
    )
    assert notes_of(graph, fitted, alone)["neighbours-tell-nothing"].severity == "warning"
    assert "neighbours-tell-nothing" not in notes_of(graph, fitted)


@pytest.mark.parametrize(("gate", "code"), [(0.0, "networks-unused"), (0.5, "networks-used")])
def test_the_weight_of_the_networks_is_reported(graph, fitted, gate, code):
    model = fitted.detector_.learned
    model = replace(model, centre=replace(model.centre, gate=gate))
    note = notes_of(graph, fitted, model)[code]
    assert note.fields["explained"] == pytest.approx(float(model.explained))
    assert note.fields.get("weight", 0.0) == gate


def test_without_features_no_networks_are_used(graph):
    edges = np.array(graph.adjacency.to_scipy().nonzero())
    structural = AttributedGraph.from_tables({"source": edges[0], "target": edges[1]})
    assert structural.is_structural
    (note,) = notes_of(structural, EgoScore(updates=2, hidden_size=8).fit(structural)).values()
    assert (note.code, note.fields) == ("networks-unused", {"reason": "structure-only"})


def test_amounts_are_named(graph, fitted):
    x = graph.features.copy()
    x[:, 1] = np.exp(3 + 2 * x[:, 1])
    changed = replace(graph, features=x)
    notes = notes_of(changed, EgoScore(updates=3).fit(changed))
    assert notes["amounts"].fields == {"columns": ["x1"]}
    assert "amounts" not in notes_of(graph, fitted)


@pytest.fixture(scope="module")
def extreme():
    """One value of node 5 is absurd, and node 9 is linked to half of the others."""
    graph = generate_network(2000, 4000, 5, outlier_fraction=0, seed=3)
    coo = graph.neighbours.to_scipy().tocoo()
    others = np.setdiff1d(np.arange(0, 2000, 2), [9])
    edges = np.hstack([[coo.row, coo.col], [np.full(len(others), 9), others]])
    x = graph.features.copy()
    x[5, 3] = 1e5
    changed = AttributedGraph.from_edges(edges, x)
    return changed, EgoScore(updates=20).fit(changed)


class TestOverlooked:
    @staticmethod
    def extremes(graph, fitted, listed=()):
        """What is extreme about the nodes found, by node."""
        rows = overlooked(fitted.detector_.learned, graph, fitted.components_, listed)
        assert not set(rows) & set(listed)
        found = zip(rows, map(far_by_itself, fitted.explain_rows(rows)), strict=True)
        return {row: far.name for row, far in found if far is not None}

    def test_an_absurd_value_and_an_absurd_degree_are_found(self, extreme):
        found = self.extremes(*extreme)
        assert found[5] == "x3"
        assert found[9] == "number of neighbours"

    def test_listed_nodes_are_passed_over(self, extreme):
        assert not {5, 9} & set(self.extremes(*extreme, listed=[5, 9]))

    def test_in_a_graph_without_outliers_nothing_is_extreme(self):
        graph = generate_network(400, 1200, 5, outlier_fraction=0, seed=1)
        assert self.extremes(graph, EgoScore(updates=5).fit(graph)) == {}

    def test_one_number_among_many_columns_is_found(self):
        graph = generate_network(300, 900, 5, outlier_fraction=0, seed=1)
        x = np.random.default_rng(0).normal(8, 1, (300, 2500)).astype(np.float32)
        x[7, 42] = 1000
        wide = AttributedGraph.from_edges(np.array(graph.adjacency.to_scipy().nonzero()), x)
        assert self.extremes(wide, EgoScore(updates=2).fit(wide))[7] == "x42"

    def test_only_the_questions_asked_count(self, extreme):
        """Where features are not compared, no node stands out by them."""
        graph, fitted = extreme
        table = fitted.components_
        place = replace(table, questions={"place": table.questions["place"]})
        found = overlooked(fitted.detector_.learned, graph, place, [])
        assert 5 not in found
        assert 9 in found
