"""A folder with `nodes.parquet` and `edges.parquet`: columns of numbers, read by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.check import binary_or_none
from egoscore.graph.network import AttributedGraph

NODES, EDGES = "nodes.parquet", "edges.parquet"
_ID, _LABEL = "id", "label"
_LARGEST = float(np.finfo(np.float32).max)


def read_folder(folder: str | Path, directed: bool = False) -> AttributedGraph:
    """The network in a folder.

    `nodes.parquet` has one row for each node: a column `id`, perhaps a column `label` of 0 and 1,
    and the features, all numeric. `edges.parquet` begins with two columns of ids, its rows in any
    order; what other columns it has is left aside, as edges have no weights here.
    """
    nodes = _read(Path(folder) / NODES)
    edges = _read(Path(folder) / EDGES)
    if _ID not in nodes.column_names:
        raise InputError(f"{Path(folder) / NODES} needs a column '{_ID}' that names the nodes.")
    if edges.num_columns < 2:
        raise InputError(f"{Path(folder) / EDGES} needs two columns, the ids at both ends.")
    names = [name for name in nodes.column_names if name not in (_ID, _LABEL)]
    features = np.empty((nodes.num_rows, len(names)), dtype=np.float32)
    for position, name in enumerate(names):
        features[:, position] = _numbers(nodes[name], name, folder)
    ids = nodes[_ID].combine_chunks()
    if ids.null_count:
        raise InputError(
            f"{Path(folder) / NODES} has {ids.null_count} rows without an id; name or drop them."
        )
    ends = np.stack([_rows(edges.column(end), ids, folder) for end in (0, 1)])
    labels = nodes[_LABEL].to_numpy() if _LABEL in nodes.column_names else None
    if labels is not None and binary_or_none(labels, len(labels)) is None:
        raise InputError(
            f"Column '{_LABEL}' in {Path(folder) / NODES} must hold 0 (normal) or 1 (outlier) for "
            "every node; rename it if it is a feature, leave it out if labels are partly known."
        )
    return AttributedGraph.from_edges(
        ends, features, directed, ids.to_numpy(zero_copy_only=False), labels, names
    )


def _read(path: Path) -> pa.Table:
    if not path.is_file():
        raise InputError(f"{path} is not there; the folder needs {NODES} and {EDGES}.")
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} is not a complete Parquet file; write it again.") from error


def _numbers(column: pa.ChunkedArray, name: str, folder: str | Path) -> NDArray[Any]:
    kind, where = column.type, f"Feature column '{name}' in {Path(folder) / NODES}"
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise InputError(
            f"{where} is not numeric (found {kind}); turn it into numbers or leave it out."
        )
    if column.null_count:
        raise InputError(
            f"{where} has missing values ({column.null_count} of them); fill them or leave it out."
        )
    values: NDArray[Any] = column.to_numpy()
    beyond = np.isfinite(values) & (np.abs(values.astype(np.float64)) > _LARGEST)
    if beyond.any():
        raise InputError(
            f"{where} has values beyond single precision (found {values[beyond][0]}); rescale it."
        )
    return values


def _rows(column: pa.ChunkedArray, ids: pa.Array, folder: str | Path) -> NDArray[np.int64]:
    """Row numbers in the node table of the ids in a column of edges."""
    try:
        found = pc.index_in(column.cast(ids.type), value_set=ids)
    except pa.ArrowException as error:
        raise InputError(
            f"The ids in {Path(folder) / EDGES} are of type {column.type}, those in {NODES} of "
            f"{ids.type}; give both the same type."
        ) from error
    if found.null_count:
        first = int(np.flatnonzero(pc.is_null(found).to_numpy())[0])
        raise InputError(
            f"Edge {first} in {Path(folder) / EDGES} points to {column[first].as_py()!r}, which is "
            f"no id in {NODES}; add the node or drop the edge."
        )
    rows: NDArray[np.int64] = found.to_numpy().astype(np.int64)
    return rows
