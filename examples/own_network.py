"""Rank the nodes of a network you have as arrays: edges, and one row of features per node."""

import numpy as np

from egoscore import AttributedGraph, EgoScore

random = np.random.default_rng(0)
names = [f"account-{i}" for i in range(200)]
features = random.normal(size=(200, 5))
edges = random.integers(0, 200, size=(2, 600))

graph = AttributedGraph.from_edges(edges, features, ids=names)
print(graph, "- dropped:", graph.dropped_self_loops, "self-loops")

detector = EgoScore(seed=0).fit(graph)
for row in detector.decision_score_.argsort(descending=True)[:5].tolist():
    print(f"{graph.ids[row]:12s} {detector.decision_score_[row]:.3f}")
