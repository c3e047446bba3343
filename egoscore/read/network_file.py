"""One file that holds a whole network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from egoscore.errors import DatasetError, InputError
from egoscore.graph.archive import reading
from egoscore.graph.check import binary_or_none
from egoscore.graph.network import AttributedGraph
from egoscore.read.assemble import assemble, with_structure
from egoscore.read.choices import Choices, Reading
from egoscore.read.graph_xml import read_graph_xml
from egoscore.read.matrix_file import (
    FEATURES,
    LABELS,
    edges_of,
    first_of,
    is_dgraph,
    read_mat,
    read_npz,
    unused,
)
from egoscore.read.opening import plain_ending, require_file
from egoscore.read.table import quoted
from egoscore.read.tables import NETWORK_ENDINGS

_NO_COLUMNS = tuple(f"--{field.name}" for field in fields(Choices) if field.name != "directed")


def read_network_file(path: str | Path, choices: Choices | None = None) -> Reading:
    """The network in a GraphML, GEXF, `.npz`, `.mat` or PyG `.pt` file."""
    choices = choices or Choices()
    path = require_file(path)
    ending = network_ending(path)
    if ending in (".graphml", ".gexf"):
        return _read_graph_xml(path, ending, choices)
    choices.refuse(_NO_COLUMNS, f"{path} has no columns with names, only matrices")
    with reading(path):
        if ending == ".pt":
            return _read_pt(path, choices)
        arrays = read_npz(path) if ending == ".npz" else read_mat(path)
        return _read_matrices(arrays, path, choices)


def network_ending(path: Path) -> str:
    """The ending that says how to read the file; others are refused."""
    ending = plain_ending(path)
    if ending not in NETWORK_ENDINGS:
        raise InputError(
            f"{path} is not a file whose ending says that it holds a network "
            f"({', '.join(NETWORK_ENDINGS)}); give tables with --edges and --nodes."
        )
    return ending


def _read_graph_xml(path: Path, ending: str, choices: Choices) -> Reading:
    settled = ("--source", "--target", "--id", "--encoding")
    choices.refuse(settled, f"{path} itself says what its ids and its encoding are")
    with reading(path):
        edges, nodes, directed = read_graph_xml(path, ending)
    if choices.directed and not directed:
        edges.notes.append(f"{path} says that its edges have no direction, which counts.")
    return assemble(edges, nodes, replace(choices, directed=directed, id="id"))


def _read_pt(path: Path, choices: Choices) -> Reading:
    from egoscore.graph.pyg_file import read_pyg

    contents = read_pyg(path)
    y = None if contents.y is None else contents.y.numpy()
    notes: list[str] = []
    labels, _ = _labels({"y": y}, len(contents.x), path, notes)
    notes += [f"{path}: the values of '{name}' are not used." for name in contents.unused]
    has_features = contents.x.shape[1] > 0
    values = contents.x.numpy() if has_features else np.zeros((len(contents.x), 1))
    graph = AttributedGraph.from_edges(
        contents.edge_index.numpy(), values, choices.directed, labels=labels
    )
    if not has_features:
        graph = with_structure(graph, notes)
    return Reading(graph, tuple(notes))


def _read_matrices(arrays: Mapping[str, Any], path: Path, choices: Choices) -> Reading:
    if is_dgraph(arrays):
        from egoscore.graph.npz_file import read_dgraph

        return Reading(read_dgraph(path), (f"{path} is DGraph-Fin: class 1 are the outliers.",))
    notes: list[str] = []
    pairs, least = edges_of(arrays, path, choices.directed, notes)
    name, table = first_of(FEATURES, arrays)
    if table is None:
        size = max(least, 1)
        values = np.zeros((size, 1), dtype=np.float32)
    else:
        values = table.toarray() if hasattr(table, "toarray") else table
        size = len(values) if values.ndim else 0
        notes.append(f"{path}: '{name}' gives the features.")
    labels, told = _labels({name: arrays.get(name) for name in LABELS}, size, path, notes)
    if left := unused(arrays, told):
        notes.append(f"{path}: not used: {quoted(left)}.")
    if table is not None and size < least:
        raise DatasetError(
            f"In the file {path}, the network has {least} nodes but '{name}' has {size} rows; both "
            "need one for each node."
        )
    graph = AttributedGraph.from_edges(pairs, values, choices.directed, labels=labels)
    if table is None:
        graph = with_structure(graph, notes)
    return Reading(graph, tuple(notes))


def _labels(
    arrays: Mapping[str, Any], size: int, path: Path, notes: list[str]
) -> tuple[Any, list[str]]:
    """The first values that are 0 and 1, one for each node, and the names that were looked at."""
    told = []
    for name, values in arrays.items():
        if values is None:
            continue
        told.append(name)
        known = binary_or_none(np.asarray(values), size)
        if known is not None:
            notes.append(f"{path}: the values of '{name}' are the labels of outliers.")
            return known, told
        notes.append(
            f"{path}: the values of '{name}' are no labels of outliers, as they are not 0 and 1 "
            "for every node: not used."
        )
    return None, told
