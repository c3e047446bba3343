"""Fit on the edges of one month, save, load elsewhere, and score those of the next month."""

import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from egoscore import AttributedGraph, EgoScore, generate_network

accounts = generate_network(500, seed=1)
edges = np.stack(sparse.triu(accounts.neighbours.to_scipy()).nonzero())


def month(seed: int) -> AttributedGraph:
    """The same accounts with a random 80% of the edges."""
    kept = np.random.default_rng(seed).random(edges.shape[1]) < 0.8
    return AttributedGraph.from_edges(edges[:, kept], accounts.features)


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "model.safetensors"
    trained = EgoScore(seed=0).fit(month(seed=1))
    trained.save(file)

    later = month(seed=2)
    detector = EgoScore.load(file)
    scores = detector.decision_function(later)
    flagged = detector.predict(later)
    print(f"{int(trained.label_.sum())} nodes of the first month are above the threshold,")
    print(f"{int(flagged.sum())} of the second, where node {int(scores.argmax())} is highest")
