"""A graph as the default detector sees it: what all channels need, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors.conditional.covariance import Floats
from egoscore.detectors.conditional.neighbours import Neighbours, clipped
from egoscore.detectors.conditional.preprocess import Scale, preprocess
from egoscore.graph import AttributedGraph
from egoscore.graph.cliques import Circles, circles
from egoscore.graph.structure import STRUCTURE, structure_and_direction

_DEGREE = STRUCTURE.index("log_degree")


@dataclass(frozen=True)
class View:
    """A graph with everything that is computed for all channels.

    Attributes: `graph` itself; `scaling` of its features; `features` (N, F) scaled, bounded,
    without gaps; `near` the neighbours; `structure` (N, S), which includes the direction of links
    in a directed graph; `uses_structure` whether features are predicted from the structure, too.
    """

    graph: AttributedGraph
    scaling: Scale
    features: Floats
    near: Neighbours
    structure: NDArray[np.float64]
    uses_structure: bool

    @classmethod
    def of(cls, graph: AttributedGraph, scaling: Scale, uses_structure: bool) -> View:
        """The view of a graph with the features the scaling was fitted to."""
        scaling.linear.require_fitting(graph)
        features = preprocess(scaling, graph)
        structure = structure_and_direction(graph)
        return cls(graph, scaling, features, Neighbours.of(graph), structure, uses_structure)

    @cached_property
    def circles(self) -> Circles:
        """How the neighbours of every node are linked to each other."""
        return circles(self.graph)

    @property
    def ego_size(self) -> NDArray[np.int64]:
        """The number of nodes in every ego-graph, (N,)."""
        return self.near.degree.astype(np.int64) + 1

    def context(self, white: Floats) -> Floats:
        """What is known about a node without looking at its own features, (N, C)."""
        means = self.near.means(clipped(white))
        return context_of(means, self.structure if self.uses_structure else None)


def context_of(means: Sequence[Floats], structure: NDArray[np.float64] | None) -> Floats:
    """The context of nodes: the `means` (N, k) of their neighbours and their structure (N, S).

    It is NaN for a node without neighbours.
    """
    if structure is None:
        return means[0] if len(means) == 1 else np.hstack(means)
    known: Floats = np.hstack([*means, structure.astype(np.float32)])
    known[structure[:, _DEGREE] == 0.0] = np.nan
    return known
