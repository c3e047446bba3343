"""Networks in Parquet files: read whole, refused in one sentence."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.errors import InputError
from egoscore.graph.parquet_file import read_folder


def write(folder, nodes, edges):
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(nodes), folder / "nodes.parquet")
    pq.write_table(pa.table(edges), folder / "edges.parquet")
    return folder


NODES = {"id": ["ann", "bob", "eve"], "age": [30, 40, 50], "vip": [True, False, True]}
EDGES = {"from": ["eve", "ann"], "to": ["ann", "bob"], "when": [1, 2]}


def test_ids_features_and_edges_arrive(tmp_path):
    graph = read_folder(write(tmp_path, NODES, EDGES))
    assert graph.ids.tolist() == ["ann", "bob", "eve"]
    assert graph.feature_names == ("age", "vip")
    np.testing.assert_array_equal(graph.features, [[30, 1], [40, 0], [50, 1]])
    assert graph.num_edges == 2
    assert sorted(graph.neighbours.indices[: graph.neighbours.indptr[1]]) == [1, 2]
    assert graph.labels is None


def test_labels_are_not_features(tmp_path):
    graph = read_folder(write(tmp_path, {**NODES, "label": [0, 0, 1]}, EDGES))
    assert graph.labels.tolist() == [0, 0, 1]
    assert graph.num_features == 2


def test_numbers_as_ids_need_not_be_in_order_nor_of_one_width(tmp_path):
    nodes = {"id": pa.array([7, 3, 9], pa.int64()), "x": [0.5, 1.5, 2.5]}
    edges = {"a": pa.array([9, 3], pa.int32()), "b": pa.array([7, 9], pa.int32())}
    graph = read_folder(write(tmp_path, nodes, edges))
    assert graph.ids.tolist() == [7, 3, 9]
    assert sorted(graph.neighbours.indices[graph.neighbours.indptr[2] :]) == [0, 1]


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ({**NODES, "name": ["a", "b", "c"]}, EDGES, r"'name' in .*nodes.parquet is not numeric"),
        ({**NODES, "age": [1, None, 3]}, EDGES, r"'age' in .* has missing values \(1 of them\)"),
        (
            {**NODES, "age": [1.0, -1e300, 3.0]},
            EDGES,
            r"beyond single precision \(found -1e\+300\)",
        ),
        (
            {**NODES, "id": ["ann", None, "eve"]},
            {"a": ["ann"], "b": ["eve"]},
            "1 rows without an id",
        ),
        ({**NODES, "label": [0, 1, 7]}, EDGES, "'label' in .* must hold 0"),
        ({**NODES, "label": [0, 1, None]}, EDGES, "'label' in .* must hold 0"),
        ({**NODES, "label": ["a", "b", "c"]}, EDGES, "'label' in .* must hold 0"),
        ({"age": [1, 2]}, EDGES, "needs a column 'id'"),
        (NODES, {"from": ["ann"]}, "needs two columns"),
        (NODES, {"from": ["ann", "ann"], "to": ["bob", "joe"]}, "Edge 1 in .* points to 'joe'"),
        (NODES, {"from": [[1]], "to": [[2]]}, "give both the same type"),
        (
            {**NODES, "id": ["ann", "ann", "eve"]},
            {"a": ["ann"], "b": ["eve"]},
            "'ann' occurs more than once",
        ),
        ({"id": [1, 1], "x": [0.0, 1.0]}, {"a": [1], "b": [1]}, "1 occurs more than once"),
        ({"id": [1, 2]}, {"a": [1], "b": [2]}, "no node features"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path, nodes, edges, message):
    with pytest.raises(InputError, match=message):
        read_folder(write(tmp_path, nodes, edges))


@pytest.mark.parametrize("name", ["nodes.parquet", "edges.parquet"])
def test_a_missing_or_damaged_file_is_told(tmp_path, name):
    write(tmp_path, NODES, EDGES)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=f"{name} is not a complete Parquet file"):
        read_folder(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=f"{name} is not there"):
        read_folder(tmp_path)
