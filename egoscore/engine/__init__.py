"""Where work runs: in this process or in several.

In: a picklable task and shards of a graph's nodes. Out: one result per shard, in any order.
Not here: what is computed.
"""

from egoscore.engine.base import Engine, Inline
from egoscore.engine.processes import Processes


def choose_engine(num_workers: int) -> Engine:
    """The engine for this number of workers."""
    return Processes(num_workers) if num_workers > 1 else Inline(num_workers)
