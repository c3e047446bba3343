"""Cutting a million ego-graphs, next to networkx on a sample of them.

python benchmarks/extraction.py [--smoke]
"""

from __future__ import annotations

import argparse
import time

import networkx as nx
import numpy as np

from egoscore import AttributedGraph
from egoscore.detectors.paper.ego import EgoGraphs

NODES, EDGES, SAMPLE = 1_000_000, 1_200_000, 2_000


def main() -> None:
    """Cut, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    num_nodes, num_edges, sample = NODES, EDGES, SAMPLE
    if parser.parse_args().smoke:
        num_nodes, num_edges, sample = 1_000, 1_200, 20
    random = np.random.default_rng(0)
    edges = random.integers(0, num_nodes, (2, num_edges))
    features = random.normal(size=(num_nodes, 4)).astype(np.float32)
    small = AttributedGraph.from_edges(edges[:, :10] % 50, features[:50])
    EgoGraphs(small, num_hops=2).batch(np.arange(5))  # load the compiled kernels
    began = time.process_time()
    graph = AttributedGraph.from_edges(edges, features)
    seconds = time.process_time() - began
    print(f"{num_nodes:,} nodes, {num_edges:,} edges: graph {seconds:.1f} CPU s")
    plain = nx.Graph(list(zip(*edges.tolist(), strict=True)))
    plain.add_nodes_from(range(num_nodes))
    chosen = random.choice(num_nodes, sample, replace=False).tolist()
    for hops in (1, 2):
        began = time.process_time()
        egos = EgoGraphs(graph, num_hops=hops)
        for chunk in egos.chunks(np.arange(num_nodes), 65_536):
            egos.batch(chunk)
        ours = time.process_time() - began
        began = time.process_time()
        for node in chosen:
            nx.ego_graph(plain, node, radius=hops)
        theirs = (time.process_time() - began) * (num_nodes / sample)
        print(
            f"{hops} hop(s): {ours:.1f} CPU s for all; networkx {theirs:.0f} (extrapolated from "
            f"{sample:,} nodes); ratio {theirs / ours:.0f}x"
        )


if __name__ == "__main__":
    main()
