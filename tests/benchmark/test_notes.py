"""What is told beside the numbers: which limit a failure hit, here and in the paper."""

import pytest

from egoscore.benchmark.cells import Table
from egoscore.benchmark.notes import COLUMNS, legend, limits, published_limits
from egoscore.benchmark.results import Facts, Results

FACTS = Facts(124, 335, 28, 6, "a")
GOOD = {"roc_auc": 0.5, "size_correlation": 0.0, "cpu_seconds": 1.0, "peak_mb": 1.0}


@pytest.fixture
def results(tmp_path):
    found = Results(tmp_path)
    found.facts = {"disney": FACTS, "books": FACTS}
    return found


def record(method, status, trial=0, dataset="disney", **more):
    known = {"dataset": dataset, "method": method, "trial": trial, "status": status, "reason": ""}
    return known | more


HOUR = {"time_limit": 3600.0, "memory_limit": 16.0}
DAY = {"time_limit": 86_400.0, "memory_limit": 16.0}
SMALL = {"time_limit": 86_400.0, "memory_limit": 1.5}


def test_nothing_is_told_where_nothing_hit_a_limit(results):
    results.add([record("lof", "ok", **HOUR, **GOOD), record("if", "failed", **HOUR)])
    assert limits(results) == ""
    assert legend(Table.of(results, "roc_auc")) == list(COLUMNS)


def test_the_limits_are_those_in_force(results):
    results.add([record("scan", "TLE", trial, **HOUR) for trial in range(3)])
    results.add([record("guide", "TLE", **HOUR), record("radar", "OOM", **HOUR)])
    told = "TLE: more than 3,600 s; OOM: out of memory with a limit of 16 GB."
    assert limits(results) == told
    assert legend(Table.of(results, "roc_auc"))[-1] == told


def test_rows_under_different_limits_are_named(results):
    results.add([record("scan", "TLE", trial, **HOUR) for trial in range(3)])
    results.add([record("guide", "TLE", **DAY), record("guide", "TLE", dataset="books", **DAY)])
    results.add([record("lof", "OOM", **DAY), record("radar", "OOM", **SMALL)])
    assert limits(results) == (
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
        ("TLE", "", "TLE: more than a limit not kept."),
        ("OOM", "killed", "OOM: out of memory with a limit not kept."),
    ],
)
def test_older_records_tell_what_they_know(results, status, reason, told):
    results.add([record("scan", status, reason=reason)])
    assert limits(results) == told


def test_an_older_record_with_the_same_limit_is_no_other_limit(results):
    results.add([record("scan", "TLE", reason="more than 3600 s"), record("if", "TLE", **HOUR)])
    assert limits(results) == "TLE: more than 3,600 s."


def test_failures_in_the_papers_table_are_explained_where_they_are_shown(results):
    results.add([record("lof", "ok", **GOOD)])
    assert published_limits(Table.of(results, "roc_auc")) == ""
    results.facts["dgraph"] = FACTS  # where LOF was published as TLE
    told = "TLE as published: more than 24 hours."
    assert published_limits(Table.of(results, "roc_auc")) == told
    assert legend(Table.of(results, "roc_auc"))[-1] == told
