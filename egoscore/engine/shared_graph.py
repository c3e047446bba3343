"""One copy of a graph for several processes: its arrays as files, mapped into memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.graph.csr import Csr


@dataclass(frozen=True)
class SharedGraph:
    """Where the arrays of a graph are; small enough to be sent to another process.

    Only what ego-graphs need is shared. `ids` are None where they are in a file too.
    """

    folder: Path
    directed: bool
    has_positions: bool
    ids: NDArray[Any] | None

    @classmethod
    def write(cls, graph: AttributedGraph, folder: Path) -> SharedGraph:
        """Put the arrays into files in `folder`."""
        edges = {"adjacency": graph.adjacency}
        if graph.directed:  # else both are the same
            edges["neighbours"] = graph.neighbours
        arrays: dict[str, NDArray[Any]] = {"features": graph.features}
        for kind, csr in edges.items():
            arrays |= {f"{kind}.indptr": csr.indptr, f"{kind}.indices": csr.indices}
        if graph.positions is not None:
            arrays["positions"] = graph.positions
        plain_ids = graph.ids.dtype.kind not in "OT"  # a file of objects or text would be a pickle
        if plain_ids:
            arrays["ids"] = graph.ids
        try:
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", array, allow_pickle=False)
        except OSError as error:
            raise RunError(
                f"Cannot write to {folder}, through which processes share the graph: "
                f"{error.strerror}; make room there, set TMPDIR, or use one worker."
            ) from error
        known = graph.positions is not None
        return cls(folder, graph.directed, known, None if plain_ids else graph.ids)

    def open(self) -> AttributedGraph:
        """The graph, its arrays mapped and not copied."""
        adjacency = self._csr("adjacency")
        return AttributedGraph(
            adjacency=adjacency,
            neighbours=self._csr("neighbours") if self.directed else adjacency,
            features=self._array("features"),
            ids=self._array("ids") if self.ids is None else self.ids,
            directed=self.directed,
            positions=self._array("positions") if self.has_positions else None,
        )

    def _csr(self, kind: str) -> Csr:
        return Csr(self._array(f"{kind}.indptr"), self._array(f"{kind}.indices"))

    def _array(self, name: str) -> NDArray[Any]:
        # copy on write: kernels compiled for ordinary, writable arrays accept it
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="c"))
