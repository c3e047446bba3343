"""`egoscore bench`: what is run, written, printed and drawn, and in which order."""

import csv
import re
from pathlib import Path

import pytest

from egoscore.bench import command
from egoscore.bench.command import (
    print_methods,
    run_and_report,
    show_legend,
    show_table,
    write_tables,
)
from egoscore.bench.methods import methods
from egoscore.bench.results import Facts, Results
from egoscore.bench.runner import Benchmark
from egoscore.bench.table import TITLES, Table
from egoscore.errors import RunError

METRICS = {"roc_auc": 0.75, "average_precision": 0.5, "recall_at_k": 0.25}


def record(dataset, method, number):
    known = {"dataset": dataset, "method": method, "trial": number, "status": "ok"}
    cost = {"size_correlation": 0.5, "cpu_seconds": 7.0, "start_mb": 100.0, "peak_mb": 111.0}
    return known | METRICS | cost


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Two networks: LOF on both, Radar on one of them only."""
    monkeypatch.setenv("COLUMNS", "100")  # whatever terminal this runs in
    found = Results(tmp_path)
    found.facts = {"disney": Facts(124, 335, 28, 6, "a"), "/data/[b]net": Facts(10, 20, 3, 2, "b")}
    found.add([record("disney", "lof", 0), record("disney", "radar", 0)])
    found.add([record("/data/[b]net", "lof", 0), record("/data/[b]net", "lof", 1)])
    return found


@pytest.fixture
def happened(results, monkeypatch):
    """What `run_and_report` does, in order; nothing is run or drawn."""
    done = []

    def run(plan, progress):
        done.append("run")
        return results

    def draw(out, datasets, data_dir, say):
        done.append(("draw", out, datasets, data_dir, (out / "tables.md").exists()))
        say("Drawn.")

    monkeypatch.setattr(command, "run_benchmark", run)
    monkeypatch.setattr(command, "draw_figures", draw)
    monkeypatch.setattr(command, "require_drawing", lambda: done.append("require"))
    return done


def grid(text):
    """The rows of a table on the terminal."""
    lines = (line for line in text.splitlines() if line.startswith("│"))
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_a_network_is_shown_with_the_rows_that_were_run_on_it(results, capsys):
    table = Table.of(results, "roc_auc")
    show_table(table, "disney")
    text = capsys.readouterr().out
    assert "Disney (6 outliers among 124" in text
    assert grid(text) == [
        ["LOF", "75.0", "47.9 ± 0.0 (47.9)", "+0.50"],
        ["Radar", "75.0", "51.8 ± 0.0 (51.8)", "+0.50"],
    ]
    show_table(table, "/data/[b]net")
    text = capsys.readouterr().out
    assert "[b]net (2 outliers among 10" in text  # a name is text, not a style
    assert grid(text) == [["LOF", "75.0 ± 0.0 (75.0)", "", "+0.50"]]


@pytest.mark.parametrize(("row", "marked"), [("lof", "90.0"), ("radar", "75.0")])
def test_the_best_mean_is_bold_on_a_terminal(results, monkeypatch, capsys, row, marked):
    monkeypatch.setenv("FORCE_COLOR", "1")
    better = {"roc_auc": 0.9 if row == "lof" else 0.5}
    results.add([record("disney", "lof", 0) | better])
    results.add([record("disney", "lof", 1) | better])
    show_table(Table.of(results, "roc_auc"), "disney")
    lines = (line for line in capsys.readouterr().out.splitlines() if line.startswith("│"))
    assert re.findall(r"\x1b\[1m(.*?)\x1b\[0m", "".join(lines)) == [marked]


def test_the_legend_is_broken_at_spaces_on_a_terminal_only(results, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "50")
    show_legend(Table.of(results, "roc_auc"))
    whole = capsys.readouterr().out
    assert "size: rank correlation of a score with the size of the ego-graph." in whole.splitlines()
    monkeypatch.setenv("FORCE_COLOR", "1")
    show_legend(Table.of(results, "roc_auc"))
    broken = capsys.readouterr().out
    assert max(map(len, broken.splitlines())) <= 50
    assert broken.split() == whole.split()


def test_every_file_has_every_metric_with_its_own_numbers(results):
    write_tables(results)
    best = [text for m, v in METRICS.items() for text in (TITLES[m], f"{100 * v:.1f}")]
    markdown, latex = ((results.path / f"tables.{kind}").read_text() for kind in ("md", "tex"))
    *bold, cost, defects = dict.fromkeys(re.findall(r"\*\*(.+?)\*\*", markdown))
    assert bold == best
    assert cost.startswith("CPU seconds")
    assert defects.startswith("Known defects")
    marked = re.findall(r"\\caption{(.+?)\. |\\mathbf{(.+?)}", latex)
    found = (title.replace("\\", "") or number for title, number in marked)
    assert list(dict.fromkeys(found)) == best
    assert latex.startswith("% Needs \\usepackage{booktabs,graphicx}.\n")
    for text in (markdown, latex):
        assert "size: rank correlation of a score with the size of the ego-graph." in text
    with (results.path / "tables.csv").open(newline="") as file:
        found = {(r["metric"], r["dataset"], r["method"]): r["mean"] for r in csv.DictReader(file)}
    ran = [("disney", "lof"), ("disney", "radar"), ("/data/[b]net", "lof")]
    assert {key: float(mean) for key, mean in found.items()} == {
        (metric, *row): 100 * value for metric, value in METRICS.items() for row in ran
    }


def test_tables_are_written_and_those_of_the_plan_printed(results, happened, capsys):
    run_and_report(Benchmark(("disney",), ("lof",), results.path), figures=False)
    assert happened == ["run"]
    text = capsys.readouterr().out
    assert "Disney" in text
    assert [row[:2] for row in grid(text)] == [["LOF", "75.0"], ["Radar", "75.0"]]
    assert "[b]net" not in text  # of an earlier run
    last = text.splitlines()[-1]
    assert last.startswith(f"Written to {results.path}: ")
    for name in last.rstrip(".").rpartition(": ")[2].split(", "):
        assert (results.path / name).stat().st_size


def test_figures_come_last_but_what_they_need_is_looked_for_first(results, happened, capsys):
    plan = Benchmark(("disney",), ("lof",), results.path, data_dir="there")
    run_and_report(plan, figures=True)
    assert happened == ["require", "run", ("draw", results.path, ("disney",), "there", True)]
    assert capsys.readouterr().out.splitlines()[-1] == "Drawn."


def test_nothing_is_run_where_nothing_can_be_drawn(results, happened, monkeypatch):
    def refuse():
        raise RunError("no matplotlib")

    monkeypatch.setattr(command, "require_drawing", refuse)
    with pytest.raises(RunError):
        run_and_report(Benchmark(("disney",), ("lof",), Path()), figures=True)
    assert happened == []


def test_the_list_has_every_row_once_under_its_group(capsys):
    print_methods()
    group, found = "", {}
    for line in capsys.readouterr().out.splitlines():
        if not line.startswith("  "):
            assert line not in {known for known, _ in found.values()}
            group = line
        else:
            name, _, title = line.strip().partition("  ")
            assert name not in found
            found[name] = (group, title.strip())
    assert found == {name: (row.group, row.title) for name, row in methods().items()}
