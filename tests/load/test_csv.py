"""Text files, with pandas and the csv module as judges."""

import csv
import gzip
import io
import time

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from egoscore.load import csv as csv_module
from egoscore.load.csv import CsvTable
from egoscore.load.dialect import Hints
from egoscore.notes import Note
from egoscore.report.notes import render

ANY_TEXT = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=8
)


def cells(path):
    table = CsvTable(path)
    return {name: column.to_pylist() for name, column in table.read(table.columns).items()}


@given(rows=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=12))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_any_text_comes_back_as_the_csv_module_wrote_it(tmp_path, rows, separator):
    path = tmp_path / "edges.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL)
        writer.writerows([("source", "target"), *rows])
    found = cells(path)
    assert list(zip(found["source"], found["target"], strict=True)) == rows


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_same_as_pandas(write, separator, ending):
    frame = pd.DataFrame(
        {"id": ["007", "=cmd()", 'q"q', f"a{separator}b"], "x": ["1", None, "3", "4"]}
    )
    text = frame.to_csv(index=False, sep=separator, lineterminator=ending)
    found = cells(write("t.csv", text))
    theirs = pd.read_csv(io.StringIO(text), sep=separator, dtype=str)
    assert found["id"] == theirs["id"].tolist()
    assert found["x"] == [None if pd.isna(x) else x for x in theirs["x"]]


def test_runs_of_spaces_and_comments(write):
    path = write("snap.txt", "# Nodes: 3\n# x y\n  1    2 \n10\t20\n\n 3  4\n")
    assert cells(path) == {"column 1": ["1", "10", "3"], "column 2": ["2", "20", "4"]}


def test_encodings_that_show_late_are_read_again_and_told(write):
    text = "source,target\n" + "a,b\n" * 100_000 + "caf\u00e9,b\n"
    table = CsvTable(write("t.csv", text.encode("cp1252")))
    assert table.notes == []
    found = table.read(["source"])["source"]
    assert found[-1].as_py() == "caf\u00e9"
    assert [note.code for note in table.notes] == ["encoding-guessed"]
    undefined = text.encode("cp1252").replace(b"caf\xe9", b"caf\x81")
    table = CsvTable(write("u.csv", undefined))
    assert table.read(["source"])["source"][-1].as_py() == "caf\x81"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_unicode_with_a_mark_at_its_beginning(write, encoding):
    path = write("t.csv", "source,target\n\u00e9,\u6f22\n".encode(encoding))
    assert cells(path) == {"source": ["\u00e9"], "target": ["\u6f22"]}


def test_only_the_columns_asked_for_in_the_order_asked_for(write):
    table = CsvTable(write("t.csv", "a,b,c\n1,2,3\n"))
    assert {n: c.to_pylist() for n, c in table.read(["c", "a"]).items()} == {"c": ["3"], "a": ["1"]}
    assert list(table.read(["c", "a"])) == ["c", "a"]


def test_numbers_are_recognised_from_the_first_rows(write):
    table = CsvTable(write("t.csv", "a,b,c\n1,x,NA\n2,3,4\n"))
    assert [table.looks_numeric(name) for name in "abc"] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a,b\n1,2\n1,2,3\n4,5\n", 3, 3),
        ("# c\n\na,b\n1,2\n\n3\n", 6, 1),
        ("1 2\n" * 400 + "3\n", 401, 1),
    ],
)
def test_a_ragged_row_is_named(write, refusal, text, line, found):
    message = refusal(cells, write("t.csv", text))
    assert f"Line {line} of" in message
    assert f"has {found} cells where the first row has 2" in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'a,b\n1,2\n3,"4\n5,6\n', "ends within a quoted cell"),
        (b"a,b\n" + b"1,2\n" * 100_000 + b"\x00,2\n", "not a text file"),
        (b"a,a\n1,2\n", "two columns called 'a'"),
        (gzip.compress(b"a,b\n1,2\n" * 100, mtime=0)[:-20], "damaged or incomplete"),
        (gzip.compress(b"", mtime=0), "is empty"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "damaged or incomplete"),
        (b'a,b\n1,"' + b"x\n" * 50_000 + b"3,4\n", "quoted cell"),
    ],
)
def test_what_is_damaged_is_told(write, refusal, content, words):
    assert words in refusal(cells, write("t.csv", content))


