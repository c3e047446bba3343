"""What the paper's detector keeps while it works: the state of training, and finished shards."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.base import Store
from egoscore.detectors.paper.components import ComponentTable
from egoscore.detectors.paper.train import TrainingState
from egoscore.errors import RunError

_CHECKPOINT = "checkpoint"
_SECONDS_BETWEEN_CHECKPOINTS = 20.0


class PaperStore:
    """Checkpoints and shards in a store that knows nothing of either."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last_kept = time.monotonic()

    def resume(self, state: TrainingState) -> None:
        """Bring the state of training to the last checkpoint, if there is one."""
        try:
            kept = self._store.load(_CHECKPOINT)
            if kept is not None:
                tensors, facts = kept
                history = [(row[0], row[1]) for row in facts["history"]]
                state.restore(tensors, facts["epoch"], history)
        # torch raises RuntimeError for weights of another shape
        except (RunError, KeyError, IndexError, RuntimeError) as error:
            raise RunError(
                f"The {_CHECKPOINT} in the run directory is damaged or belongs to another run; "
                f"remove training/{_CHECKPOINT}.safetensors to train from the start."
            ) from error

    def keep(self, state: TrainingState, finished: bool) -> None:
        """Write a checkpoint when training is finished or the last one is long ago."""
        if not finished and time.monotonic() - self._last_kept < _SECONDS_BETWEEN_CHECKPOINTS:
            return
        facts = {"epoch": state.epoch, "history": state.history}
        self._store.save(_CHECKPOINT, state.tensors(), facts)
        self._store.save_losses(("features", "adjacency"), state.history)
        self._last_kept = time.monotonic()

    def save_shard(self, number: int, table: ComponentTable) -> None:
        """Keep a finished shard."""
        facts = {"taus": table.taus, "num_samples": table.num_samples}
        self._store.save_shard(number, table.columns(), facts)

    def load_shard(self, number: int, nodes: NDArray[np.int64]) -> ComponentTable | None:
        """The shard of these nodes if it was finished earlier; a damaged one is done again."""
        kept = self._store.load_shard(number)
        if kept is None:
            return None
        try:
            table = ComponentTable.from_columns(*kept)
        except (KeyError, TypeError, ValueError):  # of another run, or edited
            return None
        return table if np.array_equal(table.node, nodes) else None
