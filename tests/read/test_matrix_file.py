"""Matrices in .npz and .mat, with scipy as judge."""

import io
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from egoscore.read import Choices, read_network_file

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
def test_what_scipy_saves(tmp_path, form, said):
    sparse.save_npz(tmp_path / "net.npz", ADJ.asformat(form))
    reading = read_network_file(tmp_path / "net.npz", Choices(directed=True))
    assert same(reading.graph)
    assert reading.graph.is_structural
    assert said(reading, "structure of the network")


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
def test_arrays_by_their_usual_names(tmp_path, arrays, said):
    np.savez(tmp_path / "net.npz", **arrays)
    reading = read_network_file(tmp_path / "net.npz", Choices(directed=True))
    assert same(reading.graph)
    np.testing.assert_array_equal(reading.graph.features, X)
    assert reading.graph.labels.tolist() == Y.tolist()
    assert said(reading, "gives the features")
    assert said(reading, "are the labels of outliers")
    assert same(read_network_file(tmp_path / "net.npz").graph, directed=False)


def test_classes_are_no_labels_and_objects_are_never_unpacked(tmp_path, said):
    odd = np.array([{}, []], dtype=object)
    np.savez(tmp_path / "net.npz", x=X, edge_index=PAIRS, y=np.arange(12), names=odd)
    reading = read_network_file(tmp_path / "net.npz")
    assert reading.graph.labels is None
    assert said(reading, "no labels of outliers")


def test_dgraph_is_recognised(tmp_path, said):
    y = np.array([0, 1, 2, 3] * 3)
    more = {"edge_type": np.ones(PAIRS.shape[1]), "train_mask": np.arange(3)}
    np.savez(tmp_path / "dgraphfin.npz", x=X, y=y, edge_index=PAIRS.T, **more)
    reading = read_network_file(tmp_path / "dgraphfin.npz")
    assert reading.graph.labels.tolist() == (y == 1).tolist()
    assert said(reading, "DGraph-Fin")


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
    graph = read_network_file(tmp_path / "net.mat", Choices(directed=True)).graph
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
        ("a.npz", npz(x=X), "has no network"),
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
    assert "--features, --impute cannot be used" in refusal(
        read_network_file, path, Choices(features=("x",), impute="median")
    )


SYMMETRIC = (ADJ + ADJ.T).toarray() > 0


def notes_of(tmp_path, matrix, **choices):
    np.savez(tmp_path / "net.npz", adj=matrix, x=X)
    scipy_io.savemat(tmp_path / "net.mat", {"Network": sparse.csc_array(matrix), "X": X})
    for name in ("net.npz", "net.mat"):
        yield read_network_file(tmp_path / name, Choices(**choices)).notes


def test_weights_in_a_matrix_are_told(tmp_path):
    for notes in notes_of(tmp_path, SYMMETRIC * 3.0):
        assert not any("differ" in note for note in notes)
    weighted = SYMMETRIC * (1.0 + np.add.outer(np.arange(12), np.arange(12)))
    for notes in notes_of(tmp_path, weighted):
        assert sum("differ; such weights are not used" in note for note in notes) == 1
        assert not any("symmetric" in note for note in notes)


def test_a_matrix_that_is_not_symmetric_is_told(tmp_path):
    one_way = (ADJ.toarray() > 0) * 1.0
    for notes in notes_of(tmp_path, one_way):
        assert sum("not symmetric" in note and "--directed" in note for note in notes) == 1
    for notes in notes_of(tmp_path, one_way, directed=True):
        assert not any("symmetric" in note for note in notes)
    for notes in notes_of(tmp_path, SYMMETRIC * 1.0):
        assert not any("symmetric" in note for note in notes)


def test_weights_beside_a_list_of_edges_are_told(tmp_path, said):
    np.savez(tmp_path / "net.npz", x=X, edge_index=PAIRS, edge_weight=np.ones(PAIRS.shape[1]))
    assert said(read_network_file(tmp_path / "net.npz"), "'edge_weight' are not used")


def test_classes_do_not_hide_labels(tmp_path, said):
    classes = np.arange(12).reshape(-1, 1)
    scipy_io.savemat(tmp_path / "net.mat", {"Network": ADJ, "Label": classes, "gnd": Y})
    reading = read_network_file(tmp_path / "net.mat")
    assert reading.graph.labels.tolist() == Y.tolist()
    assert said(reading, "the values of 'gnd' are the labels of outliers")
    assert said(reading, "the values of 'label' are no labels of outliers")


def test_what_is_not_used_is_told(tmp_path):
    adjacency = np.zeros((12, 12))
    adjacency[PAIRS[0], PAIRS[1]] = 1
    scipy_io.savemat(
        tmp_path / "net.mat", {"W": adjacency, "feat": X, "names": np.arange(12), "z": 3}
    )
    reading = read_network_file(tmp_path / "net.mat")
    np.testing.assert_array_equal(reading.graph.features, X.astype(np.float32))
    assert any(note.endswith("not used: 'names', 'z'.") for note in reading.notes)


def test_the_parts_of_a_matrix_are_used(tmp_path):
    matrix = sparse.coo_array((np.ones(PAIRS.shape[1]), (PAIRS[0], PAIRS[1])), shape=(12, 12))
    sparse.save_npz(tmp_path / "net.npz", matrix)
    assert not any("not used: " in note for note in read_network_file(tmp_path / "net.npz").notes)


def test_weights_beside_a_matrix_are_told(tmp_path):
    adjacency = np.zeros((12, 12))
    adjacency[PAIRS[0], PAIRS[1]] = 1
    np.savez(tmp_path / "net.npz", adj=adjacency, edge_weight=np.ones(3), x=X)
    notes = read_network_file(tmp_path / "net.npz").notes
    assert any(note.endswith("not used: 'edge_weight'.") for note in notes)


def test_a_mat_file_with_the_names_of_dgraph_is_none(tmp_path, refusal):
    values = {"x": X, "y": Y, "edge_index": PAIRS, "edge_type": Y, "train_mask": Y}
    scipy_io.savemat(tmp_path / "net.mat", values)
    assert "needs a matrix called Network" in refusal(read_network_file, tmp_path / "net.mat")
