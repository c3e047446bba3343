"""Matrices in .npz and .mat, with scipy as judge."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from egoscore.errors import DatasetError
from egoscore.load import Options, read_network_file
from egoscore.load.matrix_files import read_dgraph

RANDOM = np.random.default_rng(0)
ADJ = sparse.random_array((12, 12), density=0.3, rng=RANDOM, format="csr")
ADJ.setdiag(0)
ADJ.eliminate_zeros()
X = RANDOM.normal(size=(12, 3)).astype(np.float32)
Y = np.array([0, 1] * 6)


def same(graph, directed=True):
    wanted = ADJ if directed else ADJ + ADJ.T
    np.testing.assert_array_equal(graph.adjacency.to_scipy().toarray(), wanted.toarray() != 0)
    return True


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_what_scipy_saves(tmp_path, form, noted):
    sparse.save_npz(tmp_path / "net.npz", ADJ.asformat(form))
    reading = read_network_file(tmp_path / "net.npz", Options(directed=True))
    assert same(reading.graph)
    assert reading.graph.is_structural
    assert noted(reading, "structural-features")


def parts(name, matrix):
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": matrix.shape,
    }


PAIRS = np.stack(ADJ.nonzero())


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": X, "edge_index": PAIRS, "y": Y},
        {"features": X, "edges": PAIRS.T, "labels": Y},
        {**parts("adj", ADJ), **parts("attr", sparse.csr_array(X)), "labels": Y},
        {"adj": ADJ.toarray(), "attr": X, "label": Y.reshape(-1, 1)},
    ],
)
def test_arrays_by_their_usual_names(tmp_path, arrays, noted):
    np.savez(tmp_path / "net.npz", **arrays)
    reading = read_network_file(tmp_path / "net.npz", Options(directed=True))
    assert same(reading.graph)
    np.testing.assert_array_equal(reading.graph.features, X)
    assert reading.graph.labels.tolist() == Y.tolist()
    assert noted(reading, "array-features")
    assert noted(reading, "array-labels")
    assert same(read_network_file(tmp_path / "net.npz").graph, directed=False)


def test_classes_are_no_labels_and_objects_are_never_unpacked(tmp_path, noted):
    odd = np.array([{}, []], dtype=object)
    np.savez(tmp_path / "net.npz", x=X, edge_index=PAIRS, y=np.arange(12), names=odd)
    reading = read_network_file(tmp_path / "net.npz")
    assert reading.graph.labels is None
    assert noted(reading, "array-not-labels")


def test_dgraph_is_recognised(tmp_path, noted):
    y = np.array([0, 1, 2, 3] * 3)
    more = {"edge_type": np.ones(PAIRS.shape[1]), "train_mask": np.arange(3)}
    np.savez(tmp_path / "dgraphfin.npz", x=X, y=y, edge_index=PAIRS.T, **more)
    reading = read_network_file(tmp_path / "dgraphfin.npz")
    assert reading.graph.labels.tolist() == (y == 1).tolist()
    assert noted(reading, "dgraph")


@pytest.mark.parametrize(
    "names",
    [("Network", "Attributes", "Label"), ("network", "X", "gnd"), ("A", "Attributes", "Class")],
)
@pytest.mark.parametrize("is_sparse", [True, False])
def test_matlab(tmp_path, names, is_sparse):
    network = ADJ if is_sparse else ADJ.toarray()
    attributes = sparse.csc_array(X.astype(float)) if is_sparse else X
    scipy_io.savemat(
        tmp_path / "net.mat",
        dict(zip(names, (network, attributes, Y.reshape(-1, 1)), strict=True)),
    )
    graph = read_network_file(tmp_path / "net.mat", Options(directed=True)).graph
    assert same(graph)
    np.testing.assert_array_equal(graph.features, X)
    assert graph.labels.tolist() == Y.tolist()


def test_matlab_without_attributes_has_its_structure(tmp_path):
    scipy_io.savemat(tmp_path / "net.mat", {"Network": ADJ})
    assert read_network_file(tmp_path / "net.mat").graph.is_structural


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def huge():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", b"\0" * (100 << 20))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.npz", npz(x=X), "has no graph"),
        ("a.npz", npz(x=X, edge_index=PAIRS + 5), "17 nodes but 'x' has 12 rows"),
        ("a.npz", npz(x=X[:5], adj=ADJ.toarray()), "12 nodes but 'x' has 5 rows"),
        ("a.npz", npz(x=X, edge_index=PAIRS * 1.0), "whole numbers"),
        ("a.npz", npz(x=X, edge_index=np.zeros((3, 3), int)), "of shape (2, E) or (E, 2)"),
        ("a.npz", npz(adj=np.zeros((3, 4))), "square matrix"),
        ("a.npz", npz(adj=np.full((3, 3), np.nan)), "NaN entries"),
        ("a.npz", npz(x=np.full((12, 2), np.nan), edge_index=PAIRS), "finite"),
        ("a.npz", npz(**{**parts("adj", ADJ), "adj_indices": ADJ.indices + 50}), "damaged"),
        ("a.npz", huge(), "more than"),
        ("a.npz", b"PK\x03\x04 and then nothing", "not a zip archive"),
        ("a.mat", b"MATLAB 7.3 MAT-file" + b" " * 500 + b"\x89HDF\r\n", "version 7.3"),
        ("a.mat", b"x" * 1000, "damaged or incomplete"),
    ],
)
def test_what_cannot_be_used_is_told(write, refusal, name, content, words):
    assert words in refusal(read_network_file, write(name, content))


def test_columns_cannot_be_named_where_there_are_none(write, refusal):
    path = write("a.npz", npz(x=X, edge_index=PAIRS))
    assert "`features=`, `impute=` cannot be used" in refusal(
        read_network_file, path, Options(features=("x",), impute="none")
    )


SYMMETRIC = (ADJ + ADJ.T).toarray() > 0


def codes(notes):
    return [note.code for note in notes]


def notes_of(tmp_path, matrix, **options):
    np.savez(tmp_path / "net.npz", adj=matrix, x=X)
    scipy_io.savemat(tmp_path / "net.mat", {"Network": sparse.csc_array(matrix), "X": X})
    for name in ("net.npz", "net.mat"):
        yield read_network_file(tmp_path / name, Options(**options)).notes


def test_weights_in_a_matrix_are_told(tmp_path):
    for notes in notes_of(tmp_path, SYMMETRIC * 3.0):
        assert "entries-differ" not in codes(notes)
    weighted = SYMMETRIC * (1.0 + np.add.outer(np.arange(12), np.arange(12)))
    for notes in notes_of(tmp_path, weighted):
        assert codes(notes).count("entries-differ") == 1
        assert "not-symmetric" not in codes(notes)


def test_a_matrix_that_is_not_symmetric_is_told(tmp_path):
    one_way = (ADJ.toarray() > 0) * 1.0
    for notes in notes_of(tmp_path, one_way):
        assert codes(notes).count("not-symmetric") == 1
    for notes in notes_of(tmp_path, one_way, directed=True):
        assert "not-symmetric" not in codes(notes)
    for notes in notes_of(tmp_path, SYMMETRIC * 1.0):
        assert "not-symmetric" not in codes(notes)


def test_weights_beside_a_list_of_edges_are_told(tmp_path, noted):
    np.savez(tmp_path / "net.npz", x=X, edge_index=PAIRS, edge_weight=np.ones(PAIRS.shape[1]))
    assert noted(read_network_file(tmp_path / "net.npz"), "edge-values-unused", name="edge_weight")


def test_classes_do_not_hide_labels(tmp_path, noted):
    classes = np.arange(12).reshape(-1, 1)
    scipy_io.savemat(tmp_path / "net.mat", {"Network": ADJ, "Label": classes, "gnd": Y})
    reading = read_network_file(tmp_path / "net.mat")
    assert reading.graph.labels.tolist() == Y.tolist()
    assert noted(reading, "array-labels", name="gnd")
    assert noted(reading, "array-not-labels", name="label")


def test_what_is_not_used_is_told(tmp_path, noted):
    adjacency = np.zeros((12, 12))
    adjacency[PAIRS[0], PAIRS[1]] = 1
    scipy_io.savemat(
        tmp_path / "net.mat", {"W": adjacency, "feat": X, "names": np.arange(12), "z": 3}
    )
    reading = read_network_file(tmp_path / "net.mat")
    np.testing.assert_array_equal(reading.graph.features, X.astype(np.float32))
    assert noted(reading, "arrays-unused", names=["names", "z"])


def test_the_parts_of_a_matrix_are_used(tmp_path):
    matrix = sparse.coo_array((np.ones(PAIRS.shape[1]), (PAIRS[0], PAIRS[1])), shape=(12, 12))
    sparse.save_npz(tmp_path / "net.npz", matrix)
    assert "arrays-unused" not in codes(read_network_file(tmp_path / "net.npz").notes)


def test_weights_beside_a_matrix_are_told(tmp_path, noted):
    adjacency = np.zeros((12, 12))
    adjacency[PAIRS[0], PAIRS[1]] = 1
    np.savez(tmp_path / "net.npz", adj=adjacency, edge_weight=np.ones(3), x=X)
    loaded = read_network_file(tmp_path / "net.npz")
    assert noted(loaded, "arrays-unused", names=["edge_weight"])


def test_a_mat_file_with_the_names_of_dgraph_is_none(tmp_path, refusal):
    values = {"x": X, "y": Y, "edge_index": PAIRS, "edge_type": Y, "train_mask": Y}
    scipy_io.savemat(tmp_path / "net.mat", values)
    assert "needs a matrix called Network" in refusal(read_network_file, tmp_path / "net.mat")


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
        ({"x": None}, "'x' must be an array"),
        ({"y": None}, "'y' must be an array"),
        ({"edge_index": None}, "'edge_index' must be an array"),
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
    with pytest.raises(DatasetError, match="'x' must be an array of numbers"):
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


@pytest.mark.parametrize(
    "shape", [[12], [12, 12, 12], [12.0, np.nan], ["a", "b"], [12, -1], [2**62, 2**62], 12]
)
def test_a_shape_that_is_none_is_damage(tmp_path, shape):
    np.savez(tmp_path / "net.npz", **{**parts("adj", ADJ), "adj_shape": np.array(shape)})
    with pytest.raises(DatasetError, match=r"net\.npz is damaged"):
        read_network_file(tmp_path / "net.npz", Options())


@pytest.mark.parametrize("defect", [KeyError, ValueError, OSError])
def test_a_defect_of_ours_is_not_taken_for_damage(tmp_path, monkeypatch, defect):
    class Failing:
        def __contains__(self, kind):
            raise defect("ours")

    scipy_io.savemat(tmp_path / "net.mat", {"Network": ADJ})
    monkeypatch.setattr("egoscore.load.matrix_files._NUMERIC", Failing())
    with pytest.raises(defect, match="ours"):
        read_network_file(tmp_path / "net.mat", Options())
