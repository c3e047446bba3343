"""Cells against numpy, and what a table makes of them."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from egoscore.bench.methods import methods
from egoscore.bench.reference import Published, published
from egoscore.bench.results import Facts, Results
from egoscore.bench.table import Cell, Table, display_name

FACTS = Facts(124, 335, 28, 6, "a")


def trial(number, auc, **more):
    """What a trial that succeeded leaves; every metric has numbers of its own."""
    known = {"dataset": "disney", "method": "lof", "trial": number, "status": "ok"}
    metrics = {"roc_auc": auc, "average_precision": auc / 2, "recall_at_k": auc / 4}
    cost = {"size_correlation": auc - 0.5, "cpu_seconds": 2.0 + number}
    memory = {"start_mb": 200.0 + number, "peak_mb": 300.0 - number}
    return known | metrics | cost | memory | more


def bad(number, status, **more):
    known = {"dataset": "disney", "method": "lof", "trial": number, "status": status}
    return known | {"reason": "x"} | more


def table_of(cells, datasets=("disney",)):
    """A table that knows these cells, by row and network."""
    results = Results(Path())
    results.facts = dict.fromkeys(datasets, FACTS)
    filled = tuple(dict.fromkeys(row for row, _ in cells))
    return Table("roc_auc", datasets, filled, cells, results)


@pytest.mark.parametrize(
    ("metric", "factor"), [("roc_auc", 1), ("average_precision", 0.5), ("recall_at_k", 0.25)]
)
def test_a_cell_sums_up_the_trials_that_ended_well(metric, factor):
    aucs = np.array([0.8, 0.4, 0.9])
    records = [trial(number, auc) for number, auc in enumerate(aucs)]
    cell = Cell.of([bad(3, "failed"), *records, bad(4, "OOM"), bad(5, "failed")], metric)
    percent = 100 * factor * aucs
    assert (cell.mean, cell.std) == pytest.approx((percent.mean(), percent.std()))
    assert cell.largest == pytest.approx(percent.max())
    assert cell.size_correlation == pytest.approx((aucs - 0.5).mean())
    assert cell.cpu_seconds == pytest.approx(3.0)
    assert cell.memory_mb == 100.0  # of the first trial, above what it started with
    assert (cell.trials, cell.failed) == (6, "1 OOM, 2 failed")


def test_memory_is_the_peak_where_nobody_knows_the_start():
    record = trial(0, 0.5)
    del record["start_mb"]
    assert Cell.of([record], "roc_auc").memory_mb == 300.0


def test_a_cell_of_failures_has_no_numbers():
    cell = Cell.of([bad(0, "TLE"), bad(1, "TLE")], "roc_auc")
    numbers = (cell.mean, cell.std, cell.largest, cell.size_correlation, cell.cpu_seconds)
    assert np.isnan([*numbers, cell.memory_mb]).all()
    assert not cell.known
    assert (cell.trials, cell.failed) == (2, "2 TLE")


@pytest.mark.parametrize(("good", "failures"), [(0, 3), (1, 0), (1, 3), (2, 0), (2, 3)])
def test_only_trials_that_ended_well_repeat_each_other(good, failures):
    records = [trial(number, 0.5) for number in range(good)]
    cell = Cell.of(records + [bad(good + i, "OOM") for i in range(failures)], "roc_auc")
    assert cell.repeated == (good >= 2)
    assert cell.known == (good >= 1)


def test_a_table_has_what_was_run_in_the_order_of_the_methods(tmp_path):
    results = Results(tmp_path)
    results.facts = {"net": FACTS, "disney": FACTS}
    results.add([trial(0, 0.6, method=row) for row in ("rec", "lof", "degree")])
    results.add([trial(0, 0.7, dataset="net"), trial(1, 0.9, dataset="net")])
    table = Table.of(results, "average_precision")
    assert table.datasets == ("net", "disney")
    assert table.rows == tuple(row for row in methods() if row in {"rec", "lof", "degree"})
    filled = [("degree", "disney"), ("lof", "net"), ("lof", "disney"), ("rec", "disney")]
    assert list(table.cells) == filled
    assert table.cells["lof", "net"].mean == pytest.approx(40.0)
    assert table.cells["lof", "disney"].mean == pytest.approx(30.0)


def test_the_best_is_the_largest_on_its_network_as_it_is_printed():
    cells = {
        ("scan", "disney"): Cell.of([bad(0, "OOM")], "roc_auc"),
        ("lof", "disney"): Cell.of([trial(0, 0.5), trial(1, 0.90042)], "roc_auc"),
        ("if", "disney"): Cell.of([trial(0, 0.70043)], "roc_auc"),
        ("lof", "net"): Cell.of([trial(0, 0.95)], "roc_auc"),
        ("scan", "books"): Cell.of([bad(0, "OOM")], "roc_auc"),
    }
    table = table_of(cells, ("disney", "net", "books"))
    assert table.best("disney", lambda cell: cell.mean) == 70.0
    assert table.best("disney", lambda cell: cell.largest) == 90.0
    assert table.best("net", lambda cell: cell.mean) == 95.0
    assert np.isnan(table.best("books", lambda cell: cell.mean))
    assert table.is_best("lof", "disney")  # 70.02 and 70.04 are both printed as 70.0
    assert table.is_best("if", "disney")
    assert not table.is_best("scan", "disney")
    assert not table.is_best("scan", "books")
    assert not table.is_best("if", "net")  # not run


def test_a_note_tells_of_trials_that_are_missing_or_failed():
    full = [trial(number, 0.5) for number in range(3)]
    expected = {
        "lof": (full, ""),
        "if": (full[:1], "1 trial"),
        "scan": (full[:2], "2 trials"),
        "radar": ([*full[:2], bad(2, "OOM")], "1 OOM"),
        "rec": ([trial(0, 0.5), bad(1, "failed")], "2 trials; 1 failed"),
    }
    cells = {(row, "disney"): Cell.of(given, "roc_auc") for row, (given, _) in expected.items()}
    more = Cell.of([*full, trial(3, 0.5)], "roc_auc")
    table = table_of(cells | {("lof", "net"): more}, ("disney", "net"))  # nobody else's business
    for row, (_, text) in expected.items():
        assert table.note(table.cells[row, "disney"], "disney") == text
    assert [table.most_trials(name) for name in ("disney", "net", "books")] == [3, 4, 0]


def test_groups_are_the_rows_family_by_family():
    cell = Cell.of([trial(0, 0.5)], "roc_auc")
    names = ("degree", "lof", "rec", "random", "energy")
    groups = list(table_of(dict.fromkeys(((name, "disney") for name in names), cell)).groups())
    assert groups == [("degree", "random"), ("lof",), ("rec", "energy")]


def test_published_values_are_those_of_the_metric_the_row_and_the_network():
    table = table_of({}, ("disney", "net"))
    assert table.published("rec", "disney") == Published(65.0, 11.2, 79.8)
    assert table.published("lof", "disney") == Published(47.9, 0.0, 47.9)
    assert table.published("lof", "net") is None
    assert table.published("degree", "disney") is None


@pytest.mark.parametrize(
    ("dataset", "name"),
    [("books", "Books"), ("./books", "books"), ("/data/my.Net/", "my.Net"), ("net_1", "net_1")],
)
def test_data_sets_have_a_capital_and_folders_their_own_name(dataset, name):
    assert display_name(dataset) == name


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
    assert {method for _, method, _ in published()} <= set(methods())
