"""Sentences that the command line and the report share."""

import numpy as np
import pyarrow as pa
import pytest

from egoscore.graph import AttributedGraph
from egoscore.metrics import Evaluation
from egoscore.report.sentences import accuracy, causes, flagged, marks, no_accuracy, summary


def graph(directed=False):
    return AttributedGraph.from_edges([[0], [1]], np.ones((1200, 2)), directed)


def test_the_summary_gives_the_size_of_the_graph():
    assert summary(graph(), "friends") == "friends: 1,200 nodes, 1 undirected edge, 2 features."
    assert "1 directed edge," in summary(graph(directed=True), "friends")


def test_the_name_of_the_source_is_printable():
    assert summary(graph(), "\x1b[2J").isprintable()


@pytest.mark.parametrize(
    ("flag", "significant", "facts"),
    [
        ([1, 1, 0], [1, 0, 0], ("2 of 3 nodes are flagged; 1 is significant",)),
        ([1, 1, 0], [1, 1, 0], ("2 of 3 nodes are flagged; 2 are significant",)),
        ([1, 0, 0], [0, 0, 0], ("1 of 3 nodes is flagged; none is significant",)),
        ([1, 0, 0], [1, 0, 0], ("1 of 3 nodes is flagged; it is significant",)),
        ([1, 0, 0], [0, 1, 0], ("1 of 3 nodes is flagged; 1 is significant",)),
        ([0, 0, 0], None, ("0 of 3 nodes are flagged",)),
        ([0], None, ("0 of 1 node is flagged",)),
    ],
)
def test_flagged_and_significant_nodes_are_counted(flag, significant, facts):
    columns = {} if significant is None else {"significant": significant}
    text = flagged(pa.table({"flag": flag, **columns}))
    assert all(fact in text for fact in facts)
    assert ("significant" in text) == (significant is not None)


def test_the_rule_follows_what_it_explains():
    ranking = pa.table({"flag": [1, 1, 0], "significant": [0, 0, 0]})
    assert "are flagged (score above 7); none is" in flagged(ranking, "score above 7")


@pytest.mark.parametrize(
    ("count", "here"), [(0, "here none is"), (1, "here 1 is"), (2, "here 2 are")]
)
def test_the_marks_are_explained_with_their_error_rate(count, here):
    table = pa.table({"significant": [1] * count + [0] * 5})
    assert here in marks(table, 0.05)
    assert "5%" in marks(table, 0.05)
    assert "ignificant" not in marks(pa.table({"flag": [1]}), 0.05)


def test_accuracy_is_given_next_to_that_of_a_random_score():
    text = accuracy(Evaluation(0.876, 0.5, 0.25, 4, 200), 200)
    for fact in ("Known outliers: 4", "87.6% (random: 50%)", "50.0% (random: 2.0%)", "recall@4"):
        assert fact in text
    partly = accuracy(Evaluation(0.876, 0.5, 0.25, 4, 50), 200)
    assert "50 of 200 labels" in partly
    assert "50.0% (random: 8.0%)" in partly


@pytest.mark.parametrize(("nodes", "fact"), [(500, "above 95"), (21, "95"), (10, "above 90")])
def test_the_least_number_of_a_cause_is_given(nodes, fact):
    assert fact in causes(nodes)


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([-1, 1, -1, 1], ("2 of 4 labels are", "outliers")),
        ([-1, 0, -1, -1], ("1 of 4 labels is", "normal")),
        ([-1, -1], ("No label",)),
    ],
)
def test_labels_of_one_kind_are_counted(labels, found):
    sentence = no_accuracy(np.array(labels, dtype=np.int8))
    assert all(text in sentence for text in found)
