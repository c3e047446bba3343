"""The CSV file: nothing in it is a formula, and nothing in it is lost."""

import csv
import re
import unicodedata

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from report.samples import with_own_columns

from egoscore import AttributedGraph
from egoscore.explain.sentences import Scores
from egoscore.ranking import ranking
from egoscore.report import spreadsheet
from egoscore.report.spreadsheet import write_spreadsheet

FORMULAS = [
    "=cmd()",
    "=1+1",
    "+1+1",
    "-2+3",
    "@x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",  # noqa: RUF001
    "＋1",  # noqa: RUF001
    "－1",  # noqa: RUF001
    "＠x",  # noqa: RUF001
    "-",
    "+",
    "=",
    '=HYPERLINK("http://example.org","x")',
    "=cmd|'/c calc'!A0",
    "-1e5",
    "+1 ",
    "-5\n=1",
]
HARMLESS = ["a", "", "1", "-5", "+1", "-5.25", "+3,5", "0", " x", "a=b", "漢字", 'say "hi"', "a,b"]
STARTS = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?", re.ASCII)


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def written(tmp_path, **columns):
    path = tmp_path / "scores.csv"
    write_spreadsheet(pa.table(columns), path)
    return read(path)


def test_values_of_the_user_keep_all_their_digits(tmp_path):
    values = [1.23456789012345]
    table = pa.table({"score": values, "surprise_mine": values})
    write_spreadsheet(with_own_columns(table, ["surprise_mine"]), tmp_path / "scores.csv")
    assert read(tmp_path / "scores.csv")[1] == ["1.2345679", "1.23456789012345"]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_could_be_a_formula_begins_with_a_quote(tmp_path, text):
    assert written(tmp_path, node=[text]) == [["node"], [f"'{text}"]]


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays_as_it_is(tmp_path, text):
    assert written(tmp_path, node=[text, "b"]) == [["node"], [text], ["b"]]


def is_obeyed(letter):
    """By a terminal: controls and what turns text round, but for tabs and line breaks."""
    turns = "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return (unicodedata.category(letter) == "Cc" and letter not in "\t\r\n") or letter in turns


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=5))
@example(["=a", "-5", "\t", "-5\n"])
@settings(max_examples=150, deadline=None)
def test_no_cell_is_a_formula_and_the_text_is_all_there(tmp_path_factory, texts):
    rows = written(tmp_path_factory.mktemp("csv"), node=texts)[1:]
    for text, (cell,) in zip(texts, rows, strict=True):
        assert not cell.startswith(STARTS) or NUMBER.fullmatch(cell)
        spelled = "".join(repr(c)[1:-1] if is_obeyed(c) else c for c in text)
        assert cell in (spelled, f"'{spelled}")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_whatever_kind_of_text_it_is(tmp_path, kind):
    assert written(tmp_path, node=pa.array(["=1", None, "b"], kind))[1:] == [["'=1"], [], ["b"]]


def test_names_of_columns_are_no_formulas_either(tmp_path):
    header = written(tmp_path, **{"=cmd()": [1], "node": [2], "+x": [3], "'=cmd()": [4]})
    assert header == [["'=cmd()", "node", "'+x", "'=cmd()"], ["1", "2", "3", "4"]]


