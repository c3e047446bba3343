"""A graph without some of its edges, to see how much a result depends on single edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.csr import both_ways, build_csr
from egoscore.graph.structure import fill_structure
from egoscore.random import Purpose, uniforms


def thinned(graph: AttributedGraph, share: float, seed: int) -> AttributedGraph:
    """The graph without about a `share` of its edges, which are drawn for `seed`.

    Features that are the structure of the graph follow; other features stay as they are.
    """
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), graph.adjacency.degrees)
    targets = graph.adjacency.indices
    is_listed = np.full(len(targets), True) if graph.directed else sources < targets
    sources, targets = sources[is_listed], targets[is_listed]
    drawn = uniforms(seed, Purpose.THIN_EDGES, 0, np.arange(len(targets)))[:, 0]
    is_kept = drawn >= share
    adjacency = build_csr(sources[is_kept], targets[is_kept], graph.num_nodes)
    neighbours = both_ways(adjacency)
    found = replace(
        graph, adjacency=adjacency if graph.directed else neighbours, neighbours=neighbours
    )
    if not graph.is_structural:
        return found
    features = np.empty_like(graph.features)
    fill_structure(found, features)
    return replace(found, features=features)
