"""Files and data frames as users have them.

In: tables of edges and nodes (CSV, Parquet, Arrow, data frames), files with a whole graph, names
of data sets. Out: `Loaded`, an `AttributedGraph` and a `Note` for every decision on the way.
Not here: scaling, anything learned, and the text of notes (`egoscore.report.notes`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egoscore.load.build import read_tables
    from egoscore.load.options import Loaded, Options
    from egoscore.load.source import read_network_file

__all__ = ["Loaded", "Options", "read_network_file", "read_tables"]
_MODULES = {
    "Loaded": "egoscore.load.options",
    "Options": "egoscore.load.options",
    "read_network_file": "egoscore.load.source",
    "read_tables": "egoscore.load.build",
}


def __getattr__(name: str) -> Any:
    """Import only what is used: `egoscore.load.datasets` alone offers names to a shell."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
