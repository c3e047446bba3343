"""From reconstructions to one anomaly score per node.

In: ego-graphs and a trained model. Out: the component table, and scores computed from it.
Not here: training, thresholds, anything that looks at labels.
"""

from egoscore.score.combine import DISSIMILARITIES, WEIGHTINGS, combine
from egoscore.score.components import measure, most_models
from egoscore.score.reconstruct import Reconstruction, ReconstructionConfig
from egoscore.score.table import ComponentTable

__all__ = [
    "DISSIMILARITIES",
    "WEIGHTINGS",
    "ComponentTable",
    "Reconstruction",
    "ReconstructionConfig",
    "combine",
    "measure",
    "most_models",
]
