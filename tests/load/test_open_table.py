"""Whatever holds the same tables gives the same network."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from egoscore import AttributedGraph
from egoscore.load import Options, read_tables
from egoscore.load.open_table import open_table

EDGES = {"src": ["a", "b", '\u00e9;,"x"'], "dst": ["b", "c", "a"], "w": [1.5, 2.5, 3.5]}
NODES = {
    "id": ["a", "b", "c", '\u00e9;,"x"'],
    "age": [30, 40, 50, 60],
    "vip": [True, False, True, True],
    "city": ["Rome", "Oslo", "Rome", "Bern"],
    "joined": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-02-01", "2021-01-01"]),
}


def as_file(frame, path, ending):
    path = path.with_name(path.name + ending)
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".feather":
        feather.write_feather(pa.table(frame), str(path))
    elif ending == ".arrows":
        with pa.ipc.new_stream(str(path), pa.table(frame).schema) as writer:
            writer.write_table(pa.table(frame))
    return path


FORMS = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.DataFrame(frame.to_dict("list")),
    "lazy dict": lambda frame, _: frame.to_dict("list"),
    "arrow": lambda frame, _: pa.table(frame),
    "categorical": lambda frame, _: frame.astype({frame.columns[0]: "category"}),
    **{
        ending: lambda frame, path, ending=ending: as_file(frame, path, ending)
        for ending in (".csv", ".csv.gz", ".parquet", ".feather", ".arrows")
    },
    "text": lambda frame, path: str(as_file(frame, path, ".csv")),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_network_from_everything(tmp_path, form):
    edges = FORMS[form](pd.DataFrame(EDGES), tmp_path / "edges")
    nodes = FORMS[form](pd.DataFrame(NODES), tmp_path / "nodes")
    graph = AttributedGraph.from_tables(edges, nodes, weight="w", directed=True)
    expected = read_tables(pa.table(EDGES), pa.table(NODES), Options(ignore=("w",))).graph
    assert graph.ids.tolist() == expected.ids.tolist() == NODES["id"]
    assert graph.feature_names[:6] == expected.feature_names
    np.testing.assert_array_equal(graph.features[:, :6], expected.features)
    np.testing.assert_array_equal(graph.neighbours.indices, expected.neighbours.indices)
    assert graph.directed
    assert all(name.startswith("w ") for name in graph.feature_names[6:])
    assert graph.num_features > 6


def test_a_file_is_known_by_its_bytes_whatever_it_is_called(tmp_path):
    table = pa.table(EDGES)
    pq.write_table(table, tmp_path / "p.csv")
    feather.write_feather(table, str(tmp_path / "f.csv"), compression="uncompressed")
    for name in ("p.csv", "f.csv"):
        assert open_table(tmp_path / name, "t").columns == ("src", "dst", "w")


def test_mixed_ids_of_a_pandas_frame_are_text(noted):
    edges = pd.DataFrame({"source": [1, "a", 2.5], "target": ["a", 1, 1]}, dtype=object)
    reading = read_tables(edges)
    assert sorted(reading.graph.ids) == ["1", "2.5", "a"]
    assert noted(reading, "mixed-types", column="source")


def test_integers_that_pandas_made_decimals(noted):
    edges = pd.DataFrame({"source": [1.0, 2.0], "target": [2, 3]})
    reading = read_tables(edges)
    assert sorted(reading.graph.ids) == [1, 2, 3]
    assert noted(reading, "ids-whole-decimals")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([(1, 2)], "must be a path, a pandas or polars data frame, or an Arrow table (found list)"),
        (None, "found NoneType"),
        (np.zeros((2, 2)), "found ndarray"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns called 'a'"),
        ({"a": [1], "b": [1, 2]}, "cannot be read"),
        (Path("x.graphml"), "does not exist"),
    ],
)
def test_what_is_no_table_is_told(refusal, source, words):
    assert words in refusal(read_tables, source)


@pytest.mark.parametrize("name", ["net.graphml", "net.npz", "net.pt", "net.gexf.gz", "net.mat"])
def test_a_whole_network_is_not_a_table(write, refusal, name):
    assert "holds a whole graph" in refusal(open_table, write(name, b"x"), "t")


@pytest.mark.parametrize("name", ["book.xlsx", "book.XLS", "book.ods", "book.csv"])
def test_a_workbook_is_told_what_to_do(write, refusal, name):
    content = b"\xd0\xcf\x11\xe0" if name == "book.csv" else b"PK"
    message = refusal(open_table, write(name, content), "t")
    assert "is a spreadsheet, which cannot be read; save its sheets as CSV" in message
    assert "`edges=` and `nodes=`" in message


def test_a_path_may_be_anything_that_is_one(write):
    path = write("e.csv", "source,target\na,b\n")
    assert isinstance(os.fspath(path), str)
    for given in (path, str(path)):
        assert open_table(given, "t").name == str(path)


def test_columns_by_name_may_mix_types_too(noted):
    edges = {"source": [1, "s0", 2], "target": ["s0", 2, 1]}
    reading = read_tables(edges)
    assert sorted(reading.graph.ids.tolist()) == ["1", "2", "s0"]
    assert noted(reading, "mixed-types", column="source")


def test_columns_by_name_that_are_none_are_told(refusal):
    assert "Column 'source'" in refusal(read_tables, {"source": object(), "target": [1]})
    assert "cannot be read" in refusal(read_tables, {"source": [1, "a"], "target": [1]})
