"""Networks as matrices: NumPy's `.npz` and MATLAB's `.mat`, read without running anything."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.errors import DatasetError
from egoscore.graph.archive import open_archive, read_member

# Names that files of the field use, in the order in which they are looked for.
ADJACENCY = ("network", "adj", "adj_matrix", "adjacency", "a", "w", "graph")
EDGES = ("edge_index", "edges", "edge_list")
FEATURES = (
    *("attributes", "attrb", "attr", "attr_matrix"),
    *("features", "feature", "feats", "feat", "x"),
)
EDGE_VALUES = ("edge_weight", "edge_weights", "edge_attr")
LABELS = ("label", "labels", "gnd", "class", "y")
_DGRAPH = {"x", "y", "edge_index", "edge_type", "train_mask"}
_ABOUT = ("format", "_is_array")  # what scipy says about its matrix
_HDF5 = b"\x89HDF"


def read_npz(path: Path) -> dict[str, Any]:
    """The arrays and sparse matrices of an `.npz` file, by name in lower case."""
    with path.open("rb") as source, open_archive(source, path) as archive:
        arrays = {
            member.filename.removesuffix(".npy"): _array(archive, member, path)
            for member in archive.infolist()
            if member.filename.endswith(".npy")
        }
    known = {name.lower(): array for name, array in arrays.items() if array is not None}
    return _with_sparse(known)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> NDArray[Any] | None:
    """An array; none if it is made of Python objects, which are never unpacked."""
    content = read_member(archive, member, path)
    try:
        array = np.load(content, allow_pickle=False)
    except ValueError as error:
        if "allow_pickle" in str(error):
            return None
        raise
    return array if isinstance(array, np.ndarray) else None


def _with_sparse(arrays: dict[str, Any]) -> dict[str, Any]:
    """The same with matrices instead of their parts: adj_data, adj_indices, adj_indptr, ….

    `scipy.sparse.save_npz` writes the parts of its one matrix without a name, which is then adj.
    """
    for prefix in [name.removesuffix("indptr") for name in arrays if name.endswith("indptr")]:
        parts = tuple(arrays.pop(f"{prefix}{part}") for part in ("data", "indices", "indptr"))
        rows, columns = (int(length) for length in arrays.pop(f"{prefix}shape"))
        by_column = b"csc" in np.asarray(arrays.pop(f"{prefix}format", b"csr")).tobytes()
        make = sparse.csc_array if by_column else sparse.csr_array
        matrix = make(parts, shape=(rows, columns))
        matrix.check_format(full_check=True)
        arrays[prefix.rstrip("_.") or "adj"] = matrix
    if {"row", "col", "data", "shape"} <= set(arrays):
        rows, columns = (int(length) for length in arrays.pop("shape"))
        entries = (arrays.pop("data"), (arrays.pop("row"), arrays.pop("col")))
        arrays["adj"] = sparse.coo_array(entries, shape=(rows, columns))
    return {name: array for name, array in arrays.items() if name not in _ABOUT}


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a `.mat` file by name in lower case, None for those that no network has."""
    from scipy.io import loadmat, whosmat

    with path.open("rb") as file:
        is_hdf5 = _HDF5 in file.read(1024)
    if is_hdf5:
        raise DatasetError(
            f"The file {path} was saved by MATLAB as version 7.3 (HDF5), which is not read here; "
            "save it again with -v7."
        )
    wanted = {*ADJACENCY, *FEATURES, *LABELS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = [name for name, *_ in whosmat(path)]
        names = [name for name in every if name.lower() in wanted]
        found: Mapping[str, Any] = loadmat(path, variable_names=names, spmatrix=False)
    unread = {name.lower() for name in every} - wanted - {*EDGES, *_DGRAPH}
    return {name.lower(): found[name] for name in names} | dict.fromkeys(sorted(unread))


def is_dgraph(arrays: Mapping[str, Any]) -> bool:
    """Whether these are the arrays of DGraph-Fin, whose edges lie on their side."""
    return set(arrays) >= _DGRAPH and arrays["edge_index"].shape[-1:] == (2,)


def first_of(names: tuple[str, ...], arrays: Mapping[str, Any]) -> tuple[str, Any]:
    """The first array that has one of these names, and the name; None if there is none."""
    name = next((name for name in names if name in arrays), "")
    return name, arrays.get(name)


def unused(arrays: Mapping[str, Any], told: Sequence[str]) -> list[str]:
    """The names of arrays that are neither edges nor features nor `told` as labels."""
    name, matrix = first_of(ADJACENCY, arrays)
    is_matrix = getattr(matrix, "ndim", 0) == 2
    edges = (name,) if is_matrix else (first_of(EDGES, arrays)[0], *EDGE_VALUES)
    used = {*edges, first_of(FEATURES, arrays)[0], *told}
    return [name for name in arrays if name not in used]


def edges_of(
    arrays: Mapping[str, Any], path: Path, directed: bool, notes: list[str]
) -> tuple[NDArray[Any], int]:
    """The edges as (2, E) row numbers, and how many nodes there are at least."""
    name, matrix = first_of(ADJACENCY, arrays)
    if matrix is not None and getattr(matrix, "ndim", 0) == 2:
        entries = _entries(matrix, name, path)
        if len(entries.data) and (entries.data != entries.data[0]).any():
            notes.append(
                f"{path}: the entries of '{name}' differ; such weights are not used, only which "
                "of them are not zero."
            )
        if not directed and not _is_symmetric(entries):
            notes.append(
                f"{path}: '{name}' is not symmetric, and every entry is an edge both ways; "
                "--directed keeps the directions apart."
            )
        return np.stack(entries.coords), int(matrix.shape[0])
    name, listed = first_of(EDGES, arrays)
    if listed is None:
        names = ", ".join(sorted(arrays)) or "nothing of the kind"
        raise DatasetError(
            f"The file {path} has no network: it needs a matrix called Network or adj, or an array "
            f"edge_index (found {names})."
        )
    if listed.ndim != 2 or 2 not in listed.shape or listed.dtype.kind not in "iu":
        raise DatasetError(
            f"In the file {path}, '{name}' must be whole numbers of shape (2, E) or (E, 2) (found "
            f"{listed.dtype} of shape {listed.shape})."
        )
    weights = [name for name in EDGE_VALUES if name in arrays]
    notes += [f"{path}: the values of '{name}' are not used." for name in weights]
    pairs = listed if len(listed) == 2 else listed.T
    return pairs, int(pairs.max(initial=-1)) + 1


def _entries(matrix: Any, name: str, path: Path) -> Any:
    """The entries of a matrix that are not zero, as a COO array."""
    if matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise DatasetError(
            f"In the file {path}, '{name}' must be a square matrix of numbers (found "
            f"{matrix.dtype} of shape {matrix.shape})."
        )
    entries = sparse.coo_array(matrix)
    if entries.dtype.kind == "f" and np.isnan(entries.data).any():
        raise DatasetError(f"In the file {path}, '{name}' has NaN entries; say if they are edges.")
    present = entries.data != 0
    ends = tuple(end[present] for end in entries.coords)
    return sparse.coo_array((entries.data[present], ends), shape=entries.shape)


def _is_symmetric(entries: Any) -> bool:
    """Whether for every entry there is one on the other side of the diagonal."""
    pattern = entries.astype(bool).tocsr()
    return bool((pattern != pattern.T.tocsr()).nnz == 0)
