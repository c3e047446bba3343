"""Metrics: scikit-learn's, and one example done by hand."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, recall_score, roc_auc_score

from egoscore.metrics import auc_interval, evaluate, recall_at_k


def test_an_example_done_by_hand():
    # In falling order of score: outlier, normal, outlier, normal, normal.
    found = evaluate([0, 1, 0, 1, 0], [0.1, 0.9, 0.5, 0.4, 0.2])
    assert found.roc_auc == pytest.approx(5 / 6)  # of six pairs one is in the wrong order
    assert found.average_precision == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert found.recall_at_k == pytest.approx(1 / 2)
    assert (found.num_outliers, found.num_known) == (2, 5)


def test_only_known_labels_count():
    with_unknown = evaluate([0, -1, 1, 0, -1, 1, 0], [0.1, 9, 0.9, 0.5, 0.45, 0.4, 0.2])
    assert with_unknown == evaluate([0, 1, 0, 1, 0], [0.1, 0.9, 0.5, 0.4, 0.2])
    assert evaluate([1, -1, 1], [1.0, 2.0, 3.0]) is None


@given(st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2, max_size=40))
@settings(max_examples=80, deadline=None)
def test_any_ranking_is_measured_as_by_scikit_learn(drawn):
    labels, score = (np.array(column) for column in zip(*drawn, strict=True))
    assume(0 < labels.sum() < len(labels))
    found = evaluate(labels.astype(np.int8), score.astype(np.float64))
    assert found.roc_auc == pytest.approx(roc_auc_score(labels, score))
    assert found.average_precision == pytest.approx(average_precision_score(labels, score))


@given(st.permutations(range(20)), st.integers(1, 19))
@settings(max_examples=50, deadline=None)
def test_recall_at_k_is_the_recall_of_flagging_k_nodes(score, k):
    labels = np.arange(20) < k
    flagged = np.array(score) >= 20 - k
    expected = recall_score(labels, flagged)
    assert recall_at_k(labels.astype(np.int8), np.array(score, dtype=float), k) == expected


def test_of_equal_scores_the_earlier_node_comes_first():
    labels = np.array([1, 1, 0, 0])
    assert recall_at_k(labels, np.zeros(4), 2) == 1.0
    assert recall_at_k(labels, np.array([0.0, 0.0, 0.0, 1.0]), 2) == 0.5


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1]])
def test_where_all_nodes_are_of_one_kind_there_is_nothing_to_measure(labels):
    assert evaluate(labels, [0.1, 0.2, 0.3]) is None


class TestInterval:
    def test_it_is_that_of_resampled_nodes(self):
        random = np.random.default_rng(4)
        labels = (np.arange(300) < 20).astype(np.int8)
        score = random.normal(size=300) + labels
        high, low = score[:20], score[20:]
        found = [
            (random.choice(high, 20)[:, None] > random.choice(low, 280)).mean() for _ in range(4000)
        ]
        assert auc_interval(labels, score, 4000) == pytest.approx(
            tuple(np.quantile(found, (0.025, 0.975))), abs=0.012
        )

    def test_ties_count_half_and_certainty_has_no_width(self):
        labels = np.array([1, 1, 0, 0, 0])
        assert auc_interval(labels, np.zeros(5)) == (0.5, 0.5)
        assert auc_interval(labels, np.array([2.0, 3.0, 1.0, 1.0, 0.0])) == (1.0, 1.0)
