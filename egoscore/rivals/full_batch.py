"""What PyGOD asks of torch_geometric's NeighborLoader, for the one case BOND uses: full batches.

NeighborLoader needs pyg-lib or torch-sparse, compiled for one version of torch each, even where
nothing is sampled. With all nodes as seeds and all neighbours kept, it has nothing to do.
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
    """Yields the whole network once per pass, as NeighborLoader does when it keeps everything.

    `num_neighbors` says for every layer how many neighbours to keep: all (-1), or none (0), which
    PyGOD asks for where a model does not look at edges.
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
        """One batch: every node a seed, in order, and every edge."""
        import torch

        batch = copy(self._data)
        nodes = torch.arange(batch.num_nodes)
        batch.n_id, batch.input_id, batch.batch_size = nodes, nodes, len(nodes)
        yield batch


@contextmanager
def full_batch() -> Iterator[None]:
    """PyGOD trains on full batches, without NeighborLoader, as long as this lasts."""
    import_module("pygod.detector")  # so that its modules are there to be changed
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
    """`owner.name` is `stand_in` as long as this lasts."""
    original = getattr(owner, name)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        setattr(owner, name, original)
