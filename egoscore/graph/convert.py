"""A graph from whatever the user has."""

from __future__ import annotations

from typing import Any

from egoscore.errors import InputError
from egoscore.graph.attributed_graph import AttributedGraph


def as_graph(data: Any, directed: bool = False) -> AttributedGraph:
    """`data` as an `AttributedGraph`.

    Takes an `AttributedGraph`, a PyG `Data`, a networkx graph, or a pair (scipy adjacency,
    features) or (edge array, features). `directed` says how to read what does not say it itself:
    a PyG `Data`, a matrix, an array.
    """
    if isinstance(data, AttributedGraph):
        return data
    if hasattr(data, "edge_index"):
        return AttributedGraph.from_pyg(data, directed)
    if hasattr(data, "is_directed") and hasattr(data, "nodes"):
        return AttributedGraph.from_networkx(data)
    if isinstance(data, tuple) and len(data) == 2:
        structure, features = data
        if hasattr(structure, "tocoo"):
            return AttributedGraph.from_scipy(structure, features, directed)
        return AttributedGraph.from_edges(structure, features, directed)
    raise InputError(
        "A graph must be an AttributedGraph, a PyG Data, a networkx graph, or a pair (scipy "
        f"adjacency, features) or (edges of shape (2, E), features) (found {type(data).__name__})."
    )
