"""Dissimilarities between an ego-graph and its reconstruction.

In: two batches of graphs of the same size. Out: one number per graph.
Not here: weights of noise levels, samples, anything about several graphs at once.
"""

from egoscore.compare.energy import normalised_energy
from egoscore.compare.matrix import binarise, feature_error, structure_error

__all__ = ["binarise", "feature_error", "normalised_energy", "structure_error"]
