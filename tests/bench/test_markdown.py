"""Tables as Markdown and CSV: their numbers and their layout."""

import csv
import io

import pytest

from egoscore.bench.markdown import (
    cost_markdown,
    defects_markdown,
    legend_markdown,
    markdown,
    versions_markdown,
    write_csv,
)
from egoscore.bench.results import Facts, Results
from egoscore.bench.table import COLUMNS, Table, limits, published_limits

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
    found.register(
        {"disney": Facts(124, 335, 28, 6, "a"), "net_1": Facts(10, 20, 3, 2, "b")}, LIMITS
    )
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
    disney = "Disney (6 outliers among 124; 3 trials; a random score gets 50.0 ± 12.1)"
    assert f"| {disney} | published | size | net_1 (2 outliers among 10; 1 trial; " in lines[2]
    row = {line.split("|")[1].strip(): line for line in lines[4:]}
    assert "60.0 ± 10.0 (70.0) [1 failed] | 47.9 ± 0.0 (47.9) | -0.50 |" in row["LOF"]
    assert "**70.0** ± 21.6 (90.0) | 65.0 ± 11.2 (79.8)" in row["Rec"]
    assert "**70.0** ± 0.0 (70.0)" in row["-Degree"]  # trivial scores may be best
    assert "3 OOM | 38.8 ± 8.9 (52.5) |" in row["GUIDE"]
    assert len({line.count("|") for line in lines[2:]}) == 1


@pytest.mark.parametrize(
    ("metric", "chance"), [("average_precision", "8.2 ± 5.3"), ("recall_at_k", "4.8 ± 8.6")]
)
def test_chance_is_told_of_the_metric_at_hand(results, metric, chance):
    assert f"a random score gets {chance})" in markdown(Table.of(results, metric))
    found = csv.DictReader(io.StringIO(write_csv(results)))
    line = next(r for r in found if (r["metric"], r["dataset"]) == (metric, "disney"))
    spread = f"{float(line['random_mean']):.1f} ± {float(line['random_spread']):.1f}"
    assert spread == chance


def test_what_the_columns_mean_is_told_above(results):
    text = legend_markdown(results)
    assert text.count("\n") == 1
    assert "size: rank correlation of a score with the size of the ego-graph." in text
    assert "OOM: out of memory with an unrecorded limit." in text


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
    results.add([record("disney", "energy", 0, 0.5), record("net_1", "energy", 0, 0.5)])
    results.add([record("disney", row, 0, 0.5) for row in ("degree", "random", "clustering")])
    title, _, job, _, *table = cost_markdown(results).splitlines()
    assert title.startswith("**CPU seconds")
    assert job.startswith("A line is a job: ")
    assert table[2:] == [
        "| Trivial scores: Random … Clustering (4 rows) | 2.0, 100 |  |",
        "| LOF | 2.5, 101 | 2.0, 100 |",
        "| GUIDE | 3 OOM |  |",
        "| GDSS: Rec; Energy | 3.0, 102 | 2.0, 100 |",  # there Energy's, as Rec was not run
    ]


def test_a_table_of_nothing_is_no_error(tmp_path):
    results = Results.open(tmp_path / "bench")
    results.register({"net": Facts(10, 20, 3, 2, "b")}, LIMITS)
    assert "net" in markdown(Table.of(results, "roc_auc")).lower()


def test_a_bar_in_the_name_of_a_folder_begins_no_cell(results):
    results.register({"/data/a|b": Facts(10, 20, 3, 2, "c")}, LIMITS)
    results.add([record("/data/a|b", "lof", 0, 0.25)])
    for text in (markdown(Table.of(results, "roc_auc")), cost_markdown(results)):
        assert (
            len(
                {
                    line.replace(r"\|", "").count("|")
                    for line in text.splitlines()
                    if line[:1] == "|"
                }
            )
            == 1
        )
        assert r"a\|b" in text


