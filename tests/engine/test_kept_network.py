"""The network kept in a run: it comes back as it was, whatever it holds."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph, generate_network
from egoscore.engine import kept_network
from egoscore.engine.kept_network import load_network, require_size, save_network
from egoscore.errors import RunError
from egoscore.graph.columns import FeatureColumn
from egoscore.tell.ranking import id_column

COLUMNS = (
    FeatureColumn("age"),
    FeatureColumn("country", "category", "NZ"),
    FeatureColumn("since", "date"),
    FeatureColumn("amount", "weight", "largest"),
)


def kept(graph, folder):
    save_network(graph, id_column(graph.ids), folder)
    return load_network(folder)


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("directed", [False, True])
def test_structure_and_features_come_back_as_they_were(tmp_path, directed):
    graph = generate_network(80, 200, 4, seed=1, directed=directed)
    found = kept(graph, tmp_path)
    assert found.fingerprint() == graph.fingerprint()
    assert (found.directed, found.num_edges) == (directed, graph.num_edges)
    np.testing.assert_array_equal(found.features, graph.features)
    for name in ("adjacency", "neighbours"):
        ours, theirs = getattr(found, name), getattr(graph, name)
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        np.testing.assert_array_equal(ours.indices, theirs.indices)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_small_network_has_the_same_fingerprint(tmp_path_factory, data):
    size = data.draw(st.integers(1, 7))
    node = st.integers(0, size - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=12))
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    width = data.draw(st.integers(1, 3))
    features = data.draw(
        st.lists(
            st.floats(width=32, allow_nan=False, allow_infinity=False),
            min_size=size * width,
            max_size=size * width,
        )
    )
    table = np.array(features, dtype=np.float32).reshape(size, width)
    graph = AttributedGraph.from_edges(edges, table, data.draw(st.booleans()))
    assert kept(graph, tmp_path_factory.mktemp("run")).fingerprint() == graph.fingerprint()


@pytest.mark.parametrize(
    "edges", [[[], []], [[0], [1]], [[2], [0]]], ids=["no edges", "last alone", "first and last"]
)
def test_isolated_nodes_are_not_lost(tmp_path, edges):
    graph = AttributedGraph.from_edges(edges, np.arange(8.0).reshape(4, 2))
    found = kept(graph, tmp_path)
    assert found.num_nodes == 4
    assert found.fingerprint() == graph.fingerprint()


HOSTILE = ["", "=cmd()", "\x1b[31m", "a\0b", "\u202e", "漢字", "<b>", "two\nlines"]


@pytest.mark.parametrize(
    "ids",
    [
        np.array([7, -3, 2**62, 0, 5, 6, 8, 9]),
        np.array(HOSTILE),
        np.array([0.5, 1.5, 1e300, -2.0, 3.0, 4.0, 5.0, 6.0]),
        objects(list("abcdefgh")),
    ],
    ids=["numbers", "hostile", "fractions", "objects"],
)
def test_ids_of_one_kind_come_back_as_they_were(tmp_path, ids):
    graph = AttributedGraph.from_edges([[0, 1], [1, 2]], np.ones((8, 1)), ids=ids)
    found = kept(graph, tmp_path)
    assert found.ids.tolist() == ids.tolist()
    assert found.fingerprint() == graph.fingerprint()


@pytest.mark.parametrize(
    "ids",
    [[1, "a", 2.5], [1, "1", "x"], [(0, 1), "(0, 1)", 3], [2**70, 1, 2], ["\ud800", "a", "b"]],
)
def test_mixed_ids_come_back_as_the_text_in_the_ranking(tmp_path, ids):
    """Also if two of them are the same as text."""
    graph = AttributedGraph.from_edges([[0], [2]], np.ones((3, 1)), ids=objects(ids))
    found = kept(graph, tmp_path)
    assert found.ids.tolist() == id_column(graph.ids).to_pylist()
    assert found.fingerprint() == graph.fingerprint()


def test_what_the_features_are_comes_back(tmp_path):
    graph = replace(generate_network(30, 60, 4), columns=COLUMNS)
    found = kept(graph, tmp_path)
    assert found.columns == COLUMNS
    assert found.described == graph.described
    assert found.fingerprint() == graph.fingerprint()


def test_features_without_a_description_keep_their_names(tmp_path):
    names = ["id", "x0", "=b", "id"]
    edges, x = [[0], [1]], np.arange(12.0).reshape(3, 4)
    graph = AttributedGraph.from_edges(edges, x, feature_names=names)
    found = kept(graph, tmp_path)
    assert [column.title for column in found.described] == names
    assert found.feature_names == tuple(names)
    np.testing.assert_array_equal(found.features, x)


def test_structural_networks_stay_so(tmp_path):
    columns = tuple(FeatureColumn(name, "structure") for name in "abcd")
    graph = replace(generate_network(30, 60, 4), columns=columns)
    assert kept(graph, tmp_path).is_structural


@pytest.mark.parametrize("rows", [1, 7, 30, 31])
def test_how_many_rows_are_written_at_once_changes_nothing(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(kept_network, "_ROWS_AT_ONCE", rows)
    graph = generate_network(30, 60, 3)
    found = kept(graph, tmp_path)
    assert found.fingerprint() == graph.fingerprint()
    assert found.ids.tolist() == list(range(30))


def test_it_can_be_read_by_others(tmp_path):
    """One row for each node with its id, one for each edge with its ends; every edge once."""
    graph = AttributedGraph.from_edges(
        [[0, 1, 2], [1, 0, 1]], [[1.0], [2.0], [3.0]], ids=["a", "b", "c"]
    )
    save_network(graph, id_column(graph.ids), tmp_path)
    nodes = pq.read_table(tmp_path / "network" / "nodes.parquet")
    assert nodes.to_pydict() == {"id": ["a", "b", "c"], "x0": [1.0, 2.0, 3.0]}
    edges = pq.read_table(tmp_path / "network" / "edges.parquet").to_pydict()
    assert edges == {"source": [0, 1], "target": [1, 2]}


def test_written_again_it_is_the_same_bytes(tmp_path):
    graph = generate_network(30, 60, 3)
    files = [tmp_path / "network" / name for name in ("nodes.parquet", "edges.parquet")]
    kept(graph, tmp_path)
    before = [file.read_bytes() for file in files]
    kept(graph, tmp_path)
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("lost", ["nodes.parquet", "edges.parquet", "all"])
def test_without_its_files_there_is_none(tmp_path, lost):
    kept(generate_network(30, 60, 3), tmp_path)
    for file in (tmp_path / "network").iterdir():
        if lost in ("all", file.name):
            file.unlink()
    assert load_network(tmp_path) is None


def test_beside_a_model_file_there_is_none(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert load_network(tmp_path / "model.safetensors") is None
    assert load_network(tmp_path / "nowhere") is None


def test_its_size_is_told_where_it_is_not_the_one_judged(tmp_path):
    kept(generate_network(30, 60, 3), tmp_path)
    require_size(tmp_path, 30, 3)
    for size in ((31, 3), (30, 2)):
        with pytest.raises(RunError, match=r"nodes\.parquet must have .* \(found 30 and 3\)"):
            require_size(tmp_path, *size)


def damage(folder, how):
    nodes, edges = folder / "nodes.parquet", folder / "edges.parquet"
    if how == "half a file":
        nodes.write_bytes(nodes.read_bytes()[:200])
    elif how == "no description":
        pq.write_table(pq.read_table(nodes).replace_schema_metadata(None), nodes)
    elif how == "other columns":
        pq.write_table(pa.table({"from": [0], "to": [1]}), edges)
    elif how == "edges to nowhere":
        pq.write_table(pa.table({"source": [0], "target": [999]}), edges)
    elif how == "text for numbers":
        table = pq.read_table(nodes)
        text = pa.array(["?"] * table.num_rows)
        pq.write_table(table.set_column(1, "x0", text), nodes)


@pytest.mark.parametrize(
    "how",
    ["half a file", "no description", "other columns", "edges to nowhere", "text for numbers"],
)
def test_a_damaged_one_is_told_in_one_sentence(tmp_path, how):
    kept(generate_network(30, 60, 3), tmp_path)
    damage(tmp_path / "network", how)
    with pytest.raises(RunError, match="is damaged; run `detect` again") as caught:
        load_network(tmp_path)
    assert "\n" not in str(caught.value)
