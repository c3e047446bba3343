"""OddBall and AMEN: scores of egonets, the subgraphs of a node and its neighbours.

Edges count in both directions. Sums over the edges of an egonet are sums over triangles, so that
egonets are never extracted: the cost of a hub is that of its edges and triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from egoscore.graph import AttributedGraph
from egoscore.graph.csr import Csr
from egoscore.jit import compiled

_LOF_NEIGHBOURS = 20
_ENTRIES_AT_ONCE = 2**22

Floats = NDArray[np.float64]


def oddball(graph: AttributedGraph) -> Floats:
    """The distance of every egonet from the density law of the graph, (N,); higher is odder.

    Akoglu, McGlohon & Faloutsos, "OddBall: spotting anomalies in weighted graphs", PAKDD 2010.
    The number of edges in an egonet grows as a power of the number of neighbours; near-cliques
    lie above this law, near-stars below it. The score is the distance from the law plus the local
    outlier factor of the point (neighbours, edges), each divided by its maximum. The paper's other
    laws are about edge weights.

    The outlier factor is computed among distinct points, as most points occur many times and would
    have infinite density. An isolated node has no egonet and scores 0.
    """
    tied = graph.neighbours.degrees > 0
    score = np.zeros(graph.num_nodes)
    if tied.any():
        neighbours = graph.neighbours.degrees[tied].astype(np.float64)
        edges = neighbours + count_triangles(graph.neighbours)[tied]
        distance = _distance_from_law(neighbours, edges)
        factor = _outlier_factor(np.stack([neighbours, edges], axis=1))
        score[tied] = distance / (distance.max() or 1.0) + factor / factor.max()
    return score


def _distance_from_law(neighbours: Floats, edges: Floats) -> Floats:
    """max(edges, law) / min(edges, law) · log(|edges - law| + 1) for every egonet, (N,)."""
    log_factor, exponent = _fit_power_law(neighbours, edges)
    law = np.exp(log_factor + exponent * np.log(neighbours))
    # rounding errors must not become the largest distance
    gap = np.where(np.isclose(edges, law, rtol=1e-9), 0.0, np.abs(edges - law))
    distance: Floats = np.maximum(edges, law) / np.minimum(edges, law) * np.log1p(gap)
    return distance


def _fit_power_law(neighbours: Floats, edges: Floats) -> Floats:
    """Logarithm of the factor, and the exponent, of the law edges = factor · neighbours^exponent.

    Least squares between logarithms, on the medians of the bins [1, 2), [2, 4), [4, 8), …
    """
    bins = np.frexp(neighbours)[1]
    points = np.log(np.stack([neighbours, edges], axis=1))
    medians = np.array([np.median(points[bins == chosen], axis=0) for chosen in np.unique(bins)])
    design = np.stack([np.ones(len(medians)), medians[:, 0]], axis=1)
    # with a single median this gives the smallest coefficients
    fitted: Floats = np.linalg.lstsq(design, medians[:, 1])[0]
    return fitted


def _outlier_factor(points: Floats) -> Floats:
    """Local outlier factor (Breunig et al., 2000) of `points` (N, 2) among the distinct ones."""
    from sklearn.neighbors import LocalOutlierFactor

    distinct, place = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) == 1:
        return np.ones(len(points))
    lof = LocalOutlierFactor(n_neighbors=min(_LOF_NEIGHBOURS, len(distinct) - 1)).fit(distinct)
    factor: Floats = -lof.negative_outlier_factor_[place]
    return factor


def amen(graph: AttributedGraph) -> Floats:
    """Minus the normality of every node's egonet, (N,).

    Perozzi & Akoglu, "Scalable anomaly ranking of attributed neighborhoods", SDM 2016. An egonet C
    is normal if some attributes are shared along more of its edges than expected, and along few
    surprising edges that leave it. Attribute by attribute, with degrees k and m edges,

        x_I = Σ_{i, j in C} (A_ij - k_i k_j / 2m) x_i x_j
        x_X = -Σ_{edges (i, b), i in C, b not in C} (1 - min(1, k_i k_b / 2m)) x_i x_b

    and normality is the maximum of w·(x_I + x_X) over ‖w‖₂ = 1, w ≥ 0: the norm of the positive
    part, or the largest entry if none is positive.

    The paper has attributes of 0 and 1; features are scaled to [0, 1] to be like them. One that no
    member of the egonet has cannot be what they share, and is left out; if none is left, as for
    an isolated node, normality is 0. Larger egonets have larger sums, which
    are kept as defined; the paper's own scores look rescaled for size (figure 1: L1 within ±1).
    """
    near = graph.neighbours.to_scipy().astype(np.float64)
    degrees = graph.neighbours.degrees[:, None].astype(np.float64)
    ends = max(float(degrees.sum()), 1.0)  # 2m
    surprise = _surprise(near, degrees[:, 0], ends)
    squares, largest = np.zeros(graph.num_nodes), np.full(graph.num_nodes, -np.inf)
    width = max(1, _ENTRIES_AT_ONCE // graph.num_nodes)
    for start in range(0, graph.num_features, width):
        x = _scale_to_unit(graph.features[:, start : start + width])
        expected = _sum_expected(near, degrees, x) / ends
        shared = _sum_inside(near, x) - expected - _sum_across(near, surprise, x)
        shared[expected == 0] = -np.inf
        squares += np.square(np.maximum(shared, 0.0)).sum(axis=1)
        largest = np.maximum(largest, shared.max(axis=1))
    largest[np.isneginf(largest)] = 0.0
    return -np.where(squares > 0, np.sqrt(squares), largest)


def _scale_to_unit(features: NDArray[np.float32]) -> Floats:
    """Every column from its minimum 0 to its maximum 1; a constant column becomes 0."""
    x = features.astype(np.float64)
    x -= x.min(axis=0)
    top = x.max(axis=0)
    return x / np.where(top > 0, top, 1.0)


def _surprise(near: sparse.csr_array, degrees: Floats, ends: float) -> sparse.csr_array:
    """1 - min(1, k_i k_j / 2m) for every edge, (N, N)."""
    rows = np.repeat(np.arange(len(degrees)), np.diff(near.indptr))
    weight = 1 - np.minimum(1.0, degrees[rows] * degrees[near.indices] / ends)
    return sparse.csr_array((weight, near.indices, near.indptr), shape=near.shape)


def _sum_expected(near: sparse.csr_array, degrees: Floats, x: Floats) -> Floats:
    """Σ_{i, j in C} k_i k_j x_i x_j = (Σ_{i in C} k_i x_i)² over every egonet C, (N, F) as `x`."""
    own = degrees * x
    total: Floats = np.square(own + near @ own)
    return total


def _sum_inside(weights: sparse.csr_array, x: Floats) -> Floats:
    """Σ_{i, j in C} weight_ij x_i x_j over the egonet C of every node, (N, F) as `x`."""
    total: Floats = 2 * (x * (weights @ x) + _sum_over_triangles(weights, x))
    return total


def _sum_across(near: sparse.csr_array, weights: sparse.csr_array, x: Floats) -> Floats:
    """Σ_{i in C, b not in C} weight_ib x_i x_b over the edges that leave every egonet, (N, F)."""
    own = x * (weights @ x)
    touching = own + near @ own  # an edge inside is met from both its ends
    leaving: Floats = np.maximum(touching - _sum_inside(weights, x), 0.0)
    return leaving


def count_triangles(neighbours: Csr) -> Floats:
    """How many triangles every node is in, (N,): how many edges there are among its neighbours."""
    matrix = neighbours.to_scipy()
    return _sum_over_triangles(matrix, np.ones((matrix.shape[0], 1)))[:, 0]


def _sum_over_triangles(weights: sparse.csr_array, x: Floats) -> Floats:
    """Σ weight_ij x_i x_j over the triangles (v, i, j) of every node v, (N, F) as `x`.

    `weights` (N, N) is symmetric; every stored entry is an edge. Edges are followed from the end
    with fewer neighbours only, which no node has more than √(2E) of: hubs are not quadratic.
    """
    degrees = np.diff(weights.indptr)
    rows, columns = np.repeat(np.arange(len(degrees)), degrees), weights.indices
    fewer, same = degrees[rows] < degrees[columns], degrees[rows] == degrees[columns]
    upward = fewer | same & (rows < columns)
    starts = np.zeros(len(degrees) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows[upward], minlength=len(degrees)), out=starts[1:])
    total = np.zeros_like(x)
    _add_triangles(
        starts, columns[upward].astype(np.int32), weights.data[upward].astype(np.float64), x, total
    )
    return total


@compiled
def _add_triangles(indptr, indices, weight, x, total):  # type: ignore[no-untyped-def]
    """Give every corner of every triangle what the opposite edge is worth."""
    edge_to = np.full(len(indptr) - 1, -1, dtype=np.int64)
    for low in range(len(indptr) - 1):
        for low_high in range(indptr[low], indptr[low + 1]):
            edge_to[indices[low_high]] = low_high
        for low_middle in range(indptr[low], indptr[low + 1]):
            middle = indices[low_middle]
            for middle_high in range(indptr[middle], indptr[middle + 1]):
                high = indices[middle_high]
                low_high = edge_to[high]
                if low_high >= 0:
                    for column in range(x.shape[1]):
                        a, b, c = x[low, column], x[middle, column], x[high, column]
                        total[low, column] += weight[middle_high] * b * c
                        total[middle, column] += weight[low_high] * a * c
                        total[high, column] += weight[low_middle] * a * b
        for low_high in range(indptr[low], indptr[low + 1]):
            edge_to[indices[low_high]] = -1