def test_a_gz_that_breaks_off_late_is_told(write, refusal):
    import random

    lines = "".join(f"{random.Random(0).random()},{i}\n" for i in range(200_000))
    packed = gzip.compress(("a,b\n" + lines).encode())
    assert "damaged" in refusal(cells, write("t.csv.gz", packed[: len(packed) // 2]))


@pytest.mark.parametrize("work", ["collect", "_with_progress"])
@pytest.mark.parametrize("defect", [OSError, EOFError])
def test_a_defect_of_ours_is_not_blamed_on_the_file(write, monkeypatch, work, defect):
    def fail(*_):
        raise defect("ours")

    table = CsvTable(write("t.csv", "a,b\n1,2\n"))
    monkeypatch.setattr(csv_module, work, fail)
    with pytest.raises(defect, match="ours"):
        table.read(["a"])


@pytest.mark.parametrize(
    ("error", "word"),
    [(MemoryError, "memory"), (pa.ArrowMemoryError, "memory"), (OSError, "damag")],
)
def test_what_reading_the_file_raises_is_told(write, monkeypatch, refusal, error, word):
    class Failing(io.BytesIO):
        def read(self, *_):
            raise error("cannot be read")

    path = write("t.csv", "a,b\n1,2\n")
    table = CsvTable(path)
    monkeypatch.setattr(csv_module, "open_stream", lambda *_: Failing())
    assert word in refusal(table.read, ["a"])
    monkeypatch.setattr("egoscore.load.unpack.open_stream", lambda *_: Failing())
    assert word in refusal(CsvTable, path)


def test_a_row_longer_than_any_is_told(write, refusal, monkeypatch):
    monkeypatch.setattr(csv_module, "_BLOCK", 1 << 20)
    content = b"a,b\n1,2\n" * 50_000 + b'1,"' + b"x" * (3 << 20) + b'"\n'
    assert "a row of more than 1 MB" in refusal(cells, write("t.csv", content))


def test_cells_of_several_lines_may_lie_across_the_pieces_a_file_is_read_in(write, monkeypatch):
    monkeypatch.setattr(csv_module, "_BLOCK", 1000)
    rows = [f"{i}\n\n,{i}" for i in range(2000)]
    text = "source,target\n" + "".join(f'"{row}",b\n' for row in rows)
    assert cells(write("t.csv", text))["source"] == rows


def test_names_without_rows_are_a_table_without_rows(write):
    assert cells(write("t.csv", "a,b\n")) == {"a": [], "b": []}
    assert cells(write("u.csv", "a,b")) == {"a": [], "b": []}


def test_a_quote_within_a_cell_is_a_character(write):
    assert cells(write("t.csv", 'a,b\n5" disk,2\n'))["a"] == ['5" disk']


@pytest.mark.parametrize("length", [100_000, 131_072, 300_000])
def test_rows_longer_than_the_first_look_are_rows(write, length):
    rows = [(letter * length, letter) for letter in "abc"]
    text = "source,target\n" + "".join(f"{a},{b}\n" for a, b in rows)
    found = cells(write("t.csv", text))
    assert list(zip(found["source"], found["target"], strict=True)) == rows


def test_comments_longer_than_the_first_look_are_comments(write):
    text = "# nothing\n" * 60_000 + "source;target\na;b\n"
    assert cells(write("t.csv", text)) == {"source": ["a"], "target": ["b"]}


@pytest.mark.parametrize("ending", ["", "\n"])
def test_tens_of_thousands_of_columns_in_seconds(write, ending):
    names = [f"column_{i}" for i in range(40_000)]
    text = ",".join(names) + "\n" + "\n".join(",".join(["1.5"] * 40_000) for _ in range(3))
    start = time.perf_counter()
    table = CsvTable(write("t.csv", text + ending))
    found = table.read(table.columns)
    assert time.perf_counter() - start < 30
    assert list(found) == names
    assert found["column_39999"].to_pylist() == ["1.5"] * 3


def test_a_quote_that_is_never_closed_is_suspected(write, refusal, monkeypatch):
    monkeypatch.setattr(csv_module, "_MAX_HEAD", 1 << 20)
    path = write("t.csv", b'"a,b\n' + b"1,2\n" * (1 << 19))
    assert "less than two rows in its first 1 MB; is a quote left open?" in refusal(cells, path)


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "shift-jis"])
def test_other_encodings_are_told_what_to_do(write, encoding):
    word = "\u0438\u043c\u044f"
    table = CsvTable(write("t.csv", f"id,{word}\na,1\n".encode(encoding)))
    (note,) = table.notes
    assert (note.code, note.severity) == ("encoding-guessed", "warning")
    assert "`encoding='cp1251'`" in render(note)


TOWNS = {
    "cp1251": ["\u041e\u043c\u0441\u043a", "\u0423\u0444\u0430", "\u0422\u0443\u043b\u0430"],
    "shift_jis": ["大阪", "表", "ソウル"],
    "utf-16-le": ["Łódź", "大阪", "\u0423\u0444\u0430"],
    "iso2022_jp": ["大阪", "京都", "東京"],
}


@pytest.mark.parametrize("encoding", TOWNS)
def test_an_encoding_that_is_named_is_believed(write, encoding):
    towns = TOWNS[encoding]
    frame = pd.DataFrame({"source": towns, "target": towns[::-1], "w": ["1", "2", "3"]})
    path = write("edges.csv", frame.to_csv(index=False).encode(encoding))
    theirs = pd.read_csv(path, encoding=encoding, dtype=str)
    table = CsvTable(path, Hints(encoding=encoding))
    assert table.columns == tuple(theirs.columns)
    for name, column in table.read(table.columns).items():
        assert column.to_pylist() == theirs[name].tolist()
    assert Note.info("encoding-given", table=str(path), encoding=encoding) in table.notes


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "shift_jis"])
def test_what_is_not_in_the_encoding_named_is_refused(write, refusal, encoding):
    path = write("edges.csv", b"source,target\na,b\n" + b"\x81,\x8d\n" * 3 + b"\xfd,\x90\n")
    message = refusal(CsvTable(path, Hints(encoding=encoding)).read, ["source"])
    assert f"is not text in the encoding {encoding}" in message
    assert "`encoding=`" in message
