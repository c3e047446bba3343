"""Words: whatever a value holds, it is one line of harmless text."""

import re

import numpy as np
import pyarrow as pa
import pytest

from egoscore.explain.causes import RETURNED
from egoscore.graph import AttributedGraph
from egoscore.settings import PRESETS
from egoscore.surprise.calibrate import BODY
from egoscore.surprise.model import QUESTIONS as ASKED
from egoscore.tell.metrics import Evaluation
from egoscore.tell.words import (
    MEANINGS,
    QUESTIONS,
    accuracy,
    marks,
    meaning,
    significance,
    summary,
    threshold_rule,
    verdict,
)


def network(edges, directed=False):
    return AttributedGraph.from_edges(edges, np.ones((1200, 2)), directed)


def test_the_summary_says_what_a_network_is():
    assert summary(network([[0], [1]]), "friends") == [
        "friends: 1,200 nodes, 1 undirected edge, 2 features."
    ]
    assert "1 directed edge," in summary(network([[0], [1]], directed=True), "friends")[0]


def test_the_summary_says_what_was_left_out():
    edges = np.array([[0, 0, 0, 3, 4], [1, 1, 1, 3, 4]])
    lines = summary(network(edges), "friends")
    assert lines[1:] == ["Left out: 2 self-loops.", "Left out: 2 repeated edges."]


def test_where_weights_count_all_the_same_that_is_said():
    """An edge that is listed twice is one edge, and both of its weights are in the totals."""
    edges = {"source": ["a", "a", "b", "c"], "target": ["b", "b", "c", "c"], "paid": [1, 2, 4, 8]}
    graph = AttributedGraph.from_tables(edges, weight="paid")
    assert graph.features[:, 0].tolist() == [3.0, 7.0, 12.0]  # the totals of a, b and c
    assert summary(graph, "payments")[1:] == [
        "Left out as edges, counted in the weights 'paid': 1 self-loop.",
        "Left out as edges, counted in the weights 'paid': 1 repeated edge.",
    ]
    without = AttributedGraph.from_tables(edges)
    assert summary(without, "payments")[1:] == [
        "Left out: 1 self-loop.",
        "Left out: 1 repeated edge.",
    ]


@pytest.mark.parametrize(
    ("flag", "significant", "words"),
    [
        ([1, 1, 0], [1, 0, 0], "2 of 3 nodes are flagged, 1 marked as significant."),
        ([1, 0, 0], [0, 0, 0], "1 of 3 nodes is flagged, none marked as significant."),
        ([0, 0, 0], None, "0 of 3 nodes are flagged."),
        ([0], None, "0 of 1 node is flagged."),
    ],
)
def test_the_verdict_says_how_many_and_that_nobody_is_found_guilty(flag, significant, words):
    marks = {} if significant is None else {"significant": significant}
    said = verdict(pa.table({"flag": flag, **marks}))
    assert said.startswith(words)
    assert "Unusual is not guilty" in said


def test_the_name_of_the_source_is_made_harmless():
    assert "\x1b" not in summary(network([[0], [1]]), "\x1b[2J")[0]


def test_the_meaning_of_a_score_is_not_overstated():
    assert set(MEANINGS) == {*PRESETS, "structure"}
    assert "as many neighbours" in meaning("default", 12345)
    assert "three questions" in meaning("default", 12345)
    two = meaning("default", 12345, ("features", "place"))
    assert "two questions" in two
    assert "company" not in two
    assert "as many neighbours" not in meaning("default", 12345, ("place",))
    assert meaning("paper", 12345, ()) == meaning("paper", 12345)
    assert all("12,345 nodes" in meaning(preset, 12345) for preset in PRESETS)
    assert "not comparable between networks" in meaning("paper", 12345)


@pytest.mark.parametrize("asked", [("features", "company", "place"), ("place",)])
def test_the_rarities_it_names_are_those_of_the_score(asked):
    said = meaning("default", 12345, asked)
    named = re.findall(r"at ([\d.]+) about 1 in ([\d,]+)", said)
    assert len(named) == 3
    for score, often in named:
        assert np.exp(float(score)) == pytest.approx(float(often.replace(",", "")), rel=0.1)


def test_from_where_on_a_rarity_is_an_estimate_is_what_calibration_does():
    assert f"beyond 1 in {1 / (1 - BODY):g} that is estimated" in meaning("default", 12345)


def test_every_question_of_a_preset_is_put_in_words():
    assert set(QUESTIONS["default"]) == set(ASKED)
    assert set(QUESTIONS["paper"]) == set(RETURNED)


@pytest.mark.parametrize(("count", "here"), [(0, "no node here"), (1, "1 node here"), (2, "2 nodes here")])  # fmt: skip # noqa: E501
def test_marks_say_how_many_and_how_many_of_them_are_wrong(count, here):
    table = pa.table({"significant": [1] * count + [0] * 5})
    assert marks(table, 0.05).startswith(f"Significant ({here}): ")
    assert "only about 5% of" in marks(table, 0.05)
    assert marks(pa.table({"flag": [1]}), 0.05) == "Flagged: the score is above the threshold."


def test_accuracy_is_told_beside_that_of_a_random_score():
    assert accuracy(Evaluation(0.876, 0.5, 0.25, 4), 200) == (
        "Known outliers: 4. ROC-AUC 87.6% (a random score: 50%), average precision 50.0% (random: "
        "2.0%), recall@4 25.0% (random: 2.0%)."
    )


def test_the_rule_of_the_threshold_says_whether_it_is_a_finding_or_a_choice():
    automatic, chosen = threshold_rule("auto", 7.123456), threshold_rule(0.05, 1.5)
    assert automatic.startswith("Flagged are scores above 7.123: ")
    assert "never more than a quarter" in automatic
    assert threshold_rule(0.05, 1234.5).startswith("Flagged are scores above 1,234, so")
    assert chosen == (
        "Flagged are scores above 1.5, so that a share of 0.05 is: a choice, not a finding."
    )


def test_significance_says_how_many_and_how_far_to_trust_it():
    def marked(count):
        return pa.table({"significant": [1] * count + [0] * (1500 - count)})

    assert significance(marked(0), 0.1).startswith("No node is marked as significant")
    assert significance(marked(1), 0.1).startswith("1 node of 1,500 marked")
    assert "about 5% of such marks are wrong" in significance(marked(2), 0.05)
