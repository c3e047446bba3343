"""Positional encodings: where nodes are in the whole graph, which ego-graphs do not show.

They are inputs of a model that are not noised and not modelled. All are (N, 8), each column with
zero mean and unit deviation, and follow edges both ways.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from egoscore.graph.attributed_graph import AttributedGraph

NUM_POSITIONS = 8
_VALUES_AT_ONCE = 2**24
_SMALLEST_AGREEMENT = 0.2  # as a correlation


def laplacian(graph: AttributedGraph, seed: int) -> NDArray[np.float32]:
    """Eigenvectors of the smallest eigenvalues of the normalised Laplacian, except the first.

    Dwivedi & Bresson, "A generalization of transformer networks to graphs", 2021. The sign of a
    vector is arbitrary: here its largest entry is positive. They cannot be compared across graphs.
    """
    spread = _symmetric(graph)
    count = min(NUM_POSITIONS + 1, graph.num_nodes)
    if spread.nnz == 0:  # without edges the solver fails
        return np.zeros((graph.num_nodes, NUM_POSITIONS), dtype=np.float32)
    if graph.num_nodes <= 4 * NUM_POSITIONS:
        values, vectors = np.linalg.eigh(spread.toarray())
    else:
        start = np.random.default_rng(seed).normal(size=graph.num_nodes)
        try:
            values, vectors = eigsh(spread, k=count, which="LA", v0=start, tol=1e-4)
        except ArpackNoConvergence as error:  # the others did converge
            values, vectors = error.eigenvalues, error.eigenvectors
    found = vectors[:, np.argsort(-values, kind="stable")][:, 1 : NUM_POSITIONS + 1]
    largest = np.abs(found).argmax(axis=0)
    found = found * np.where(found[largest, np.arange(found.shape[1])] < 0, -1.0, 1.0)
    return _standardised(np.pad(found, ((0, 0), (0, NUM_POSITIONS - found.shape[1]))))


def random_walk(graph: AttributedGraph, seed: int) -> NDArray[np.float32]:
    """Probabilities that a random walk is back after 2, 3, … 9 steps.

    Dwivedi et al., "Graph neural networks with learnable structural and positional
    representations", 2022. The diagonals of the powers are estimated by random signs
    (Hutchinson, 1989), more of them on smaller graphs: cost is linear in the edges.
    """
    spread = _symmetric(graph)  # its powers have the same diagonal as those of the walk
    size, random = graph.num_nodes, np.random.default_rng(seed)
    num_probes = int(np.clip(2**22 // size, 32, 1024))
    width = int(np.clip(_VALUES_AT_ONCE // size, 1, num_probes // 2))
    halves, used = np.zeros((2, size, NUM_POSITIONS)), 0
    while used * width < num_probes:
        signs = random.integers(0, 2, (size, width)).astype(np.float64) * 2.0 - 1.0
        walked = spread @ signs
        for step in range(NUM_POSITIONS):
            walked = spread @ walked
            halves[used % 2, :, step] += np.einsum("np,np->n", signs, walked)
        used += 1
    return _standardised(halves.sum(axis=0) * _agreeing(halves))


def _agreeing(halves: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether two independent estimates (2, N, C) of a column agree, (C,).

    If they do not, the column holds nothing but errors of the estimate: a walk on a bipartite
    graph, for example, is never back after an odd number of steps.
    """
    first, second = halves - halves.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.square(first).sum(axis=0) * np.square(second).sum(axis=0))
    agreement = (first * second).sum(axis=0) / np.where(scale > 0, scale, 1.0)
    return np.asarray(agreement > _SMALLEST_AGREEMENT)


POSITIONS: dict[str, Callable[[AttributedGraph, int], NDArray[np.float32]]] = {
    "laplacian": laplacian,
    "random_walk": random_walk,
}


def _symmetric(graph: AttributedGraph) -> sparse.csr_array:
    """D^(-1/2)·A·D^(-1/2), (N, N); isolated nodes have empty rows."""
    near = graph.neighbours
    scale = 1.0 / np.sqrt(np.maximum(near.degrees, 1))
    rows = np.repeat(np.arange(graph.num_nodes), near.degrees)
    values = scale[rows] * scale[near.indices]
    shape = (graph.num_nodes, graph.num_nodes)
    return sparse.csr_array((values, near.indices, near.indptr), shape=shape)


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float32]:
    deviation = values.std(axis=0)
    centred = values - values.mean(axis=0)
    scaled: NDArray[np.float32] = centred / np.where(deviation > 1e-12, deviation, 1.0)
    return scaled.astype(np.float32)
