"""Caveats of the default detector."""

from dataclasses import replace

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.detectors.conditional.caveats import caveats
from egoscore.explain.explanation import HIGH, causes_of


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
        few = notes_of(graph, fitted, questions=answered(features=30, similarity=4, position=0))
        warning = few["list-may-be-chance"]
        assert warning.severity == "warning"
        assert (warning.fields["found"], warning.fields["nodes"]) == (4, 400)
        assert warning.fields["expected"] == pytest.approx(expected)
        many = notes_of(graph, fitted, questions=answered(features=30, similarity=25, position=3))
        assert many["agreement-of-questions"].fields["found"] == 25
        assert "list-may-be-chance" not in many

    def test_with_significant_nodes_the_list_is_not_called_chance(self, graph, fitted):
        questions = answered(features=30, similarity=4, position=0)
        notes = notes_of(graph, fitted, questions=questions, significant=1)
        assert notes["agreement-of-questions"].severity == "info"

    def test_the_nodes_counted_are_those_with_several_causes(self, graph, fitted):
        near = HIGH + np.linspace(-0.1, 0.1, 400)
        questions = {"features": near, "similarity": near[::-1], "position": np.roll(near, 70)}
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
    questions = answered(features=5, similarity=3, position=0)
    note = notes_of(graph, fitted, score=score, questions=questions)["causes-of-highest"]
    assert note.fields == {"top": 20, "counts": {"features": 5, "similarity": 3, "position": 0}}


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
