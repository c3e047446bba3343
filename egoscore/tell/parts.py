"""The parts of a score in plain words."""

from __future__ import annotations

PARTS = {
    "feature_norm": "how far its features are from the mean of all nodes; shown, not counted",
    "linear_residual": "how far its features are from what its surroundings let one expect, "
    "by straight lines",
    "network_residual": "the same, with what neural networks add to straight lines",
    "dirichlet_energy": "mean squared difference to its neighbours; no value of theirs counts for "
    "more than three deviations",
    "mismatch": "how much likelier its features are beside strangers than beside its neighbours",
    "mismatch_two_steps": "the same for the neighbours of its neighbours",
    "structure_given_degree": "how unusual its place is for a node with so many neighbours",
    "structure": "how unusual its place is for any node",
    "clustering": "share of its neighbours joined with each other, the mark of cliques",
    "surprise_features": "answer to the question: are its features expected?",
    "surprise_company": "answer to the question: does it fit its neighbours?",
    "surprise_place": "answer to the question: is its place usual?",
    "feature_error": "how differently the features of its ego-graph came back",
    "structure_error": "how differently the edges of its ego-graph came back",
    "energy_after": "how much neighbours in its ego-graph differ once it came back",
    "energy_shift": "by how much that changed on the way",
    "centre_feature_error": "how differently its own features came back",
    "centre_structure_error": "how differently its own edges came back",
}
