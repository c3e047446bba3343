"""Tables as Markdown and CSV: their numbers and their layout."""

import csv
import io

import pytest

from egoscore.benchmark.cells import Table
from egoscore.benchmark.results import Facts, Results
from egoscore.benchmark.tables import (
    cost_markdown,
    defects_markdown,
    markdown,
    versions_markdown,
    write_csv,
)

LIMITS = {"seconds": 60.0, "gigabytes": 2.0}
AUCS = {"lof": (0.5, 0.7), "rec": (0.8, 0.4, 0.9), "-degree": (0.7, 0.7, 0.7)}


def record(dataset, method, trial, value):
    metrics = dict.fromkeys(("roc_auc", "average_precision", "recall_at_k"), value)
    cost = {
        "cpu_seconds": 2.0 + trial,
        "start_mb": 200.0,
        "peak_mb": 300.0 + trial,
        "size_correlation": -0.5,
    }
    known = {"dataset": dataset, "method": method, "trial": trial, "status": "ok", "reason": ""}
    return known | metrics | cost


@pytest.fixture
def results(tmp_path):
    found = Results.open(tmp_path / "bench")
    found.note({"disney": Facts(124, 335, 28, 6, "a"), "net_1": Facts(10, 20, 3, 2, "b")}, LIMITS)
    for method, values in AUCS.items():
        found.add([record("disney", method, t, v) for t, v in enumerate(values)])
    bad = {"dataset": "disney", "method": "guide", "status": "OOM", "reason": "x"}
    found.add([bad | {"trial": t} for t in range(3)])
    bad = {"dataset": "disney", "method": "lof", "status": "failed", "reason": "x", "trial": 2}
    found.add([bad, record("net_1", "lof", 0, 0.25)])
    return found


def test_markdown_shows_everything_a_reader_needs(results):
    text = markdown(Table.of(results, "roc_auc"))
    lines = text.splitlines()
    assert "6 outliers among 124" in lines[2]
    assert "spreads by 12.1" in lines[2]
    row = {line.split("|")[1].strip(): line for line in lines[4:]}
    assert "60.0 ± 10.0 (70.0) [1 failed] | 47.9 ± 0.0 (47.9) | -0.50 |" in row["LOF"]
    assert "**70.0** ± 21.6 (90.0) | 65.0 ± 11.2 (79.8)" in row["Rec"]
    assert "**70.0** ± 0.0 (70.0)" in row["-Degree"]  # trivial scores may be best
    assert "3 OOM | 38.8 ± 8.9 (52.5) |" in row["GUIDE"]
    assert len({line.count("|") for line in lines[2:]}) == 1


def test_rows_with_fewer_trials_say_so_and_defects_are_told(results):
    results.add([record("disney", "radar", 0, 0.5)])
    text = markdown(Table.of(results, "roc_auc"))
    assert "50.0 [1 trial]" in text
    assert "- Radar: " in defects_markdown(results)
    assert "DOMINANT" not in defects_markdown(results)  # it was not run


def test_csv_has_all_numbers(results):
    found = list(csv.DictReader(io.StringIO(write_csv(results))))
    assert len(found) == 3 * 5
    lof = next(
        r for r in found if (r["metric"], r["dataset"], r["method"]) == ("roc_auc", "disney", "lof")
    )
    assert float(lof["mean"]) == pytest.approx(60.0)
    assert (lof["published_mean"], lof["failures"], lof["trials"]) == ("47.9", "1 failed", "3")
    guide = next(r for r in found if r["method"] == "guide")
    assert (guide["mean"], guide["failures"]) == ("", "3 OOM")


def test_cost_is_the_mean_time_and_the_largest_memory(results):
    text = cost_markdown(results)
    assert "| gdss | 3.0, 102 |  |" in text


def test_a_table_of_nothing_is_no_error(tmp_path):
    results = Results.open(tmp_path / "bench")
    results.note({"net": Facts(10, 20, 3, 2, "b")}, LIMITS)
    assert "net" in markdown(Table.of(results, "roc_auc")).lower()


def test_a_bar_in_the_name_of_a_folder_begins_no_cell(results):
    results.note({"/data/a|b": Facts(10, 20, 3, 2, "c")}, LIMITS)
    results.add([record("/data/a|b", "lof", 0, 0.25)])
    for text in (markdown(Table.of(results, "roc_auc")), cost_markdown(results)):
        assert len({line.replace(r"\|", "").count("|") for line in text.splitlines()[2:]}) == 1
        assert r"a\|b" in text


def test_packages_that_changed_between_trials_are_named(results):
    assert versions_markdown(results) == ""
    results.versions = [{"torch": "2.13", "numpy": "2.0"}, {"torch": "9.0", "numpy": "2.0"}]
    assert "- torch: 2.13, then 9.0" in versions_markdown(results)
    assert "numpy" not in versions_markdown(results)
