"""Folders with Parquet files: read whole, refused in one sentence."""

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from egoscore.load.options import Options
from egoscore.load.parquet import ParquetTable, open_arrow
from egoscore.load.source import load_source, read_source
from egoscore.load.table import is_text


def write_folder(folder, nodes, edges):
    pq.write_table(pa.table(nodes), folder / "nodes.parquet")
    pq.write_table(pa.table(edges), folder / "edges.parquet")
    return str(folder)


NODES = {"id": ["ann", "bob", "eve"], "age": [30, 40, 50], "vip": [True, False, True]}
EDGES = {"from": ["eve", "ann"], "to": ["ann", "bob"], "when": [1, 2]}


def test_ids_features_and_edges_arrive(tmp_path):
    graph = load_source(write_folder(tmp_path, NODES, EDGES))
    assert graph.ids.tolist() == ["ann", "bob", "eve"]
    assert graph.feature_names[:2] == ("age", "vip")
    assert graph.columns[2].title == "when (total)"
    np.testing.assert_array_equal(graph.features[:, :2], [[30, 1], [40, 0], [50, 1]])
    assert graph.num_edges == 2
    assert sorted(graph.neighbours.indices[: graph.neighbours.indptr[1]]) == [1, 2]
    assert graph.labels is None


def test_labels_are_not_features(tmp_path):
    graph = load_source(write_folder(tmp_path, {**NODES, "label": [0, 0, 1]}, EDGES))
    assert graph.labels.tolist() == [0, 0, 1]
    assert [c.title for c in graph.columns if not c.is_computed] == ["age", "vip"]


def test_numbers_as_ids_need_not_be_in_order_nor_of_one_width(tmp_path):
    nodes = {"id": pa.array([7, 3, 9], pa.int64()), "x": [0.5, 1.5, 2.5]}
    edges = {"a": pa.array([9, 3], pa.int32()), "b": pa.array([7, 9], pa.int32())}
    graph = load_source(write_folder(tmp_path, nodes, edges))
    assert graph.ids.tolist() == [7, 3, 9]
    assert graph.ids.dtype == np.int64
    assert sorted(graph.neighbours.indices[graph.neighbours.indptr[2] :]) == [0, 1]


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ({**NODES, "age": [1.0, -1e300, 3.0]}, EDGES, "beyond single precision (found -1e+300)"),
        ({**NODES, "id": ["ann", None, "eve"]}, {"a": ["ann"], "b": ["eve"]}, "1 row without"),
        ({"age": [1, 2]}, EDGES, "needs a column 'id'"),
        (NODES, {"from": ["ann"]}, "needs two columns"),
        (NODES, {"from": ["joe", "w", "ann"], "to": ["bob", "x", "y"]}, "'joe'"),
        (NODES, {"from": [[1]], "to": [[2]]}, "turn them into text or whole numbers"),
        ({**NODES, "id": ["ann", "ann", "eve"]}, EDGES, "'ann' occurs more than once"),
        ({"id": [1, 1], "x": [0.0, 1.0]}, {"a": [1], "b": [1]}, "1 occurs more than once"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path, refusal, nodes, edges, message):
    assert message in refusal(load_source, write_folder(tmp_path, nodes, edges))


def test_missing_values_are_refused_on_demand(tmp_path, refusal):
    folder = write_folder(tmp_path, {**NODES, "age": [1, None, 3]}, EDGES)
    message = refusal(read_source, folder, None, Options(impute="none"))
    assert "missing values in 'age' (1)" in message
    assert "age is missing" in read_source(folder).graph.feature_names


def test_what_was_refused_once_is_now_decided_and_told(tmp_path, noted):
    nodes = {**NODES, "team": ["a", "b", "c"], "label": [0, 1, 7], "tags": [[1], [2], [3]]}
    reading = read_source(write_folder(tmp_path, nodes, EDGES))
    assert len([c for c in reading.graph.columns if not c.is_computed]) == 5
    assert noted(reading, "column-categories", column="team", count=3)
    assert noted(reading, "answer-not-binary", column="label")
    assert noted(reading, "column-unusable", column="tags", reason="type")
    assert noted(reading, "edge-features", columns=["when"])
    assert load_source(write_folder(tmp_path, {"id": [1, 2]}, {"a": [1], "b": [2]})).is_structural


