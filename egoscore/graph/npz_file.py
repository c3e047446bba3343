"""DGraph-Fin's file: arrays of numbers, read without running anything."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import DatasetError
from egoscore.graph.archive import open_archive, read_member, reading
from egoscore.graph.network import AttributedGraph


def read_dgraph(path: str | Path) -> AttributedGraph:
    """The network in `dgraphfin.npz`; fraudsters (class 1) are its outliers.

    Classes 2 and 3 are background users, who count as normal, as in the BOND benchmark. The
    types and times of edges and the split into training and test are left aside.
    """
    path = Path(path)
    with reading(path), path.open("rb") as source, open_archive(source, path) as archive:
        x = _array(archive, "x", path)
        y = _array(archive, "y", path)
        edges = _array(archive, "edge_index", path)
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise DatasetError(
                f"In the file {path}, 'edge_index' must have shape (E, 2), one edge in each row "
                f"(found shape {edges.shape})."
            )
        return AttributedGraph.from_edges(edges.T, x, directed=False, labels=y == 1)


def _array(archive: zipfile.ZipFile, name: str, path: Path) -> NDArray[Any]:
    member = f"{name}.npy"
    if member not in archive.namelist():
        raise DatasetError(
            f"The file {path} has no array '{name}'; it needs 'x', 'y' and 'edge_index'."
        )
    array = np.load(read_member(archive, archive.getinfo(member), path), allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise DatasetError(f"In the file {path}, '{name}' must be an array of numbers.")
    return array
