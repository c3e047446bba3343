"""What verdicts are learned from: quantities of every node, in named blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.graph import AttributedGraph
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.structure import describe_structure, structure_and_direction


@dataclass(frozen=True)
class InputBlock:
    """Quantities that belong together: one block has as much weight as another.

    Attributes: `name` of the block; `columns`, C descriptions for readers; `values` (N, C), on any
    scale, as only their order matters.
    """

    name: str
    columns: tuple[FeatureColumn, ...]
    values: NDArray[np.floating]


def features_block(graph: AttributedGraph) -> InputBlock:
    """The features of the nodes."""
    return InputBlock("features", graph.described, graph.features)


def position_block(graph: AttributedGraph) -> InputBlock:
    """The position of the nodes in the graph."""
    return InputBlock(
        "position", describe_structure(graph.directed), structure_and_direction(graph)
    )


def graph_blocks(graph: AttributedGraph) -> tuple[InputBlock, ...]:
    """What is known without a detector: features and, unless they are the same, the position."""
    features = features_block(graph)
    return (features,) if graph.is_structural else (features, position_block(graph))


def measured_block(measured: Mapping[str, NDArray[Any]]) -> InputBlock:
    """What a detector measured, (N,) by the names of the columns in the score table."""
    columns = tuple(FeatureColumn(name) for name in measured)
    values = np.column_stack([*measured.values()]).astype(np.float32)
    return InputBlock("measured", columns, values)
