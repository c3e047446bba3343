"""Graphs as matrices: NumPy's `.npz` and MATLAB's `.mat`, read without executing anything."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.errors import DatasetError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.checks import binary_or_none
from egoscore.load.build import graph_from_arrays
from egoscore.load.options import Loaded, Options
from egoscore.load.unpack import (
    ANY_ERROR,
    archive_limit,
    check_growth,
    damaged,
    naming,
    open_archive_file,
    parsing,
    plain_ending,
    read_member,
)
from egoscore.notes import Note
from egoscore.runtime import no_warnings

# Names in files of the field, in the order in which they are looked for.
ADJACENCY = ("network", "adj", "adj_matrix", "adjacency", "a", "w", "graph")
EDGES = ("edge_index", "edges", "edge_list")
FEATURES = (
    *("attributes", "attrb", "attr", "attr_matrix"),
    *("features", "feature", "feats", "feat", "x"),
)
EDGE_VALUES = ("edge_weight", "edge_weights", "edge_attr")
LABELS = ("label", "labels", "gnd", "class", "y")
_DGRAPH_USED = ("x", "y", "edge_index")
_DGRAPH = {*_DGRAPH_USED, "edge_type", "train_mask"}
_SCIPY_FORMAT = ("format", "_is_array")  # besides the parts of its matrix

# Classes of MATLAB with plain numbers: the others allocate as many cells as they declare.
_NUMERIC = {"double", "single", "logical", "sparse"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_HDF5, _COMPRESSED = b"\x89HDF", 15
_CHUNK = 2**20
_NODE_BYTES = 32  # a node without features takes at least as many
# Real features have an entry among 500 zeros or so; 64 MiB are fine in any case.
_MAX_ZEROS, _SMALL_DENSE, _MAX_DENSE = 5000, 2**26, 2**32


def read_matrix_file(path: Path, options: Options) -> Loaded:
    """The graph in an `.npz` or `.mat` file."""
    refuse_column_options(path, options)
    arrays = read_npz(path) if plain_ending(path) == ".npz" else read_mat(path)
    if _is_dgraph(arrays):
        return Loaded(_dgraph(arrays, path), (Note.info("dgraph", file=str(path)),))
    notes: list[Note] = []
    edges, least, used = _edges(arrays, path, options.directed, notes)
    name, table = _first_of(FEATURES, arrays)
    features, size = None, max(least, 1)
    if table is not None:
        features = _dense(table, path)
        size = len(features) if features.ndim else 0
        notes.append(Note.info("array-features", file=str(path), name=name))
    candidates = {name: arrays.get(name) for name in LABELS}
    labels, seen = find_labels(candidates, size, path, notes)
    unused = [key for key in arrays if key not in (*used, name, *seen)]
    if unused:
        notes.append(Note.info("arrays-unused", file=str(path), names=unused))
    if size < least:
        raise DatasetError(
            f"In the file {path}, the graph has {least} nodes but '{name}' has {size} rows; both "
            "need one for each node."
        )
    return graph_from_arrays(path, edges, features, size, labels, options, notes)


def refuse_column_options(path: Path, options: Options) -> None:
    """Refuse all options except `directed`: matrices have no named columns."""
    names = tuple(name for name in options.given if name != "directed")
    options.refuse(names, f"{path} has no columns with names, only matrices")


def read_npz(path: Path, wanted: Collection[str] = ()) -> dict[str, Any]:
    """The arrays and sparse matrices of an `.npz` file, by name in lower case.

    All of them, or only those that are wanted.
    """
    arrays: dict[str, Any] = {}
    with open_archive_file(path) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy").lower()
            if not member.filename.endswith(".npy") or (wanted and name not in wanted):
                continue
            array = _numbers(read_member(archive, member, path), path)
            if array is not None:
                arrays[name] = array
    return _assemble_sparse(arrays, path)


def _numbers(content: BinaryIO, path: Path) -> NDArray[Any] | None:
    """An array; None if it is made of Python objects, which are never unpickled."""
    with parsing(path, ANY_ERROR):
        try:
            array = np.load(content, allow_pickle=False)
        except ValueError as error:
            if "allow_pickle" in str(error):
                return None
            raise
    return array if isinstance(array, np.ndarray) else None


def _assemble_sparse(arrays: dict[str, Any], path: Path) -> dict[str, Any]:
    """The same with matrices instead of their parts: adj_data, adj_indices, adj_indptr, ....

    `scipy.sparse.save_npz` writes the parts of its one matrix without a name; it becomes adj.
    """
    for prefix in [name.removesuffix("indptr") for name in arrays if name.endswith("indptr")]:
        names = [f"{prefix}{part}" for part in ("data", "indices", "indptr", "shape")]
        if not set(names) <= set(arrays):
            raise damaged(path)
        *parts, shape = (arrays.pop(name) for name in names)
        by_column = b"csc" in np.asarray(arrays.pop(f"{prefix}format", b"csr")).tobytes()
        make = sparse.csc_array if by_column else sparse.csr_array
        arrays[prefix.rstrip("_.") or "adj"] = _sparse(make, tuple(parts), shape, path)
    if {"row", "col", "data", "shape"} <= set(arrays):
        shape, data, row, col = (arrays.pop(name) for name in ("shape", "data", "row", "col"))
        arrays["adj"] = _sparse(sparse.coo_array, (data, (row, col)), shape, path)
    return {name: array for name, array in arrays.items() if name not in _SCIPY_FORMAT}


def _sparse(make: Any, parts: tuple[Any, ...], shape: Any, path: Path) -> Any:
    lengths = np.asarray(shape)
    is_pair = lengths.shape == (2,) and lengths.dtype.kind in "iuf"
    if not is_pair or not np.isfinite(lengths).all():
        raise damaged(path)
    rows, columns = map(int, lengths)
    with parsing(path, ANY_ERROR):
        matrix = make(parts, shape=(rows, columns))
    if matrix.format != "coo":
        with parsing(path, ANY_ERROR):
            matrix.check_format(full_check=True)
    return matrix


def read_mat(path: Path) -> dict[str, Any]:
    """The variables of a `.mat` file by name in lower case, None for those that are not read."""
    from scipy.io import loadmat, whosmat

    with parsing(path, (OSError,)), path.open("rb") as file:
        if _HDF5 in file.read(1024):
            raise DatasetError(
                f"The file {path} was saved by MATLAB as version 7.3 (HDF5), which cannot be read; "
                "save it again with -v7."
            )
        _check_mat(file, path)
    wanted = {*ADJACENCY, *FEATURES, *LABELS}
    with no_warnings(), parsing(path, ANY_ERROR):
        variables = whosmat(path)
    names = [n for n, _, kind in variables if n.lower() in wanted and kind in _NUMERIC]
    with no_warnings(), parsing(path, ANY_ERROR):
        found: Mapping[str, Any] = loadmat(path, variable_names=names, spmatrix=False)
    known = {name.lower(): found[name] for name in names}
    is_edges = {*EDGES, *_DGRAPH}
    unread = {name.lower() for name, *_ in variables} - set(known) - is_edges
    return known | dict.fromkeys(sorted(unread))


def _check_mat(file: BinaryIO, path: Path) -> None:
    """Refuse a `.mat` file (version 5) whose compressed variables exceed `archive_limit`."""
    limit, expanded = archive_limit(path.stat().st_size), 0
    file.seek(0)
    header = file.read(128)
    if 0 in header[:4] or len(header) < 128:  # version 4, which does not compress
        return
    order = "<" if header[126:128] == b"IM" else ">"
    while len(tag := file.read(8)) == 8:
        kind, size = struct.unpack(f"{order}II", tag)
        if kind != _COMPRESSED:
            file.seek(size, 1)
            continue
        inflate, end = zlib.decompressobj(), file.tell() + size
        while piece := inflate.unconsumed_tail or file.read(min(_CHUNK, end - file.tell())):
            with parsing(path, (zlib.error,)):
                unpacked = inflate.decompress(piece, _CHUNK)
            expanded += len(unpacked)
            check_growth(expanded, limit, path)
        file.seek(end)


def _is_dgraph(arrays: Mapping[str, Any]) -> bool:
    """Whether these are the arrays of DGraph-Fin, with one edge per row."""
    return set(arrays) >= _DGRAPH and arrays["edge_index"].shape[-1:] == (2,)


def read_dgraph(path: str | Path) -> AttributedGraph:
    """The graph in `dgraphfin.npz`; fraudsters (class 1) are its outliers."""
    path = Path(path)
    return _dgraph(read_npz(path, _DGRAPH_USED), path)


def _dgraph(arrays: Mapping[str, Any], path: Path) -> AttributedGraph:
    """The graph in the arrays of DGraph-Fin.

    Classes 2 and 3 are background users, who count as normal, as in the BOND benchmark. The
    types and times of edges and the split into training and test are not used.
    """
    for name in _DGRAPH_USED:
        array = arrays.get(name)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
            raise DatasetError(
                f"In the file {path}, '{name}' must be an array of numbers; DGraph has 'x', 'y' "
                "and 'edge_index'."
            )
    edges = arrays["edge_index"]
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise DatasetError(
            f"In the file {path}, 'edge_index' must have shape (E, 2), one edge in each row "
            f"(found shape {edges.shape})."
        )
    with naming(path):
        return AttributedGraph.from_edges(
            edges.T, arrays["x"], directed=False, labels=arrays["y"] == 1
        )


def _first_of(names: tuple[str, ...], arrays: Mapping[str, Any]) -> tuple[str, Any]:
    """The name of the first array with one of these names, and the array; '' and None if none."""
    name = next((name for name in names if arrays.get(name) is not None), "")
    return name, arrays.get(name)


def find_labels(
    arrays: Mapping[str, Any], size: int, path: Path, notes: list[Note]
) -> tuple[NDArray[np.int8] | None, list[str]]:
    """The first array of 0 and 1, one for each node, and the names of those that were checked."""
    seen = []
    for name, values in arrays.items():
        if values is None:
            continue
        seen.append(name)
        labels = binary_or_none(np.asarray(values), size)
        code = "array-not-labels" if labels is None else "array-labels"
        notes.append(Note.info(code, file=str(path), name=name))
        if labels is not None:
            return labels, seen
    return None, seen


def check_num_nodes(count: int, path: Path) -> None:
    """Refuse a number of nodes that would take far more memory than the file."""
    check_growth(count * _NODE_BYTES, archive_limit(path.stat().st_size), path)


def _dense(table: Any, path: Path) -> NDArray[Any]:
    """Features as a dense array."""
    if not hasattr(table, "toarray"):
        return np.asarray(table)
    limit = min(_MAX_DENSE, max(_SMALL_DENSE, 8 * _MAX_ZEROS * table.nnz))
    check_growth(8 * math.prod(table.shape), limit, path)
    dense: NDArray[Any] = table.toarray()
    return dense


def _edges(
    arrays: Mapping[str, Any], path: Path, directed: bool, notes: list[Note]
) -> tuple[NDArray[Any], int, tuple[str, ...]]:
    """The edges as (2, E) row numbers, the least number of nodes, and the arrays that say so."""
    name, matrix = _first_of(ADJACENCY, arrays)
    if matrix is not None and getattr(matrix, "ndim", 0) == 2:
        entries = _entries(matrix, name, path)
        if len(entries.data) and (entries.data != entries.data[0]).any():
            notes.append(Note.info("entries-differ", file=str(path), name=name))
        if not directed and not _is_symmetric(entries):
            notes.append(Note.warning("not-symmetric", file=str(path), name=name))
        return np.stack(entries.coords), int(matrix.shape[0]), (name,)
    name, listed = _first_of(EDGES, arrays)
    if listed is None:
        names = ", ".join(sorted(arrays)) or "nothing of the kind"
        raise DatasetError(
            f"The file {path} has no graph: it needs a matrix called Network or adj, or an array "
            f"edge_index (found {names})."
        )
    if listed.ndim != 2 or 2 not in listed.shape or listed.dtype.kind not in "iu":
        raise DatasetError(
            f"In the file {path}, '{name}' must be whole numbers of shape (2, E) or (E, 2) (found "
            f"{listed.dtype} of shape {listed.shape})."
        )
    weights = [name for name in EDGE_VALUES if name in arrays]
    notes += [Note.info("edge-values-unused", file=str(path), name=name) for name in weights]
    pairs = listed if len(listed) == 2 else listed.T
    least = int(pairs.max(initial=-1)) + 1
    check_num_nodes(least, path)
    return pairs, least, (name, *weights)


def _entries(matrix: Any, name: str, path: Path) -> Any:
    """The entries of a matrix that are not zero, as a COO array."""
    if matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise DatasetError(
            f"In the file {path}, '{name}' must be a square matrix of numbers (found "
            f"{matrix.dtype} of shape {matrix.shape})."
        )
    check_num_nodes(matrix.shape[0], path)
    entries = sparse.coo_array(matrix)
    if entries.dtype.kind == "f" and np.isnan(entries.data).any():
        raise DatasetError(
            f"In the file {path}, '{name}' has NaN entries; replace them by 0 (no edge) or 1."
        )
    present = entries.data != 0
    ends = tuple(end[present] for end in entries.coords)
    return sparse.coo_array((entries.data[present], ends), shape=entries.shape)


def _is_symmetric(entries: Any) -> bool:
    """Whether the pattern of entries is symmetric."""
    pattern = entries.astype(bool).tocsr()
    return bool((pattern != pattern.T.tocsr()).nnz == 0)
