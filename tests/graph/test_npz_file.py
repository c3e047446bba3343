from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egoscore.errors import DatasetError
from egoscore.graph.npz_file import read_dgraph


def dgraph_arrays() -> dict[str, Any]:
    """The layout of DGraph-Fin: edges in rows, four classes, masks that hold row numbers."""
    return {
        "x": np.random.default_rng(0).normal(size=(6, 17)),
        "y": np.array([0, 1, 2, 3, 1, 0]),
        "edge_index": np.array([[0, 1], [1, 2], [2, 1], [3, 3], [4, 5]]),
        "edge_type": np.array([1, 2, 3, 4, 5]),
        "edge_timestamp": np.array([9, 8, 7, 6, 5]),
        "train_mask": np.array([0, 1]),
        "valid_mask": np.array([4]),
        "test_mask": np.array([5]),
    }


def write_npz(path: Path, **changes: Any) -> Path:
    arrays = {**dgraph_arrays(), **changes}
    with path.open("wb") as file:
        np.savez_compressed(file, **{k: v for k, v in arrays.items() if v is not None})
    return path


def test_reads_the_layout_of_dgraph(tmp_path: Path) -> None:
    graph = read_dgraph(write_npz(tmp_path / "dgraphfin.npz"))
    assert (graph.num_nodes, graph.num_features, graph.directed) == (6, 17, False)
    assert graph.num_edges == 3
    assert (graph.dropped_self_loops, graph.dropped_duplicates) == (1, 0)
    np.testing.assert_array_equal(graph.labels, [0, 1, 0, 0, 1, 0])
    np.testing.assert_array_equal(graph.features, dgraph_arrays()["x"].astype(np.float32))


def test_two_edges_are_still_read_as_rows(tmp_path: Path) -> None:
    graph = read_dgraph(write_npz(tmp_path / "f.npz", edge_index=np.array([[0, 1], [2, 3]])))
    pairs = {
        (node, int(other))
        for node in range(6)
        for other in graph.adjacency.indices[
            graph.adjacency.indptr[node] : graph.adjacency.indptr[node + 1]
        ]
    }
    assert pairs == {(0, 1), (1, 0), (2, 3), (3, 2)}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"x": None}, "has no array 'x'"),
        ({"y": None}, "has no array 'y'"),
        ({"edge_index": None}, "has no array 'edge_index'"),
        ({"edge_index": np.zeros((2, 5), int)}, r"shape \(E, 2\).*found shape \(2, 5\)"),
        ({"edge_index": np.zeros(4, int)}, r"shape \(E, 2\)"),
        ({"edge_index": np.array([[0, 6]])}, "points to node 6"),
        ({"x": np.full((6, 2), np.nan)}, "must be finite"),
        ({"x": np.array([["a"]] * 6)}, "'x' must be an array of numbers"),
        ({"y": np.zeros(5)}, "one label for each of the 6 nodes"),
    ],
)
def test_wrong_content_is_refused_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    path = write_npz(tmp_path / "dgraphfin.npz", **changes)
    with pytest.raises(DatasetError, match=says) as caught:
        read_dgraph(path)
    assert str(path) in str(caught.value)


class Malice:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.marker}",)


def test_objects_in_arrays_are_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    path = write_npz(tmp_path / "f.npz", x=np.array([[Malice(marker)]] * 6, dtype=object))
    np.load(path, allow_pickle=True)["x"]
    assert marker.exists(), "the file must be truly malicious for this test to mean anything"
    marker.unlink()
    with pytest.raises(DatasetError, match="damaged"):
        read_dgraph(path)
    assert not marker.exists()


def test_missing_folder_and_empty_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nothing\.npz cannot be read: No such file"):
        read_dgraph(tmp_path / "nothing.npz")
    with pytest.raises(DatasetError, match="cannot be read: Is a directory"):
        read_dgraph(tmp_path)
    (tmp_path / "empty.npz").touch()
    with pytest.raises(DatasetError, match=r"empty\.npz is empty"):
        read_dgraph(tmp_path / "empty.npz")


def test_damage_anywhere_is_a_dataset_error_or_harmless(tmp_path: Path) -> None:
    whole = write_npz(tmp_path / "whole.npz").read_bytes()
    path = tmp_path / "damaged.npz"
    rng = np.random.default_rng(0)
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        with pytest.raises(DatasetError):
            read_dgraph(path)
    for place in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            read_dgraph(path)
        except DatasetError as error:
            assert str(path) in str(error)  # noqa: PT017
