"""Ego-graphs: every node with its neighbourhood.

In: an `AttributedGraph`. Out: `EgoBatch`es of ego-graphs of nearly equal size, cut on demand.
Not here: noise, networks, anything that looks at what the features mean.
"""

from egoscore.ego.batch import EgoBatch, EgoGraphs, padded_entries

__all__ = ["EgoBatch", "EgoGraphs", "padded_entries"]
