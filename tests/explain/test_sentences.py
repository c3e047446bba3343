"""Where a node stands, what it is called, and the sentence about it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph
from egoscore.explain.explainer import Explainer
from egoscore.explain.explanation import (
    Deviation,
    Explanation,
    Picture,
    Reasons,
    causes_of,
    far_by_itself,
)
from egoscore.explain.sentences import Scores, explanation


def network(size, ids=None):
    return AttributedGraph.from_edges([[], []], np.ones((size, 1)), ids=ids)


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class TestStanding:
    @given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30))
    @settings(max_examples=80, deadline=None)
    def test_it_is_what_counting_gives(self, scores):
        size, p_value = len(scores), np.linspace(0, 1, len(scores))
        order = sorted(range(size), key=lambda number: (-scores[number], number))
        found = Scores(np.array(scores), p_value, 2.0)
        for number, score in enumerate(scores):
            assert found.standing(number) == {
                "score": score,
                "rank": 1 + order.index(number),
                "num_nodes": size,
                "percentile": pytest.approx(100 * sum(one < score for one in scores) / size),
                "p_value": p_value[number],
                "flag": score > 2.0,
            }

    def test_its_parts_are_plain(self):
        score = np.array([1.0, 2.0])
        found = Scores(score, np.exp(-score), 1.5).standing(0)
        kinds = {name: type(value) for name, value in found.items()}
        assert kinds == {
            **dict.fromkeys(("score", "percentile", "p_value"), float),
            **{"rank": int, "num_nodes": int, "flag": bool},
        }


class OneForAll(Explainer):
    """Gives the same reasons for every node; phrases are the causes in brackets."""

    proviso = ", as far as we know"

    def __init__(self, **questions):
        picture = Picture(("n",), (), (), "x", (0.0,), (0.0,))
        causes = causes_of(questions)
        self.found = Reasons(
            3, questions, causes, (), (), (), (), (), (), 1.0, 0.5, (), "9 nodes", picture
        )

    def reasons(self, node):
        return self.found

    def phrase(self, cause, reasons):
        assert reasons is self.found
        return f"[{cause}]"

    def in_short(self, cause, reasons):
        assert reasons is self.found
        return f"{cause} is off"


GRAPH = network(1234, [f"n{number}" for number in range(1234)])


def explained(explainer, p_value=0.001, row=1233, next_one=1.0):
    score, rarity = np.arange(1234.0), np.full(1234, next_one)
    rarity[row] = p_value
    return explanation(row, GRAPH, Scores(score, rarity, 1000.0), explainer)


class TestExplanation:
    def test_strong_answers_are_the_causes(self):
        assert explained(OneForAll(a=9.0, b=3.1, c=3.0)).causes == ("a", "b")

    @pytest.mark.parametrize("strength", [9.0, 1.0])
    def test_the_strongest_is_told_in_a_few_words(self, strength):
        assert explained(OneForAll(a=strength, b=0.5)).reason == "a is off"

    def test_the_sentence_has_the_rank_and_at_most_two_causes(self):
        found = explained(OneForAll(a=9.0, b=8.0, c=7.0))
        assert found.causes == ("a", "b", "c")
        assert found.summary.startswith("n1233 ranks 1 of 1,234 nodes")
        assert found.summary.endswith("[a]. [b].")

    @pytest.mark.parametrize("p_value", [0.001, 1 / 1234, 0.5, 0.7, 1.0])
    def test_a_p_value_that_says_less_than_the_rank_is_left_out(self, p_value):
        assert "rarer" not in explained(OneForAll(a=9.0), p_value).summary

    @pytest.mark.parametrize(("next_one", "is_said"), [(1e-9, False), (1.9e-9, False), (3e-9, True)])  # fmt: skip # noqa: E501
    def test_of_several_equally_rare_nodes_none_is_called_rarer_than_its_rank(
        self, next_one, is_said
    ):
        summary = explained(OneForAll(a=9.0), 1e-9, next_one=next_one).summary
        assert ("rarer than" in summary) == is_said

    def test_a_node_that_is_rare_only_by_all_questions_together_has_no_cause(self):
        found = explained(OneForAll(a=2.9, b=2.8), p_value=0.01)
        assert found.causes == ()
        assert "together" in found.summary
        assert found.summary.endswith("[a].")

    def test_a_node_that_does_not_stand_out_is_not_called_rare(self):
        """Of three nodes the first may be rarer than 1 in 3, which is nothing."""
        three = Scores(np.array([0.0, 0.5, 1.2]), np.array([1.0, 0.8, 0.3]), 9.0)
        summary = explanation(2, network(3), three, OneForAll(a=1.0)).summary
        assert "rarer" not in summary
        assert "othing stands out" in summary

    def test_without_a_strong_answer_there_is_no_cause(self):
        found = explained(OneForAll(a=1.0, b=0.5), p_value=0.4)
        assert found.causes == ()
        assert "othing stands out" in found.summary
        assert found.summary.endswith("[a].")

    @pytest.mark.parametrize("p_value", [0.0, 1 / 1235])
    def test_a_p_value_below_one_in_all_nodes_is_not_given_as_a_number(self, p_value):
        summary = explained(OneForAll(a=9.0), p_value).summary
        assert "rarer than 1 in 1,234, as far as we know" in summary

    def test_all_reasons_are_in_the_explanation(self):
        explainer = OneForAll(a=9.0)
        found = explained(explainer)
        assert isinstance(found, Explanation)
        assert (found.node, found.rank, found.score, found.flag) == ("n1233", 1, 1233.0, True)
        for name, value in vars(explainer.found).items():
            assert getattr(found, name) is value, name


def test_a_single_extreme_quantity():
    far = Deviation("salary", "$125,000", "$1,250", 17.0)
    asked = {"features": 1.0}
    for found, questions, expected in (
        (far, asked, far),
        (far, {"position": 1.0}, None),
        (replace(far, size=-6.9), asked, None),
    ):
        reasons = SimpleNamespace(features=(found,), structure=(), questions=questions)
        assert far_by_itself(reasons) is expected


@pytest.mark.parametrize(
    ("row", "p_value", "is_named", "is_ordinary"),
    [
        (7, 0.4, True, True),
        (1233, 0.4, True, False),  # it is flagged
        (1233, 0.01, False, False),  # rare by all questions together
    ],
)
def test_an_extreme_quantity_of_an_ordinary_node_is_named(row, p_value, is_named, is_ordinary):
    explainer = OneForAll(features=1.0, place=0.5)
    far = Deviation("salary", "$125,000", "$1,250", 17.0)
    explainer.found = replace(explainer.found, features=(far,))
    summary = explained(explainer, p_value, row).summary
    assert ("salary is $125,000" in summary) == is_named
    assert ("ordinary overall" in summary) == is_ordinary
