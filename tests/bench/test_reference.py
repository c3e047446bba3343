"""What a random ranking gets: against every ranking of few nodes, and against drawn ones."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import hypergeom

from egoscore.bench.reference import CHANCE, average_precision, recall_at_k
from egoscore.bench.table import TITLES
from egoscore.metrics import evaluate


def test_every_metric_has_its_own():
    assert list(CHANCE) == list(TITLES)


def metrics(num_nodes, places):
    """Of a ranking with outliers at these places."""
    labels = np.zeros(num_nodes, int)
    labels[list(places)] = 1
    return evaluate(labels, -np.arange(num_nodes))


@pytest.mark.parametrize(
    ("num_nodes", "outliers"), [(2, 1), (3, 2), (6, 1), (7, 2), (8, 3), (9, 4), (9, 8), (10, 6)]
)
def test_all_rankings_of_few_nodes_together_give_the_formulas(num_nodes, outliers):
    every = [metrics(num_nodes, places) for places in combinations(range(num_nodes), outliers)]
    for metric, chance in CHANCE.items():
        values = [100 * getattr(one, metric) for one in every]
        expected = chance(num_nodes, outliers)
        assert (expected.mean, expected.std) == pytest.approx((np.mean(values), np.std(values)))


@pytest.mark.parametrize(("num_nodes", "outliers"), [(124, 6), (1418, 28)])
def test_random_scores_on_the_real_sizes_agree(num_nodes, outliers):
    rng, count = np.random.default_rng(0), 400
    drawn = [
        metrics(num_nodes, rng.choice(num_nodes, outliers, replace=False)) for _ in range(count)
    ]
    for metric, chance in CHANCE.items():
        values = np.array([100 * getattr(one, metric) for one in drawn])
        expected = chance(num_nodes, outliers)
        assert values.mean() == pytest.approx(expected.mean, abs=4 * expected.std / count**0.5)
        assert values.std() == pytest.approx(expected.std, rel=0.2)


def test_recall_is_hypergeometric():
    hits = hypergeom(1418, 28, 28)
    expected = recall_at_k(1418, 28)
    assert expected.mean == pytest.approx(100 * hits.mean() / 28)
    assert expected.std == pytest.approx(100 * hits.std() / 28)


def test_millions_of_nodes_lose_no_digits():
    """Where variances are small differences; of a large network the mean is the outliers' share."""
    chance = average_precision(3_700_000, 15_000)
    assert chance.mean == pytest.approx(100 * 15_000 / 3_700_000, rel=0.001)
    assert 0 < chance.std < 0.01
