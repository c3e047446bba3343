"""Where work runs: in this process or in several.

In: a picklable task and shards of a graph's nodes. Out: one result per shard, in any order.
Not here: what is computed.
"""

from collections.abc import Callable

from egoscore.engine.base import Engine, Inline
from egoscore.engine.processes import Processes

# What makes an engine, given the number of workers. Adding an engine adds one line.
ENGINES: dict[str, Callable[[int], Engine]] = {"inline": Inline, "processes": Processes}


def choose_engine(num_workers: int) -> Engine:
    """The engine for this number of workers."""
    return ENGINES["processes" if num_workers > 1 else "inline"](num_workers)