def test_packages_that_changed_between_trials_are_named(results):
    assert versions_markdown(results) == ""
    results.versions = [{"torch": "2.13", "numpy": "2.0"}, {"torch": "9.0", "numpy": "2.0"}]
    assert "- torch: 2.13, then 9.0" in versions_markdown(results)
    assert "numpy" not in versions_markdown(results)


FACTS = Facts(124, 335, 28, 6, "a")
GOOD = {"roc_auc": 0.5, "size_correlation": 0.0, "cpu_seconds": 1.0, "peak_mb": 1.0}


@pytest.fixture
def noted(tmp_path):
    found = Results(tmp_path)
    found.facts = {"disney": FACTS, "books": FACTS}
    return found


def trial_of(method, status, trial=0, dataset="disney", **more):
    known = {"dataset": dataset, "method": method, "trial": trial, "status": status, "reason": ""}
    return known | more


HOUR = {"time_limit": 3600.0, "memory_limit": 16.0}
DAY = {"time_limit": 86_400.0, "memory_limit": 16.0}
SMALL = {"time_limit": 86_400.0, "memory_limit": 1.5}


def test_nothing_is_told_where_nothing_hit_a_limit(noted):
    noted.add([trial_of("lof", "ok", **HOUR, **GOOD), trial_of("if", "failed", **HOUR)])
    assert limits(noted) == ""
    assert Table.of(noted, "roc_auc").legend() == list(COLUMNS)


def test_the_limits_are_those_in_force(noted):
    noted.add([trial_of("scan", "TLE", trial, **HOUR) for trial in range(3)])
    noted.add([trial_of("guide", "TLE", **HOUR), trial_of("radar", "OOM", **HOUR)])
    told = "TLE: more than 3,600 s; OOM: out of memory with a limit of 16 GB."
    assert limits(noted) == told
    assert Table.of(noted, "roc_auc").legend()[-1] == told


def test_rows_under_different_limits_are_named(noted):
    noted.add([trial_of("scan", "TLE", trial, **HOUR) for trial in range(3)])
    noted.add(
        [
            trial_of("guide", "TLE", **DAY),
            trial_of("guide", "TLE", dataset="books", **DAY),
        ]
    )
    noted.add([trial_of("lof", "OOM", **DAY), trial_of("radar", "OOM", **SMALL)])
    assert limits(noted) == (
        "TLE: more than 3,600 s (SCAN on Disney), "
        "more than 86,400 s (GUIDE on Disney, GUIDE on Books); "
        "OOM: out of memory with a limit of 16 GB (LOF on Disney), "
        "out of memory with a limit of 1.5 GB (Radar on Disney)."
    )


@pytest.mark.parametrize(
    ("status", "reason", "told"),
    [
        ("TLE", "more than 3600 s", "TLE: more than 3,600 s."),
        (
            "TLE",
            "not run: trial 0 hit the limit (more than 86400 s)",
            "TLE: more than 86,400 s.",
        ),
        ("TLE", "", "TLE: more than an unrecorded limit."),
        ("OOM", "killed", "OOM: out of memory with an unrecorded limit."),
    ],
)
def test_older_records_tell_what_they_know(noted, status, reason, told):
    noted.add([trial_of("scan", status, reason=reason)])
    assert limits(noted) == told


def test_an_older_record_with_the_same_limit_is_no_other_limit(noted):
    noted.add(
        [
            trial_of("scan", "TLE", reason="more than 3600 s"),
            trial_of("if", "TLE", **HOUR),
        ]
    )
    assert limits(noted) == "TLE: more than 3,600 s."


def test_failures_in_the_papers_table_are_explained_where_they_are_shown(noted):
    noted.add([trial_of("lof", "ok", **GOOD)])
    assert published_limits(Table.of(noted, "roc_auc")) == ""
    noted.facts["dgraph"] = FACTS  # where LOF was published as TLE
    told = "TLE as published: more than 24 hours."
    assert published_limits(Table.of(noted, "roc_auc")) == told
    assert Table.of(noted, "roc_auc").legend()[-1] == told
