"""What a user means by one word: names come before folders and files."""

import gzip
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.errors import DatasetError, InputError
from egoscore.read import Choices
from egoscore.read.source import load_source, read_source


def test_a_data_sets_name_comes_before_a_folder_and_a_path_means_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "builtin"
    folder.mkdir()
    pq.write_table(pa.table({"id": [5, 6, 7], "x": [0.0, 1.0, 2.0]}), folder / "nodes.parquet")
    pq.write_table(pa.table({"a": [5], "b": [7]}), folder / "edges.parquet")
    assert load_source("builtin").num_nodes == 1000
    assert read_source("builtin").notes == ()
    assert load_source("./builtin").ids.tolist() == [5, 6, 7]


def test_what_is_neither_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=r"There is no data set 'nothing'.* no folder nothing"):
        load_source("nothing")
    (tmp_path / "file").write_text("hello")
    with pytest.raises(InputError, match="file is no kind of file that is known"):
        load_source("file")


def test_a_data_set_has_no_choices(refusal):
    message = refusal(read_source, "builtin", None, Choices(weight="w", impute="median"))
    assert message.startswith("--weight, --impute cannot be used here: 'builtin' is a data set")


@pytest.mark.parametrize("name", ["edges.csv", "Edges.CSV", "edges.csv.gz", "edges.tsv"])
def test_folders_with_text_files_and_without_nodes(tmp_path, name):
    text = b"source,target\na,b\nb,c\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert load_source(str(tmp_path)).is_structural
    (tmp_path / "nodes.csv").write_text("id,x\na,1\nb,2\nc,3\n")
    reading = read_source(str(tmp_path), None, Choices(directed=True))
    assert reading.graph.feature_names == ("x",)
    assert reading.graph.directed


def test_folders_that_are_not_clear(tmp_path, refusal):
    assert "edges.csv is not there" in refusal(load_source, str(tmp_path))
    for name in ("edges.csv", "edges.tsv"):
        (tmp_path / name).write_text("a,b\n")
    assert "both edges.csv and edges.tsv" in refusal(load_source, str(tmp_path))


def test_one_file(tmp_path, said):
    nx.write_graphml(nx.path_graph(4), tmp_path / "net.graphml")
    assert load_source(str(tmp_path / "net.graphml")).num_nodes == 4
    (tmp_path / "mine.csv").write_text("source,target\na,b\n")
    reading = read_source(str(tmp_path / "mine.csv"))
    assert reading.graph.num_nodes == 2
    assert said(reading, "is read as a list of edges")


@pytest.mark.parametrize("name", ["book.xlsx", "Book.XLS", "book.ods"])
def test_a_spreadsheet_is_told_what_to_do(write, refusal, name):
    message = refusal(load_source, str(write(name, b"PK")))
    assert "is a spreadsheet, which is not read here; save its sheets as CSV" in message


@pytest.mark.parametrize(
    "name",
    [
        "net.graphml",
        "net.graphml.gz",
        "pairs.csv",
        "book.xlsx",
        "sub/net",
        "data/net",
        "~no-such-user/net",
    ],
)
def test_a_path_to_nothing_is_told_without_naming_data_sets(tmp_path, monkeypatch, refusal, name):
    monkeypatch.chdir(tmp_path)
    message = refusal(load_source, name)
    assert message == f"{Path(name)} is not there; check the name and the folder."


@pytest.mark.parametrize("blank", ["", " "])
def test_nothing_is_no_folder(refusal, blank):
    assert "SOURCE is empty" in refusal(load_source, blank)
