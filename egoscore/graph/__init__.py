"""Graphs as they come in.

In: PyG, networkx, scipy, arrays, files of the field. Out: an `AttributedGraph`.
Not here: neighbourhoods, noise, anything learned except the scaling of features.
"""

from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.scaling import FeatureScaling

__all__ = ["AttributedGraph", "FeatureScaling"]
