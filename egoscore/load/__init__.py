"""Files and data frames as users have them.

In: tables of edges and nodes (CSV, Parquet, Arrow, data frames), files with a whole graph, names
of data sets. Out: `Loaded`, an `AttributedGraph` and a `Note` for every decision on the way.
Not here: scaling, anything learned, and the text of notes (`egoscore.report.notes`).

    source          a name, a folder or a file; chooses the reader by the ending
    open_table      a table in a file (csv, dialect, text_blocks, parquet; unpack) or in memory
    build           two tables become a graph, in this order:
      column_roles  which columns hold the endpoints of edges and the ids (column_names)
      ids, join     ids of one type; the ends looked up in the node table
      node_table    labels, and what may be features
      node_names    what nodes are shown as
      infer         what a column holds (cell_formats, numbers, dates, assigned_numbers)
      row_names     columns that only name the rows, which are left out
      node_features                 columns of nodes as features
      edge_columns, edge_features   columns of edges as features of the nodes at their ends
    graph_files, matrix_files, pyg_files   files with a whole graph
    datasets        data sets by name; generate* and families make some of them
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
