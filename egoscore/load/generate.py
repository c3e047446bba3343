"""Generated graphs with planted outliers, small or as large as real ones."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import ParameterError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.load import generate_outliers as planted
from egoscore.load.generate_edges import Ints, Pairs, Propose, Urn, draw_edges

_ROWS_AT_ONCE = 65_536
_MAX_RANK = 8
_MOST_NODES = 10**8


def generate_network(
    num_nodes: int = 1000,
    num_edges: int | None = None,
    num_features: int = 16,
    *,
    directed: bool = False,
    num_communities: int | None = None,
    exponent: float = 2.5,
    homophily: float = 0.85,
    closure: float = 0.3,
    outlier_fraction: float = 0.06,
    seed: int = 0,
) -> AttributedGraph:
    """A graph of communities with hubs, correlated features and planted outliers.

    Expected degrees follow a power law with `exponent`. An edge stays within its community with
    probability `homophily`; a share `closure` of the edges joins two neighbours of one node.
    There are exactly `num_edges` edges (four per node unless given), no loops, no repeats.

    `node_info` holds every node's "community" and "kind", which is "normal" or one of
    "attribute" (each feature is that of another node), "contextual" (all features are those of
    one node of another community), "structural" (in a clique of strangers) and "joint" (edges to
    random nodes, and half of the features from others). `labels` is 1 for all but "normal".
    """
    pairs = Pairs(num_nodes, directed)
    if num_edges is None:
        num_edges = min(4 * num_nodes, pairs.total)
    if num_communities is None:
        num_communities = max(2, round(math.sqrt(max(num_nodes, 0)) / 4))
    _check_sizes(pairs, num_edges, num_features, num_communities)
    _check_shares(exponent, homophily, closure, outlier_fraction)
    _require(seed >= 0, "seed", "at least 0", seed)
    rng = np.random.default_rng(seed)
    community = draw_communities(rng, num_nodes, num_communities)
    urn = Urn.fill(community, draw_weights(rng, num_nodes, num_edges, exponent))
    propose: Propose = partial(urn.draw_edges, rng, homophily)
    edges = draw_edges(rng, pairs, num_edges, closure, propose)
    features = _draw_features(rng, community, num_features)
    kinds = planted.choose_kinds(rng, planted.count_degrees(edges, num_nodes), outlier_fraction)
    edges = planted.plant(rng, features, edges, kinds, urn, pairs, propose)
    return AttributedGraph.from_edges(
        edges,
        features,
        directed,
        labels=kinds > 0,
        node_info={"community": community, "kind": np.array(planted.KINDS)[kinds]},
    )


def builtin_network() -> AttributedGraph:
    """The graph of the demo: 1,000 nodes, 4,000 edges, 16 features, 60 outliers."""
    return generate_network()


def weibo_like(seed: int = 0) -> AttributedGraph:
    """As large as the Weibo data set: dense, directed, with many features and outliers."""
    return generate_network(
        8_405, 407_963, 400, directed=True, outlier_fraction=868 / 8_405, seed=seed
    )


def dgraph_like(seed: int = 0) -> AttributedGraph:
    """As large as the DGraph-Fin data set: millions of nodes with few edges, rare outliers."""
    # Flatter and less clustered, or more than a third of the nodes would have no edge at all.
    return generate_network(
        3_700_550, 4_300_999, 17, exponent=3, closure=0.1, outlier_fraction=0.004, seed=seed
    )


def _check_sizes(pairs: Pairs, num_edges: int, num_features: int, num_communities: int) -> None:
    # above the limit the numbers of pairs are no longer exact in generate_edges.py
    rule = f"between 2 and {_MOST_NODES}"
    _require(2 <= pairs.num_nodes <= _MOST_NODES, "num_nodes", rule, pairs.num_nodes)
    _require(num_features >= 1, "num_features", "at least 1", num_features)
    rule = f"between 2 and the number of nodes, {pairs.num_nodes}"
    _require(2 <= num_communities <= pairs.num_nodes, "num_communities", rule, num_communities)
    rule = f"between 0 and {pairs.total}, all that {pairs.num_nodes} nodes can have"
    _require(0 <= num_edges <= pairs.total, "num_edges", rule, num_edges)


def _check_shares(
    exponent: float, homophily: float, closure: float, outlier_fraction: float
) -> None:
    _require(2 < exponent < math.inf, "exponent", "a finite number above 2", exponent)
    _require(0 <= homophily <= 1, "homophily", "in [0, 1]", homophily)
    _require(0 <= closure < 1, "closure", "in [0, 1)", closure)
    _require(0 <= outlier_fraction <= 0.5, "outlier_fraction", "in [0, 0.5]", outlier_fraction)


def _require(holds: bool, name: str, rule: str, value: float) -> None:
    if not holds:
        raise ParameterError(name, rule, value, of="generate_network")


def draw_communities(rng: np.random.Generator, num_nodes: int, count: int) -> Ints:
    """The community of every node (N,); sizes differ, none is empty."""
    shares = rng.dirichlet(np.full(count, 10.0))
    others = rng.choice(count, num_nodes - count, p=shares)
    return rng.permutation(np.concatenate([np.arange(count), others]))


def draw_weights(
    rng: np.random.Generator, num_nodes: int, num_edges: int, exponent: float
) -> NDArray[np.float64]:
    """Expected degrees (N,) up to a factor."""
    weights = np.arange(1, num_nodes + 1) ** (-1 / (exponent - 1))
    # Above the square root of all ends, two hubs would expect more than one edge between them.
    cap = weights.sum() / math.sqrt(max(2 * num_edges, 1))
    return rng.permutation(np.minimum(weights, cap))


def _draw_features(
    rng: np.random.Generator, community: Ints, num_features: int
) -> NDArray[np.float32]:
    """Features (N, F): what the community has in common, correlated factors, and noise."""
    # Both of low rank, so that features predict each other however many communities there are.
    common = _draw_loadings(rng, num_features // 2, num_features)
    loadings = _draw_loadings(rng, num_features // 4, num_features)
    centres = 1.3 * _draw_vectors(rng, community.max() + 1, common)
    scale = np.exp(0.7 * rng.standard_normal(num_features, np.float32))
    location = 2 * scale * rng.standard_normal(num_features, np.float32)
    features = np.empty((len(community), num_features), dtype=np.float32)
    for start in range(0, len(community), _ROWS_AT_ONCE):
        rows = community[start : start + _ROWS_AT_ONCE]
        values = centres[rows] + _draw_vectors(rng, len(rows), loadings)
        noise = rng.standard_normal(values.shape, np.float32)
        values += noise * (0.4 + 0.04 * np.square(noise))  # heavier tails than Gaussian
        features[start : start + len(rows)] = location + scale * values
    return features


def _draw_loadings(rng: np.random.Generator, rank: int, width: int) -> NDArray[np.float32]:
    """Loadings (rank within 1 … 8, width) that give every feature unit variance."""
    loadings = rng.standard_normal((min(max(rank, 1), _MAX_RANK), width), np.float32)
    loadings /= np.linalg.norm(loadings, axis=0)
    return loadings


def _draw_vectors(
    rng: np.random.Generator, count: int, loadings: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Correlated vectors (count, width) from `loadings` (rank, width)."""
    factors = rng.standard_normal((count, len(loadings)), np.float32)
    vectors: NDArray[np.float32] = factors @ loadings
    return vectors
