"""What was learned, why a node moved, and warnings."""

import numpy as np
import pytest

from egoscore import AttributedGraph
from egoscore.detectors.inputs import InputBlock
from egoscore.graph.feature_column import FeatureColumn
from egoscore.review.lessons import contributions, directions, lessons
from egoscore.review.teacher import Teacher

SIZE = 400
DRAW = np.random.default_rng(0)
VALUES = DRAW.normal(size=(SIZE, 3)).astype(np.float32)
COLUMNS = tuple(FeatureColumn(name) for name in ("age", "amount", "visits"))


@pytest.fixture(scope="module")
def teacher():
    graph = AttributedGraph.from_edges(DRAW.integers(0, SIZE, (2, 900)), VALUES)
    return Teacher.of(graph, DRAW.normal(size=SIZE), [InputBlock("own", COLUMNS, VALUES)])


def verdicts(is_abnormal, count=80):
    return {row: "abnormal" if is_abnormal[row] else "normal" for row in range(count)}


def codes(notes):
    return [note.code for note in notes]


def test_a_low_value_is_pointed_to(teacher):
    taught = teacher.learn(verdicts(VALUES[:, 0] < -0.3))
    first = directions(taught)[0]
    assert (first.quantity, first.part, first.is_high) == ("age", "value", False)
    assert first.size > 0


def test_an_unusual_value_is_pointed_to(teacher):
    taught = teacher.learn(verdicts(np.abs(VALUES[:, 1]) > 1.0))
    first = directions(taught)[0]
    assert (first.quantity, first.part, first.is_high) == ("amount", "extreme", True)


def test_neighbours_are_pointed_to(teacher):
    links = teacher.graph.neighbours.to_scipy()
    means = (links @ VALUES[:, 2]) / np.maximum(teacher.graph.neighbours.degrees, 1)
    first = directions(teacher.learn(verdicts(means > 0.2)))[0]
    assert (first.quantity, first.part, first.is_high) == ("visits", "neighbours", True)


def test_contributions_are_parts_of_the_change(teacher):
    taught = teacher.learn(verdicts(VALUES[:, 0] < -0.3))
    row = int(np.argmin(VALUES[:, 0]))
    first = contributions(taught, teacher.inputs, row)[0]
    assert (first.quantity, first.is_high) == ("age", False)
    own = taught.unit * taught.posterior.weights * teacher.inputs.rows(np.array([row]))[0]
    change = taught.updated[row] - teacher.score[row]
    np.testing.assert_allclose(own.sum(), change, atol=1e-5)
    assert np.isclose(own, first.size).any()


def test_probabilities_follow_the_scores(teacher):
    taught = teacher.learn(verdicts(VALUES[:, 0] < -0.3))
    found = taught.probability(taught.updated)
    np.testing.assert_allclose(found[:80], taught.posterior.probability, atol=1e-5)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({}, ["verdicts-counted", "verdicts-one-kind"]),
        ({1: "unsure"}, ["verdicts-counted", "verdicts-one-kind"]),
        ({1: "abnormal"}, ["verdicts-counted", "verdicts-point-to", "verdicts-one-kind"]),
        ({1: "normal", 9: "abnormal"}, ["verdicts-counted", "verdicts-point-to", "verdicts-few"]),
    ],
)
def test_few_verdicts_say_little(teacher, kinds, expected):
    assert codes(lessons(teacher.learn(kinds), teacher.inputs)) == expected


def test_enough_verdicts_have_no_warning(teacher):
    taught = teacher.learn(verdicts(VALUES[:, 0] < -0.3))
    assert not [n for n in lessons(taught, teacher.inputs) if n.code == "verdicts-few"]


def test_opposite_verdicts_on_alike_nodes_are_a_contradiction():
    values = np.repeat(VALUES[:200], 2, axis=0)  # every node twice
    graph = AttributedGraph.from_edges(np.zeros((2, 0), dtype=int), values)
    teacher = Teacher.of(graph, np.zeros(400), [InputBlock("own", COLUMNS, values)])
    taught = teacher.learn({0: "abnormal", 1: "normal", 10: "abnormal", 30: "normal"})
    note = next(n for n in lessons(taught, teacher.inputs) if n.code == "verdicts-contradict")
    assert note.fields["pairs"][0] == ["0", "1"]
    assert note.severity == "warning"


def test_a_verdict_that_does_not_fit_the_others_is_named(teacher):
    is_abnormal = VALUES[:, 0] < -0.3
    wrong = int(np.argmax(VALUES[:80, 0]))
    is_abnormal[wrong] = True
    found = lessons(teacher.learn(verdicts(is_abnormal)), teacher.inputs)
    note = next(n for n in found if n.code == "verdicts-unexpected")
    assert [str(wrong), "abnormal"] in note.fields["nodes"]
