"""Published values, spot-checked against the paper's tables."""

from collections import Counter

from egoscore.benchmark.methods import rows
from egoscore.benchmark.published import Published, published


def test_values_of_the_papers_tables():
    known = published()
    assert known["roc_auc", "rec", "disney"] == Published(65.0, 11.2, 79.8)
    assert known["roc_auc", "energy-unweighted", "enron"] == Published(35.5, 5.0, 46.9)
    assert known["roc_auc", "radar", "weibo"] == Published(98.9, 0.1, 99.0)
    assert known["average_precision", "conad", "dgraph"] == Published(0.9, 0.0, 0.9)
    assert known["recall_at_k", "scan", "disney"] == Published(7.5, 11.2, 33.3)
    assert known["roc_auc", "lof", "dgraph"] == Published(failure="TLE")
    assert known["recall_at_k", "guide", "weibo"] == Published(failure="OOM")


def test_every_metric_has_eighteen_methods_on_six_networks():
    assert Counter(metric for metric, _, _ in published()) == dict.fromkeys(
        ("roc_auc", "average_precision", "recall_at_k"), 18 * 6
    )


def test_every_published_method_is_a_row():
    assert {method for _, method, _ in published()} <= set(rows())
