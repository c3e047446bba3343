"""Remarks about a ranking: said when they hold, not otherwise; and no label is needed."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egoscore import AttributedGraph, EgoScore, generate_network
from egoscore.explain.causes import HIGH, causes_of
from egoscore.tell.doubt import remarks


@pytest.fixture(scope="module")
def graph():
    return generate_network(400, seed=1)


@pytest.fixture(scope="module")
def fitted(graph):
    return EgoScore(updates=5, hidden_size=8).fit(graph)


def said(graph, fitted, **changes):
    table = replace(fitted.components_, **changes)
    return "\n".join(remarks(graph, table.score, table, fitted.model_))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_ranking_by_degree_is_called_one(graph, sign):
    score = sign * np.log1p(graph.neighbours.degrees)
    (warning,) = remarks(graph, score)
    assert f"the number of neighbours (rank correlation {sign:+.2f})" in warning
    assert warning.startswith("Careful:")


def test_a_ranking_by_the_size_of_the_features_is_called_one(graph):
    x = graph.features
    usual = (x - x.mean(axis=0)) / x.std(axis=0)
    (warning,) = remarks(graph, np.linalg.norm(usual, axis=1).astype(np.float64))
    assert "the size of the features (rank correlation +1.00)" in warning


def test_a_ranking_by_neither_is_not_warned_of(graph):
    assert remarks(graph, np.random.default_rng(0).random(400)) == []


def test_equal_scores_follow_nothing_and_are_called_equal(graph):
    (warning,) = remarks(graph, np.zeros(400))
    assert warning.startswith("Careful: all scores are equal")
    assert remarks(graph, np.arange(400.0) % 2) == []


def test_few_nodes_are_said_to_be_few():
    small = generate_network(30, seed=2)
    assert remarks(small, np.random.default_rng(1).random(30)) == [
        "Careful: 30 nodes are few to learn from."
    ]


@pytest.mark.parametrize(
    ("count", "words"), [(9, "too few to learn what is"), (10, "few to learn")]
)
def test_a_handful_of_nodes_is_too_few(count, words):
    edges = np.array([range(count - 1), range(1, count)])
    small = AttributedGraph.from_edges(edges, np.random.default_rng(0).random((count, 2)))
    assert f"{count} nodes are {words}" in remarks(small, np.arange(float(count)))[-1]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([[], []], "no two nodes are joined: only"),
        ([[1, 2], [1, 2]], "joined (2 edges from a node to itself left out): only"),
    ],
)
def test_it_is_said_when_no_nodes_are_joined(edges, words):
    values = np.random.default_rng(0).random((250, 2))
    alone = AttributedGraph.from_edges(np.array(edges, dtype=int), values)
    assert words in "\n".join(remarks(alone, np.random.default_rng(1).random(250)))
    joined = AttributedGraph.from_edges([[0], [1]], values)
    assert not any("joined" in one for one in remarks(joined, values[:, 0]))


def answered(**high):
    """Answers of 400 nodes, so many of the first of them high."""
    return {name: np.where(np.arange(400) < count, 4.0, 0.5) for name, count in high.items()}


def test_agreement_is_compared_with_chance(graph, fitted):
    share = np.exp(-3.0)
    expected = 400 * (3 * share**2 * (1 - share) + share**3)
    few = said(graph, fitted, questions=answered(features=30, company=4, place=0))
    assert few.startswith("Careful: the list may be chance. 4 nodes of 400 are among the 5% most")
    assert f"one question; independent questions would give {expected:.1f}, networks" in few
    many = said(graph, fitted, questions=answered(features=30, company=25, place=3))
    assert "25 nodes of 400 are among" in many
    assert "may be chance" not in many


def test_what_is_counted_are_the_causes_of_the_nodes(graph, fitted):
    near = HIGH + np.linspace(-0.1, 0.1, 400)
    questions = {"features": near, "company": near[::-1], "place": np.roll(near, 70)}
    rows = [dict(zip(questions, row, strict=True)) for row in zip(*questions.values(), strict=True)]
    several = sum(len(causes_of(row)) > 1 for row in rows)
    assert 0 < several < 400
    assert f"{several} nodes of 400 are among the 5%" in said(graph, fitted, questions=questions)


def test_it_is_counted_by_which_questions_the_highest_are_high(graph, fitted):
    score = np.arange(400)[::-1].astype(np.float64)
    text = said(graph, fitted, score=score, questions=answered(features=5, company=3, place=0))
    assert "Of the 20 highest, 5 are among the 5% most surprising by features, 3 by comp" in text
    assert "3 by company, 0 by place." in text


def test_it_is_said_when_neighbours_tell_nothing(graph, fitted):
    model = fitted.model_
    context = replace(model.centre.context, variance=np.ones_like(model.centre.context.variance))
    alone = replace(
        model,
        centre=replace(model.centre, context=context),
        next_to=replace(model.next_to, strength=np.zeros_like(model.next_to.strength)),
    )
    table = fitted.components_
    words = "company cannot be judged"
    assert words in "\n".join(remarks(graph, table.score, table, alone))
    assert words not in "\n".join(remarks(graph, table.score, table, model))


def test_what_networks_add_is_said(graph, fitted):
    centre = fitted.model_.centre
    for gate, words in ((0.0, "neural networks add nothing"), (0.5, "counts with weight 0.5")):
        model = replace(fitted.model_, centre=replace(centre, gate=gate))
        table = fitted.components_
        assert words in "\n".join(remarks(graph, table.score, table, model))


def rows_of_the_docs():
    """What the table of remarks in the docs quotes, as patterns."""
    page = Path(__file__).resolve().parents[2] / "docs" / "meaning.md"
    table = page.read_text(encoding="utf-8").split("| it says | what to do |")[1].split("\n\n")[0]
    quoted = re.findall(r"^\| \*(.+?)\*", table, re.MULTILINE)
    return [re.escape(words).replace("…", ".+") for words in quoted]


def alone(count):
    """Remarks about so many nodes, none of them joined."""
    rng = np.random.default_rng(0)
    graph = AttributedGraph.from_edges([[], []], rng.random((count, 2)))
    return remarks(graph, rng.random(count))


def test_every_remark_has_a_row_in_the_docs(graph, fitted):
    questions = answered(features=30, company=4, place=0)
    by_degree = np.log1p(graph.neighbours.degrees)
    usual = said(graph, fitted, questions=questions, score=by_degree).split("\n")
    equal, few, too_few = remarks(graph, np.zeros(400)), alone(30), alone(1)
    assert list(map(len, (usual, equal, few, too_few))) == [4, 1, 2, 2]
    rows = rows_of_the_docs()
    for one in (*usual, *equal, *few, *too_few):
        assert any(re.search(row, one) for row in rows), one


def test_amounts_are_named(graph):
    x = graph.features.copy()
    x[:, 1] = np.exp(3 + 2 * x[:, 1])
    changed = replace(graph, features=x)
    fitted = EgoScore(updates=3).fit(changed)
    said = remarks(changed, fitted.components_.score, fitted.components_, fitted.model_)
    (sentence,) = [one for one in said if "as amounts are" in one]
    assert sentence.endswith(": 'x1'.")
    plain = EgoScore(updates=3).fit(graph)
    said = remarks(graph, plain.components_.score, plain.components_, plain.model_)
    assert not any("as amounts are" in one for one in said)