@pytest.mark.parametrize("name", ["nodes.parquet", "edges.parquet"])
def test_a_damaged_file_is_told(tmp_path, refusal, name):
    folder = write_folder(tmp_path, NODES, EDGES)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    assert f"{name} is not a complete Parquet file" in refusal(load_source, folder)


def test_only_the_columns_asked_for_even_with_dots_in_their_names(tmp_path):
    pq.write_table(pa.table({"a.b": [1], "a": [{"b": 2}], "c": ["x"]}), tmp_path / "t.parquet")
    table = ParquetTable(tmp_path / "t.parquet")
    assert table.columns == ("a.b", "a", "c")
    assert table.read(["c", "a.b"])["a.b"].to_pylist() == [1]
    assert [table.looks_numeric(name) for name in table.columns] == [True, False, False]


def test_damaged_values_are_told(tmp_path, refusal):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [f"text {i}" for i in range(1000)]}), path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:400] = b"\xff" * 396
    path.write_bytes(data)
    assert "not a complete Parquet file" in refusal(ParquetTable(path).read, ["a"])


def test_arrow_files(tmp_path, refusal):
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"a": ["x", "y"]}), str(path))
    assert open_arrow(path).read(["a"])["a"].to_pylist() == ["x", "y"]
    path.write_bytes(path.read_bytes()[:-30])
    assert "not a complete Arrow file" in refusal(open_arrow, path)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_type_of_text_is_read(tmp_path, kind):
    assert is_text(kind)
    nodes = {name: pa.array(NODES["id"], kind) if name == "id" else NODES[name] for name in NODES}
    nodes["place"] = pa.array(["north", "south", "north"], kind)
    edges = {name: pa.array(EDGES[name], kind) for name in ("from", "to")}
    folder = write_folder(tmp_path, nodes, edges)
    for encoded in ((), ("place",)):
        column = ParquetTable(tmp_path / "nodes.parquet").read(["place"], encoded)["place"]
        assert column.to_pylist() == ["north", "south", "north"]
    assert ParquetTable(tmp_path / "nodes.parquet").sample("place").to_pylist()[0] == "north"
    graph = load_source(folder)
    assert graph.ids.tolist() == NODES["id"]
    assert graph.num_edges == 2
    feather.write_feather(pa.table(nodes), str(tmp_path / "nodes.feather"))
    (tmp_path / "nodes.parquet").unlink()
    again = load_source(folder)
    assert again.feature_names == graph.feature_names
    np.testing.assert_array_equal(again.features, graph.features)


class TestOurOwnErrors:
    """They are not blamed on the file."""

    @pytest.mark.parametrize("work", ["collect", "_plain", "check_growth"])
    @pytest.mark.parametrize("defect", [pa.ArrowNotImplementedError, OSError, pa.ArrowInvalid])
    def test_a_defect_surfaces_as_itself(self, tmp_path, monkeypatch, work, defect):
        def fail(*_):
            raise defect("ours")

        pq.write_table(pa.table(NODES), tmp_path / "t.parquet")
        table = ParquetTable(tmp_path / "t.parquet")
        monkeypatch.setattr(f"egoscore.load.parquet.{work}", fail)
        with pytest.raises(defect, match="ours"):
            table.read(["id", "age"])

    @pytest.mark.parametrize("error", [pa.ArrowMemoryError, MemoryError])
    def test_running_out_of_memory_is_not_damage(self, tmp_path, monkeypatch, refusal, error):
        def fail(*_, **__):
            raise error("malloc of size 10000000 failed")

        pq.write_table(pa.table(NODES), tmp_path / "t.parquet")
        table = ParquetTable(tmp_path / "t.parquet")
        monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: map(fail, [1]))
        assert "memory" in refusal(table.read, ["age"])
        assert "memory" in refusal(table.sample, "age")
