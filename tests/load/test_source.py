"""What a user means by one word: names come before folders and files."""

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy.io import savemat

from egoscore.errors import DatasetError, InputError
from egoscore.load import Options, read_network_file, source
from egoscore.load.open_table import GRAPH_ENDINGS
from egoscore.load.source import load_source, read_source


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
    with pytest.raises(DatasetError, match=r"no file or folder nothing.* no data set 'nothing'"):
        load_source("nothing")
    (tmp_path / "file").write_text("hello")
    with pytest.raises(InputError, match="file is not of a known type"):
        load_source("file")


def test_a_data_set_has_no_choices(refusal):
    message = refusal(read_source, "builtin", None, Options(weight="w", impute="none"))
    assert message.startswith("`weight=`, `impute=` cannot be used here: 'builtin' is a data set")


@pytest.mark.parametrize("name", ["edges.csv", "Edges.CSV", "edges.csv.gz", "edges.tsv"])
def test_folders_with_text_files_and_without_nodes(tmp_path, name):
    text = b"source,target\na,b\nb,c\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert load_source(str(tmp_path)).is_structural
    (tmp_path / "nodes.csv").write_text("id,x\na,1\nb,2\nc,3\n")
    reading = read_source(str(tmp_path), None, Options(directed=True))
    assert reading.graph.feature_names == ("x",)
    assert reading.graph.directed


def test_folders_that_are_not_clear(tmp_path, refusal):
    assert "edges.csv does not exist" in refusal(load_source, str(tmp_path))
    for name in ("edges.csv", "edges.tsv"):
        (tmp_path / name).write_text("a,b\n")
    assert "both edges.csv and edges.tsv" in refusal(load_source, str(tmp_path))


def test_one_file(tmp_path, noted):
    nx.write_graphml(nx.path_graph(4), tmp_path / "net.graphml")
    assert load_source(str(tmp_path / "net.graphml")).num_nodes == 4
    (tmp_path / "mine.csv").write_text("source,target\na,b\n")
    reading = read_source(str(tmp_path / "mine.csv"))
    assert reading.graph.num_nodes == 2
    assert noted(reading, "edge-list")


@pytest.mark.parametrize("name", ["book.xlsx", "Book.XLS", "book.ods"])
def test_a_spreadsheet_is_told_what_to_do(write, refusal, name):
    message = refusal(load_source, str(write(name, b"PK")))
    assert "is a spreadsheet, which cannot be read; save its sheets as CSV" in message


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
    assert message == f"{Path(name)} does not exist; check the name and the folder."


@pytest.mark.parametrize("blank", ["", " "])
def test_nothing_is_no_folder(refusal, blank):
    assert "SOURCE is empty" in refusal(load_source, blank)


def test_a_plain_dict_of_tensors(tmp_path, noted):
    x, y = torch.rand(4, 2), torch.tensor([0, 1, 0, 0])
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    torch.save({"x": x, "edge_index": edge_index, "y": y}, tmp_path / "net.pt")
    reading = read_network_file(tmp_path / "net.pt", Options(directed=True))
    np.testing.assert_array_equal(reading.graph.features, x)
    assert reading.graph.labels.tolist() == y.tolist()
    assert reading.graph.directed
    assert noted(reading, "array-labels")
    torch.save({"x": x, "edge_index": edge_index, "y": y + 5}, tmp_path / "net.pt")
    assert read_network_file(tmp_path / "net.pt").graph.labels is None


@pytest.mark.parametrize("name", ["net.csv", "net.txt", "net"])
def test_other_endings_are_told_what_there_is(write, refusal, name):
    assert ".graphml" in refusal(read_network_file, write(name, b"x"))


def test_no_file(tmp_path, refusal):
    assert "does not exist" in refusal(read_network_file, tmp_path / "net.graphml")
    assert "is a folder" in refusal(read_network_file, tmp_path)


def test_tensors_without_features_have_their_structure(tmp_path, noted):
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    for more, size in [({}, 4), ({"num_nodes": 6}, 6), ({"y": torch.zeros(5)}, 5)]:
        torch.save({"edge_index": edge_index, **more}, tmp_path / "net.pt")
        reading = read_network_file(tmp_path / "net.pt")
        assert reading.graph.num_nodes == size
        assert reading.graph.is_structural
        assert noted(reading, "structural-features")


@pytest.mark.parametrize("name", ["edge_attr", "edge_weight"])
def test_values_of_edges_are_told(tmp_path, noted, name):
    fields = {"x": torch.rand(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]])}
    torch.save({**fields, name: torch.rand(2)}, tmp_path / "net.pt")
    assert noted(read_network_file(tmp_path / "net.pt"), "edge-values-unused", name=name)


@pytest.mark.parametrize("ending", [".npz", ".mat", ".pt"])
def test_digits_that_float32_has_not_are_kept_beside_an_offset(tmp_path, ending):
    x = np.array([[1_700_000_000.25 + n, n] for n in range(6)])
    edges = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    path = tmp_path / f"net{ending}"
    if ending == ".pt":
        torch.save({"x": torch.tensor(x), "edge_index": torch.tensor(edges)}, path)
    elif ending == ".npz":
        np.savez(path, x=x, edge_index=edges)
    else:
        savemat(path, {"Attributes": x, "Network": nx.to_numpy_array(nx.path_graph(6))})
    graph = read_network_file(path).graph
    np.testing.assert_array_equal(graph.features + graph.offsets, x)
    assert graph.features.dtype == np.float32


def test_every_ending_of_a_graph_has_a_reader_and_is_no_table():
    assert set(source._GRAPH_READERS) == set(GRAPH_ENDINGS)
    assert not set(source._TABLE_ENDINGS) & set(source._GRAPH_READERS)


@pytest.mark.parametrize("ending", [".feather", ".arrow", ".arrows", ".ipc", ".parquet", ".pq"])
def test_a_list_of_edges_in_any_binary_table(tmp_path, ending):
    edges = pa.table({"source": ["a", "b"], "target": ["b", "c"]})
    path = tmp_path / f"net{ending}"
    if ending in (".parquet", ".pq"):
        pq.write_table(edges, path)
    else:
        with pa.ipc.new_stream(path, edges.schema) as stream:
            stream.write_table(edges)
    assert load_source(str(path)).num_edges == 2