def test_hostile_columns_of_the_network_are_written_and_read_back(tmp_path):
    ids = ["=cmd()", "+1", "-5", "@x", "\t=1", "＝1"]  # noqa: RUF001
    info = {"=note": np.array(["=1", "b", "@c", "d", "e", "f"]), "amount": np.arange(6) / 8}
    graph = AttributedGraph.from_edges([[0], [1]], np.ones((6, 1)), ids=ids, node_info=info)
    score = np.arange(6.0)[::-1]
    table = ranking(graph, Scores(score, np.exp(-score), threshold=6.0), {})
    path = tmp_path / "scores.csv"
    write_spreadsheet(table, path)
    frame = pd.read_csv(path, dtype={"node": str}, encoding="utf-8")
    assert frame["node"].tolist() == ["'=cmd()", "+1", "-5", "'@x", "'\t=1", "'＝1"]  # noqa: RUF001
    assert frame["'=note"].tolist() == ["'=1", "b", "'@c", "d", "e", "f"]
    assert frame["amount"].tolist() == [0, 0.125, 0.25, 0.375, 0.5, 0.625]
    assert frame["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(frame["p_value"], np.exp(-score), rtol=1e-6)


class TestNumbers:
    def test_they_are_not_quoted(self, tmp_path):
        path = tmp_path / "scores.csv"
        table = pa.table({"node": [-5, 7], "score": [-0.5, 2.0], "text": ["-5", "x"]})
        write_spreadsheet(table, path)
        lines = path.read_text().splitlines()
        assert lines[1] == '-5,-0.5,"-5"'

    def test_what_was_computed_has_the_digits_that_mean_something(self, tmp_path):
        names = ("score", "percentile", "p_value", "surprise_features")
        rows = written(tmp_path, **{name: [1 / 3] for name in names})
        assert all(len(cell) <= 10 for cell in rows[1])
        assert [float(cell) for cell in rows[1]] == pytest.approx([1 / 3] * 4, rel=1e-6)

    def test_the_users_numbers_stay_as_they_are(self, tmp_path):
        """An id of 16777217.5 must not become that of another node."""
        ids = [16777217.5, 16777218.5, 0.1]
        table = pa.table({"node": ids, "amount": [1e300, 123456789.125, -0.3]})
        write_spreadsheet(with_own_columns(table, ["amount"]), tmp_path / "scores.csv")
        rows = read(tmp_path / "scores.csv")
        assert [float(row[0]) for row in rows[1:]] == ids
        assert [float(row[1]) for row in rows[1:]] == [1e300, 123456789.125, -0.3]

    def test_large_whole_numbers_too(self, tmp_path):
        assert written(tmp_path, node=[2**63 - 1, -(2**63)])[1:] == [
            [str(2**63 - 1)],
            [str(-(2**63))],
        ]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (pa.array([b"=a", b"b"]), ["b'=a'", "b'b'"]),
        (pa.array([["=x"], None]), ["['=x']", ""]),
        (pa.array([None, None]), ["", ""]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array(np.array(["2020-01-02", "NaT"], dtype="M8[D]")), ["2020-01-02", ""]),
    ],
    ids=["bytes", "lists", "nothing", "yes or no", "dates"],
)
def test_other_kinds_of_columns_are_written_too(tmp_path, values, cells):
    rows = written(tmp_path, node=["a", "b"], extra=values)
    assert [row[1] for row in rows[1:]] == cells


def test_no_more_rows_than_a_spreadsheet_takes(tmp_path, monkeypatch):
    assert spreadsheet.MOST_ROWS < 2**20
    monkeypatch.setattr(spreadsheet, "MOST_ROWS", 3)
    rows = written(tmp_path, node=list("abcdef"), score=np.arange(6.0))
    assert [row[0] for row in rows[1:]] == ["a", "b", "c"]


def test_a_table_in_several_pieces_is_one_file(tmp_path):
    pieces = pa.chunked_array([["=a"], ["b", "@c"]])
    assert written(tmp_path, node=pieces)[1:] == [["'=a"], ["b"], ["'@c"]]


def test_what_a_terminal_would_obey_is_spelled_out(tmp_path):
    ids = ["\x1b[31mred", "bell\x9b", "two\nlines", "tab\tbed"]
    write_spreadsheet(pa.table({"node": ids, "score": [4.0, 3, 2, 1]}), tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open(newline="") as file:
        found = [row["node"] for row in csv.DictReader(file)]
    assert found == [r"\x1b[31mred", r"bell\x9b", "two\nlines", "tab\tbed"]
