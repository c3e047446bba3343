"""Generated graphs with known outliers, to choose settings on.

In: the name or number of a graph. Out: an `AttributedGraph` with labels.
Not here: looking up data sets by name; `egoscore.load.datasets` finds these by `NAMES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from egoscore.graph.attributed_graph import AttributedGraph

VARIED_NAMES = tuple(f"varied-{number:02}" for number in range(54))
INJECTED_NAMES = tuple(f"injected-{number:02}" for number in range(20))
NAMES = {"varied": VARIED_NAMES, "injected": INJECTED_NAMES}


def generate(name: str) -> AttributedGraph:
    """The graph of one of the `NAMES`."""
    family = next(family for family, names in NAMES.items() if name in names)
    make = getattr(import_module(f"{__name__}.{family}"), f"{family}_network")
    graph: AttributedGraph = make(NAMES[family].index(name))
    return graph
