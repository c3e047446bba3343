"""A replacement for torch_geometric's NeighborLoader in PyGOD, for full batches only, as in BOND.

NeighborLoader needs pyg-lib or torch-sparse, which are compiled for one version of torch, even if
nothing is sampled.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch_geometric.data import Data


class FullBatchLoader:
    """Yields the whole graph once per pass, as NeighborLoader does if it keeps everything.

    `num_neighbors` is the number of neighbours to keep in every layer: all (-1), or none (0), which
    PyGOD uses for models that ignore edges.
    """

    def __init__(self, data: Data, num_neighbors: Sequence[int], batch_size: int) -> None:
        if batch_size < data.num_nodes or any(kept not in (-1, 0) for kept in num_neighbors):
            raise NotImplementedError(
                "FullBatchLoader does not sample: it needs batch_size >= the number of nodes and "
                f"num_neighbors of -1 or 0 (found {batch_size} for {data.num_nodes} nodes, "
                f"{list(num_neighbors)})."
            )
        self._data = data

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Data]:
        """One batch with all nodes as seeds, in order, and all edges."""
        import torch

        batch = copy(self._data)
        nodes = torch.arange(batch.num_nodes)
        batch.n_id, batch.input_id, batch.batch_size = nodes, nodes, len(nodes)
        yield batch


@contextmanager
def full_batch() -> Iterator[None]:
    """Make PyGOD train on full batches without NeighborLoader in this context."""
    import_module("pygod.detector")  # so that its modules can be patched
    users = [
        module
        for name, module in sys.modules.items()
        if name.startswith("pygod.") and hasattr(module, "NeighborLoader")
    ]
    with ExitStack() as stack:
        for module in users:
            stack.enter_context(replaced(module, "NeighborLoader", FullBatchLoader))
        yield


@contextmanager
def replaced(owner: Any, name: str, stand_in: object) -> Iterator[None]:
    """Replace `owner.name` by `stand_in` in this context."""
    original = getattr(owner, name)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        setattr(owner, name, original)
