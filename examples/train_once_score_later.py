"""Fit on one network, save, load elsewhere, and score a network never seen."""

import tempfile
from pathlib import Path

from egoscore import EgoScore, generate_network

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "model.safetensors"
    EgoScore(seed=0).fit(generate_network(300, seed=1)).save(file)

    tonight = generate_network(200, seed=2)
    detector = EgoScore.load(file)
    scores = detector.decision_function(tonight)
    flagged = detector.predict(tonight)
    # the threshold is the training network's: on another network any share may lie above it
    print(f"{int(flagged.sum())} of {tonight.num_nodes} nodes are above the training threshold;")
    print(f"the highest score is {scores.max():.3f}, of node {int(scores.argmax())}")
