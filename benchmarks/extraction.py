"""Cutting a million ego-graphs, next to networkx on a sample of them.

python benchmarks/extraction.py
"""

from __future__ import annotations

import time

import networkx as nx
import numpy as np

from egoscore import AttributedGraph
from egoscore.ego import EgoGraphs

NODES, EDGES, SAMPLE = 1_000_000, 1_200_000, 2_000


def main() -> None:
    random = np.random.default_rng(0)
    edges = random.integers(0, NODES, (2, EDGES))
    features = random.normal(size=(NODES, 4)).astype(np.float32)
    small = AttributedGraph.from_edges(edges[:, :10] % 50, features[:50])
    EgoGraphs(small, num_hops=2).batch(np.arange(5))  # load the compiled kernels
    began = time.process_time()
    graph = AttributedGraph.from_edges(edges, features)
    print(f"{NODES:,} nodes, {EDGES:,} edges: network {time.process_time() - began:.1f} CPU s")
    plain = nx.Graph(list(zip(*edges.tolist(), strict=True)))
    plain.add_nodes_from(range(NODES))
    chosen = random.choice(NODES, SAMPLE, replace=False).tolist()
    for hops in (1, 2):
        began = time.process_time()
        egos = EgoGraphs(graph, num_hops=hops)
        for chunk in egos.chunks(np.arange(NODES), 65_536):
            egos.batch(chunk)
        ours = time.process_time() - began
        began = time.process_time()
        for node in chosen:
            nx.ego_graph(plain, node, radius=hops)
        theirs = (time.process_time() - began) * (NODES / SAMPLE)
        print(
            f"{hops} hop(s): {ours:.1f} CPU s for all; networkx {theirs:.0f} (extrapolated from "
            f"{SAMPLE:,} nodes); ratio {theirs / ours:.0f}x"
        )


if __name__ == "__main__":
    main()
