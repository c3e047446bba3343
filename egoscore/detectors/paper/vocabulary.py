"""The words of the paper's detector."""

from __future__ import annotations

from collections.abc import Sequence

from egoscore.detectors.base import Vocabulary
from egoscore.text import counted


def _meaning(questions: Sequence[str], num_nodes: int) -> str:
    return (
        "The score sums up how much a node's ego-graph changed when noise was added and removed. "
        f"It ranks the {counted(num_nodes, 'node')}; it has no unit and cannot be compared between "
        "graphs."
    )


VOCABULARY = Vocabulary(
    questions={
        "features": "Did the features in its ego-graph change?",
        "structure": "Did the edges in its ego-graph change?",
        "energy": "Did the differences between neighbours change?",
    },
    components={
        "feature_error": "difference between the features of its ego-graph and the reconstruction",
        "structure_error": "difference between the edges of its ego-graph and the reconstruction",
        "energy_after": "how much neighbours differ in the reconstructed ego-graph",
        "energy_shift": "difference between that and the original energy",
        "centre_feature_error": "difference between its own features and the reconstruction",
        "centre_structure_error": "difference between its own edges and the reconstruction",
    },
    compared_with="the nodes with ego-graphs of about the same size",
    meaning=_meaning,
    contrast="The Dirichlet energy of its ego-graph, which says how much neighbours differ, is "
    "{actual}, and {expected} in the reconstruction.",
    labels={"energy_after": "expected energy"},
)
