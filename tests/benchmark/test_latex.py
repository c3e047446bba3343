"""The table for a paper: every mark by hand, and LaTeX that compiles."""

from collections import Counter
from pathlib import Path

import pytest

from egoscore.benchmark.cells import Cell, Table
from egoscore.benchmark.latex import latex
from egoscore.benchmark.results import Facts, Results

NAN = float("nan")


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
        ("-Degree", [r"$\mathbf{70.0} \pm 0.0 \, (70.0)$", "--", "$-0.50$"]),
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
    assert r"6 of 124 outliers, random $\pm 12.1$" in text
    assert r"20 of 1000 outliers, random $\pm 6.5$" in text


def test_every_line_fills_every_column(text):
    assert text.startswith("\\begin{tabular}{l|cccccc}\n\\toprule\n")
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(lines) == 3 + 4
    for line in lines:
        spans = [3 if r"\multicolumn{3}" in part else 1 for part in line.split(" & ")]
        assert sum(spans) == 1 + 2 * 3


def test_a_rule_parts_families(text):
    between = [part.strip().splitlines() for part in text.split("\\midrule\n")[1:]]
    titles = [[line.split(" & ")[0] for line in part if " & " in line] for part in between]
    assert titles == [["-Degree"], ["LOF"], ["GUIDE"], ["Rec"]]


def test_names_mean_nothing_to_latex():
    name = r"50%_{a}&$b$#~^\c"
    text = latex(table_of({}, **{name: Facts(10, 20, 3, 2, "b")}))
    assert r"\textbf{50\%\_\{a\}\&\$b\$\#\~{}\^{}/c}" in text


def test_a_table_of_nothing_has_a_head_only():
    text = latex(table_of({}))
    assert r"\textbf{Disney}" in text
    assert r"\midrule" not in text
