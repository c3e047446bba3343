"""Files and frames as their owners keep them.

In: tables of edges and nodes (CSV, Parquet, Arrow, frames), files that hold a whole network.
Out: a `Reading`: the `AttributedGraph`, and every decision on the way as a sentence.
Not here: data sets by name (`graph.datasets`), scaling, anything learned, anything printed.
"""

from egoscore.read.assemble import read_tables
from egoscore.read.choices import Choices, Reading
from egoscore.read.network_file import read_network_file

__all__ = ["Choices", "Reading", "read_network_file", "read_tables"]
