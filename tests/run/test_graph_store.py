"""The graph stored in a run comes back unchanged, whatever it holds."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore import AttributedGraph, generate_network
from egoscore.errors import RunError
from egoscore.graph.category_codes import CategoryCodes
from egoscore.graph.feature_column import FeatureColumn
from egoscore.ranking import id_column
from egoscore.run import graph_store
from egoscore.run.graph_store import has_graph, load_graph, save_graph
from egoscore.run.tables import described, facts_of, read_table, write_table

COLUMNS = (
    FeatureColumn("age"),
    FeatureColumn("country", "category", "NZ"),
    FeatureColumn("since", "date"),
    FeatureColumn("amount", "weight", "largest"),
)


def stored(graph, folder):
    """A graph, saved and loaded again."""
    save_graph(graph, id_column(graph.ids), folder)
    return load_graph(folder)


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("directed", [False, True])
def test_structure_and_features_come_back_unchanged(tmp_path, directed):
    graph = generate_network(80, 200, 4, seed=1, directed=directed)
    found = stored(graph, tmp_path)
    assert found.fingerprint() == graph.fingerprint()
    assert (found.directed, found.num_edges) == (directed, graph.num_edges)
    np.testing.assert_array_equal(found.features, graph.features)
    for name in ("adjacency", "neighbours"):
        ours, theirs = getattr(found, name), getattr(graph, name)
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        np.testing.assert_array_equal(ours.indices, theirs.indices)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_small_graph_keeps_its_fingerprint(tmp_path_factory, data):
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
    assert stored(graph, tmp_path_factory.mktemp("run")).fingerprint() == graph.fingerprint()


@pytest.mark.parametrize(
    "edges", [[[], []], [[0], [1]], [[2], [0]]], ids=["no edges", "last alone", "first and last"]
)
def test_isolated_nodes_are_kept(tmp_path, edges):
    graph = AttributedGraph.from_edges(edges, np.arange(8.0).reshape(4, 2))
    found = stored(graph, tmp_path)
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
def test_ids_of_one_type_come_back_unchanged(tmp_path, ids):
    graph = AttributedGraph.from_edges([[0, 1], [1, 2]], np.ones((8, 1)), ids=ids)
    found = stored(graph, tmp_path)
    assert found.ids.tolist() == ids.tolist()
    assert found.fingerprint() == graph.fingerprint()


@pytest.mark.parametrize(
    "ids",
    [[1, "a", 2.5], [1, "1", "x"], [(0, 1), "(0, 1)", 3], [2**70, 1, 2], ["\ud800", "a", "b"]],
)
def test_mixed_ids_come_back_as_text_as_in_the_ranking(tmp_path, ids):
    """Even if two of them are equal as text."""
    graph = AttributedGraph.from_edges([[0], [2]], np.ones((3, 1)), ids=objects(ids))
    found = stored(graph, tmp_path)
    assert found.ids.tolist() == id_column(graph.ids).to_pylist()
    assert found.fingerprint() == graph.fingerprint()


def test_feature_descriptions_come_back(tmp_path):
    graph = replace(generate_network(30, 60, 4), columns=COLUMNS)
    found = stored(graph, tmp_path)
    assert found.columns == COLUMNS
    assert found.described == graph.described
    assert found.fingerprint() == graph.fingerprint()


def test_features_without_a_description_keep_their_names(tmp_path):
    names = ["id", "x0", "=b", "id"]
    edges, x = [[0], [1]], np.arange(12.0).reshape(3, 4)
    graph = AttributedGraph.from_edges(edges, x, feature_names=names)
    found = stored(graph, tmp_path)
    assert [column.title for column in found.described] == names
    assert found.feature_names == tuple(names)
    np.testing.assert_array_equal(found.features, x)


def test_a_structural_graph_stays_structural(tmp_path):
    columns = tuple(FeatureColumn(name, "structure") for name in "abcd")
    graph = replace(generate_network(30, 60, 4), columns=columns)
    assert stored(graph, tmp_path).is_structural


@pytest.mark.parametrize("rows", [1, 7, 30, 31])
def test_the_size_of_row_groups_does_not_matter(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(graph_store, "_ROWS_AT_ONCE", rows)
    graph = generate_network(30, 60, 3)
    found = stored(graph, tmp_path)
    assert found.fingerprint() == graph.fingerprint()
    assert found.ids.tolist() == list(range(30))


def test_other_programs_can_read_it(tmp_path):
    """One row per node, and one per undirected edge."""
    graph = AttributedGraph.from_edges(
        [[0, 1, 2], [1, 0, 1]], [[1.0], [2.0], [3.0]], ids=["a", "b", "c"]
    )
    save_graph(graph, id_column(graph.ids), tmp_path)
    nodes = pq.read_table(tmp_path / "network" / "nodes.parquet")
    assert nodes.to_pydict() == {"id": ["a", "b", "c"], "x0": [1.0, 2.0, 3.0]}
    edges = pq.read_table(tmp_path / "network" / "edges.parquet").to_pydict()
    assert edges == {"source": [0, 1], "target": [1, 2]}


def test_writing_it_again_gives_the_same_bytes(tmp_path):
    graph = generate_network(30, 60, 3)
    files = [tmp_path / "network" / name for name in ("nodes.parquet", "edges.parquet")]
    stored(graph, tmp_path)
    before = [file.read_bytes() for file in files]
    stored(graph, tmp_path)
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("lost", ["nodes.parquet", "edges.parquet"])
def test_half_a_graph_is_none(tmp_path, lost):
    stored(generate_network(30, 60, 3), tmp_path)
    assert has_graph(tmp_path)
    (tmp_path / "network" / lost).unlink()
    assert not has_graph(tmp_path)
    assert not has_graph(tmp_path / "nowhere")


def damage(folder, how):
    nodes, edges = folder / "nodes.parquet", folder / "edges.parquet"
    table = read_table(nodes)
    if how == "half a file":
        nodes.write_bytes(nodes.read_bytes()[:200])
    elif how == "written by another program":
        pq.write_table(table, nodes)
    elif how == "no description":
        write_table(table.replace_schema_metadata(None), nodes)
    elif how == "descriptions of other columns":
        facts = facts_of(table.schema)
        schema = described(table.schema, facts | {"columns": facts["columns"][1:]})
        write_table(table.cast(schema), nodes)
    elif how == "other columns":
        write_table(pa.table({"from": [0], "to": [1]}), edges)


@pytest.mark.parametrize(
    "how",
    [
        "half a file",
        "written by another program",
        "no description",
        "descriptions of other columns",
        "other columns",
    ],
)
def test_a_damaged_graph_is_refused(tmp_path, how):
    stored(generate_network(30, 60, 3), tmp_path)
    damage(tmp_path / "network", how)
    with pytest.raises(RunError, match="damaged"):
        load_graph(tmp_path)


@pytest.mark.parametrize("name", ["nodes.parquet", "edges.parquet"])
def test_a_changed_byte_is_noticed(tmp_path, name):
    stored(generate_network(30, 60, 3), tmp_path)
    file = tmp_path / "network" / name
    whole, draw = file.read_bytes(), random.Random(0)
    for position in draw.sample(range(len(whole)), 400):
        changed = bytearray(whole)
        changed[position] ^= draw.randrange(1, 256)
        file.write_bytes(changed)
        with pytest.raises(RunError, match=name):
            load_graph(tmp_path)


def test_an_internal_error_is_not_reported_as_damage(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise TypeError("a bug")

    stored(generate_network(30, 60, 3), tmp_path)
    monkeypatch.setattr(graph_store, "FeatureColumn", fail)
    with pytest.raises(TypeError, match="a bug"):
        load_graph(tmp_path)


def test_codes_of_categories_come_back_unchanged(tmp_path):
    graph = generate_network(80, 200, 4, seed=1)
    codes = {"country": np.arange(80, dtype=np.int32) - 1, "x0": np.zeros(80, dtype=np.int32)}
    columns = {name: CategoryCodes(one, ("a", "é")) for name, one in codes.items()}
    found = stored(replace(graph, categories=columns), tmp_path)
    assert list(found.categories) == list(codes)
    for name, expected in codes.items():
        np.testing.assert_array_equal(found.categories[name].codes, expected)
        assert found.categories[name].codes.dtype == np.int32
        assert found.categories[name].names == ("a", "é")
    assert found.fingerprint() == graph.fingerprint()


def test_names_come_back_and_leave_the_fingerprint_alone(tmp_path):
    graph = generate_network(5, 6, 2)
    names = np.array(["Ann", "Bob", "two\nlines", "漢字", "4"], dtype=np.dtypes.StringDType())
    found = stored(replace(graph, names=names), tmp_path)
    assert found.names.tolist() == names.tolist()
    assert found.ids.tolist() == graph.ids.tolist()
    assert found.fingerprint() == graph.fingerprint()
    (tmp_path / "without").mkdir()
    assert stored(graph, tmp_path / "without").names is None
