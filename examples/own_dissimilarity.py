"""A dissimilarity of one's own: only what came back different about the centre itself."""

import numpy as np

from egoscore import EgoScore, load_dataset
from egoscore.detectors.paper.combine import DISSIMILARITIES
from egoscore.detectors.paper.components import ComponentTable


def centre_only(table: ComponentTable, alpha: float) -> np.ndarray:
    """The centre's own rows instead of the whole ego-graph, (nodes, levels)."""
    structure = table.component("centre_structure_error").astype(np.float64)
    return (1.0 - alpha) * structure + alpha * table.component("centre_feature_error")


DISSIMILARITIES["centre"] = centre_only

if __name__ == "__main__":
    graph = load_dataset("builtin")
    detector = EgoScore("paper", dissimilarity="centre", epochs=20, steps=20).fit(graph)
    highest = detector.decision_score_.argsort(descending=True)[:5].tolist()
    print("highest by the centre alone:", [str(graph.ids[row]) for row in highest])
