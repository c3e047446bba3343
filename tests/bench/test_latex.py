"""The table for a paper: every mark by hand, and LaTeX that compiles."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from shutil import which
from subprocess import run

import pytest

from egoscore.bench.latex import latex
from egoscore.bench.methods import methods
from egoscore.bench.results import Facts, Results
from egoscore.bench.table import Cell, Table

NAN = float("nan")
FACTS = Facts(124, 335, 28, 6, "a")


def cell(mean, std, largest, trials=3, **failures):
    return Cell(mean, std, largest, trials, Counter(failures), -0.5, 1.0, 1.0)


def table_of(cells, **facts):
    """A table of these cells, by row and network; more networks by their facts."""
    results = Results(Path())
    results.facts = {"disney": Facts(124, 335, 28, 6, "a"), **facts}
    filled = tuple(dict.fromkeys(row for row, _ in cells))
    return Table("roc_auc", tuple(results.facts), filled, cells, results)


@pytest.fixture
def text():
    cells = {
        ("-degree", "disney"): cell(70.0, 0.0, 70.0),
        ("lof", "disney"): cell(60.0, 10.0, 70.0, failed=1),
        ("lof", "net_1"): cell(25.0, 0.0, 25.0, trials=1),
        ("guide", "disney"): cell(NAN, NAN, NAN, OOM=3),
        ("rec", "disney"): cell(70.04, 21.6, 90.04),
    }
    return latex(table_of(cells, net_1=Facts(1000, 20, 3, 20, "b")))


def row_of(text, title):
    (line,) = (line for line in text.splitlines() if line.startswith(f"{title} & "))
    return line.removesuffix(r" \\").split(" & ")[1:]


@pytest.mark.parametrize(
    ("title", "disney"),
    [
        ("LOF", [r"$60.0 \pm 10.0 \, (70.0)$ [1 failed]", r"$47.9 \pm 0.0 \, (47.9)$", "$-0.50$"]),
        ("GUIDE", ["3 OOM", r"$38.8 \pm 8.9 \, (52.5)$", "--"]),
        ("$-$Degree", [r"$\mathbf{70.0} \pm 0.0 \, (70.0)$", "--", "$-0.50$"]),
        (
            "Rec",
            [
                r"$\mathbf{70.0} \pm 21.6 \, (\underline{90.0})$",
                r"$65.0 \pm 11.2 \, (79.8)$",
                "$-0.50$",
            ],
        ),
    ],
)
def test_measured_and_published_stand_side_by_side(text, title, disney):
    assert row_of(text, title)[:3] == disney


def test_one_trial_has_no_spread_and_what_was_not_run_is_a_dash(text):
    assert row_of(text, "LOF")[3:] == [r"$\mathbf{25.0}$", "--", "$-0.50$"]
    assert row_of(text, "Rec")[3:] == ["--", "--", "--"]


def test_the_underline_is_for_a_maximum_that_is_shown():
    cells = {
        ("lof", "disney"): cell(60.0, 10.0, 70.0),
        ("rec", "disney"): cell(80.0, 0.0, 80.0, trials=1),
    }
    text = latex(table_of(cells))
    assert row_of(text, "LOF")[0] == r"$60.0 \pm 10.0 \, (\underline{70.0})$"
    assert row_of(text, "Rec")[0].startswith(r"$\mathbf{80.0}$")


def test_what_was_published_as_a_failure_is_told():
    table = table_of({("lof", "dgraph"): cell(50.0, 1.0, 52.0)}, dgraph=Facts(9, 9, 9, 3, "b"))
    assert row_of(latex(table), "LOF")[4] == "TLE"


def test_the_head_tells_what_chance_would_do(text):
    # 100 sqrt((124 + 1) / (12 * 6 * 118)) = 12.13, 100 sqrt(1001 / (12 * 20 * 980)) = 6.52
    span = r"\multicolumn{3}{c}"
    first, second = span + "{6 outliers among 124, 3 trials}", span + "{20 outliers among 1,000, 1"
    assert f" & {first} & {second} trial}}" in text
    assert rf" & {span}{{random $50.0 \pm 12.1$}} & {span}{{random $50.0 \pm 6.5$}}" in text


def test_chance_is_told_of_the_metric_at_hand():
    table = replace(table_of({("lof", "disney"): cell(60.0, 10.0, 70.0)}), metric="recall_at_k")
    assert r"random $4.8 \pm 8.6$" in latex(table)


def test_a_table_has_a_title_a_name_and_what_its_columns_mean(text):
    lines = text.splitlines()
    assert lines[0] == r"\begin{table*}[htp]"
    assert lines[1].startswith(r"\caption{ROC-AUC (\%). Mean $\pm$ standard deviation (maximum)")
    assert r"\textbf{bold}, the best maximum \underline{underlined}" in lines[1]
    assert "size: rank correlation of a score with the size of the ego-graph." in lines[1]
    assert lines[2] == r"\label{tab:roc_metrics}"
    assert lines[-1] == r"\end{table*}"


def test_a_limit_that_was_hit_is_in_the_caption():
    table = table_of({("guide", "disney"): cell(NAN, NAN, NAN, TLE=3)})
    known = {"dataset": "disney", "method": "guide", "trial": 0, "status": "TLE", "reason": ""}
    table.results.records["disney", "guide", 0] = known | {"time_limit": 3600.0}
    assert "TLE: more than 3,600 s." in latex(table).splitlines()[1]


@pytest.mark.parametrize(
    ("metric", "label"),
    [("average_precision", "tab:ap_metrics"), ("recall_at_k", "tab:recall_metrics")],
)
def test_a_wide_table_is_several_with_names_of_their_own(metric, label):
    cells = {
        ("lof", "disney"): cell(60.0, 10.0, 70.0),
        ("rec", "books"): cell(60.0, 10.0, 70.0),
        ("scan", "net"): cell(50.0, 1.0, 51.0),
    }
    known = Facts(1000, 20, 3, 20, "b")
    text = latex(replace(table_of(cells, books=known, net=known), metric=metric))
    first, second = text.removesuffix("\n").split("\n\n")
    assert (first.count("tabular}{lcccccc}"), second.count("tabular}{lccc}")) == (1, 1)
    assert f"label{{{label}}}" in first
    assert f"label{{{label}_2}}" in second
    assert f"continued from Table~\\ref{{{label}}}.}}" in second
    rows_run = [
        [name for name in ("LOF", "SCAN", "Rec") if f"{name} & " in p] for p in (first, second)
    ]
    assert rows_run == [["LOF", "Rec"], ["SCAN"]]


def test_a_long_table_is_several_and_families_stay_together():
    cells = {(row, "disney"): cell(60.0, 10.0, 70.0) for row in methods()}
    parts = latex(table_of(cells)).removesuffix("\n").split("\n\n")
    found = [re.findall(r"^(.*?) & .* & .* & .* \\\\$", part, re.MULTILINE) for part in parts]
    titles = [[title for title in part if title] for part in found]
    assert max(map(len, titles)) <= 45
    assert len(titles) == 3
    assert [t.replace("$", "") for part in titles for t in part] == [
        row.title for row in methods().values()
    ]
    family = {row.title: row.group for row in methods().values()}
    parted = [{family[t.replace("$", "")] for t in part} for part in titles]
    assert not parted[0] & parted[1]
    assert not parted[1] & parted[2]


@pytest.mark.skipif(which("pdflatex") is None, reason="needs LaTeX")
def test_latex_takes_it_and_it_fits_the_page(text, tmp_path):
    name = r"50%_{a}&$b$#~^\c<|>"
    other = latex(table_of({("lof", name): cell(60.0, 1.0, 61.0)}, **{name: FACTS}))
    other = other.replace("tab:roc", "tab:other")
    head = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n"
    page = f"{head}{text}\n{other}\\end{{document}}\n"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "page.tex"]
    ended = run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "Overfull" not in ended.stdout
    assert "too large" not in ended.stdout


def test_every_line_fills_every_column(text):
    assert "\\begin{tabular}{lcccccc}\n\\toprule\n" in text  # a vertical rule would be broken
    assert text.endswith("\\bottomrule\n\\end{tabular}}\n\\end{table*}\n")
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 4 + 4
    for line in lines:
        spans = [3 if r"\multicolumn{3}" in part else 1 for part in line.split(" & ")]
        assert sum(spans) == 1 + 2 * 3


def test_a_rule_parts_families(text):
    between = [part.strip().splitlines() for part in text.split("\\midrule\n")[1:]]
    titles = [[line.split(" & ")[0] for line in part if " & " in line] for part in between]
    assert titles == [["$-$Degree"], ["LOF"], ["GUIDE"], ["Rec"]]


def test_names_mean_nothing_to_latex():
    name = r"50%_{a}&$b$#~^\c"
    text = latex(table_of({}, **{name: Facts(10, 20, 3, 2, "b")}))
    assert r"\textbf{50\%\_\{a\}\&\$b\$\#\~{}\^{}/c}" in text


def test_a_table_of_nothing_has_a_head_only():
    text = latex(table_of({}))
    assert r"\textbf{Disney}" in text
    assert r"\midrule" not in text
