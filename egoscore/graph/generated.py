"""Generated networks with planted outliers: to try things on, small or as large as real ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import ParameterError
from egoscore.graph import planted
from egoscore.graph.csr import build_csr
from egoscore.graph.network import AttributedGraph

_ROUNDS = 30
_ROWS_AT_ONCE = 65_536
_MAX_RANK = 8

Ints = NDArray[np.int64]
Propose = Callable[[int], Ints]


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
    """A network of communities with hubs, correlated features and planted outliers.

    Expected degrees follow a power law with `exponent`. A tie stays within its community with
    probability `homophily`; a share `closure` of the ties joins two neighbours of one node.
    There are exactly `num_edges` edges (four per node unless given), no loops, no repeats.

    `node_info` holds every node's "community" and "kind", which is "normal" or one of
    "attribute" (each feature is that of another node), "contextual" (all features are those of
    one node of another community), "structural" (in a clique of strangers) and "joint" (ties to
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
    community = _draw_communities(rng, num_nodes, num_communities)
    urn = Urn.fill(community, _draw_weights(rng, num_nodes, num_edges, exponent))
    draw_nodes = partial(urn.draw, rng)
    draw_ties: Propose = partial(urn.draw_ties, rng, homophily)
    ties = _draw_ties(rng, pairs, num_edges, closure, draw_ties)
    features = _draw_features(rng, community, num_features)
    kinds = planted.choose_kinds(rng, planted.count_ties(ties, num_nodes), outlier_fraction)
    planted.plant_features(rng, features, kinds, community)
    ties = planted.plant_ties(rng, ties, kinds, community, draw_nodes)
    # Planting repeats and drops some ties; the outliers keep theirs when others make up for it.
    draw_ties = planted.spare(kinds, draw_ties)
    ties = _complete(rng, pairs, pairs.encode(ties), num_edges, draw_ties)
    return AttributedGraph.from_edges(
        ties,
        features,
        directed,
        labels=kinds > 0,
        node_info={"community": community, "kind": np.array(planted.KINDS)[kinds]},
    )


def builtin_network() -> AttributedGraph:
    """The network of the demo: 1,000 nodes, 4,000 edges, 16 features, 60 outliers."""
    return generate_network()


def weibo_like(seed: int = 0) -> AttributedGraph:
    """As large as the Weibo data set: dense, directed, with many features and outliers."""
    return generate_network(
        8_405, 407_963, 400, directed=True, outlier_fraction=868 / 8_405, seed=seed
    )


def dgraph_like(seed: int = 0) -> AttributedGraph:
    """As large as the DGraph-Fin data set: millions of nodes with few ties, rare outliers."""
    # Flatter and less clustered, or more than a third of the nodes would have no tie at all.
    return generate_network(
        3_700_550, 4_300_999, 17, exponent=3, closure=0.1, outlier_fraction=0.004, seed=seed
    )


class Pairs(NamedTuple):
    """A numbering 0 … total - 1 of the edges that can exist."""

    num_nodes: int
    directed: bool

    @property
    def total(self) -> int:
        """How many edges there can be."""
        ordered = self.num_nodes * (self.num_nodes - 1)
        return ordered if self.directed else ordered // 2

    def encode(self, ties: Ints) -> Ints:
        """Sorted numbers of `ties` (2, E), without loops and repeats."""
        sources, targets = ties[:, ties[0] != ties[1]]
        high = np.maximum(sources, targets)
        codes = high * (high - 1) // 2 + np.minimum(sources, targets)
        if self.directed:
            codes = sources * (self.num_nodes - 1) + targets - (targets > sources)
        codes = np.sort(codes)
        # Not np.unique: it hashes whole numbers, which is slower for millions.
        is_new = np.diff(codes, prepend=-1) > 0
        return codes[is_new]

    def decode(self, codes: Ints) -> Ints:
        """Ties (2, E) with these numbers (E,)."""
        if self.directed:
            sources, targets = np.divmod(codes, self.num_nodes - 1)
            return np.stack([sources, targets + (targets >= sources)])
        # Exact: a perfect square has an exact root, and others are far enough from one.
        high = ((1 + np.sqrt(8.0 * codes + 1)) / 2).astype(np.int64)
        return np.stack([codes - high * (high - 1) // 2, high])


class Urn(NamedTuple):
    """Draws nodes in proportion to their weights, anywhere or within a community.

    Attributes: `order` (N,) the nodes, community by community; `upto` (N,) the sum of the
    weights of the nodes up to this one; `bounds` (C + 1,) the same at the ends of communities.
    """

    order: Ints
    upto: NDArray[np.float64]
    bounds: NDArray[np.float64]
    community: Ints

    @classmethod
    def fill(cls, community: Ints, weights: NDArray[np.float64]) -> Urn:
        """An urn of nodes with `community` (N,) and `weights` (N,)."""
        order = np.argsort(community, kind="stable")
        upto = np.cumsum(weights[order])
        bounds = np.append(0.0, upto[np.cumsum(np.bincount(community)) - 1])
        return cls(order, upto, bounds, community)

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        """Nodes (count,) from anywhere."""
        return self._nodes_at(rng.uniform(0, self.bounds[-1], count))

    def draw_ties(self, rng: np.random.Generator, homophily: float, count: int) -> Ints:
        """Ties (2, count), a share `homophily` of them within the community of the source."""
        sources = self.draw(rng, count)
        own = self.community[sources]
        stays = rng.random(count) < homophily
        low = np.where(stays, self.bounds[own], 0.0)
        high = np.where(stays, self.bounds[own + 1], self.bounds[-1])
        return np.stack([sources, self._nodes_at(rng.uniform(low, high))])

    def _nodes_at(self, sums: NDArray[np.float64]) -> Ints:
        # Rounding may reach the upper end, which belongs to nobody.
        found = np.minimum(np.searchsorted(self.upto, sums, "right"), len(self.order) - 1)
        return self.order[found]


def _check_sizes(pairs: Pairs, num_edges: int, num_features: int, num_communities: int) -> None:
    _require(pairs.num_nodes >= 2, "num_nodes", "at least 2", pairs.num_nodes)
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
        raise ParameterError(
            f"The '{name}' parameter of generate_network must be {rule}. Got {value} instead."
        )


def _draw_communities(rng: np.random.Generator, num_nodes: int, count: int) -> Ints:
    """The community of every node (N,); sizes differ, none is empty."""
    shares = rng.dirichlet(np.full(count, 10.0))
    others = rng.choice(count, num_nodes - count, p=shares)
    return rng.permutation(np.concatenate([np.arange(count), others]))


def _draw_weights(
    rng: np.random.Generator, num_nodes: int, num_edges: int, exponent: float
) -> NDArray[np.float64]:
    """Expected degrees (N,) up to a factor."""
    weights = np.arange(1, num_nodes + 1) ** (-1 / (exponent - 1))
    # Above the square root of all ends, two hubs would expect more than one tie between them.
    cap = weights.sum() / math.sqrt(max(2 * num_edges, 1))
    return rng.permutation(np.minimum(weights, cap))


def _draw_ties(
    rng: np.random.Generator, pairs: Pairs, count: int, closure: float, propose: Propose
) -> Ints:
    """Exactly `count` different ties (2, count), the last share `closure` closing wedges."""
    codes = np.empty(0, dtype=np.int64)
    codes = _grow(rng, pairs, codes, round((1 - closure) * count), propose)
    wedges = _wedges(rng, pairs.decode(codes), pairs.num_nodes)
    return _complete(rng, pairs, _grow(rng, pairs, codes, count, wedges), count, propose)


def _complete(
    rng: np.random.Generator, pairs: Pairs, codes: Ints, count: int, propose: Propose
) -> Ints:
    """Exactly `count` ties (2, count): those of `codes` and further ones, or some of them."""
    if len(codes) > count:
        codes = np.sort(rng.choice(codes, count, replace=False))
    codes = _grow(rng, pairs, codes, count, propose)
    return pairs.decode(_fill_up(rng, pairs, codes, count))


def _wedges(rng: np.random.Generator, ties: Ints, size: int) -> Propose:
    """A function that draws ties between two neighbours of a node in `ties` (2, E)."""
    sources, targets = np.hstack([ties, ties[::-1]])
    csr = build_csr(sources, targets, size)
    centres = np.repeat(np.arange(size), csr.degrees)

    def propose(count: int) -> Ints:
        if len(centres) == 0:
            return np.empty((2, 0), dtype=np.int64)
        one = rng.integers(0, len(centres), count)
        centre = centres[one]
        other = csr.indptr[centre] + rng.integers(0, csr.degrees[centre])
        return csr.indices[np.stack([one, other])].astype(np.int64)

    return propose


def _grow(
    rng: np.random.Generator, pairs: Pairs, codes: Ints, target: int, propose: Propose
) -> Ints:
    """Sorted `codes` with new ones from `propose`, up to `target`, or fewer if they run out."""
    for _ in range(_ROUNDS):
        missing = target - len(codes)
        if missing <= 0:
            break
        drafts = pairs.encode(propose(missing + missing // 4 + 8))
        new = drafts[~np.isin(drafts, codes, assume_unique=True)]
        codes = np.sort(np.concatenate([codes, rng.permutation(new)[:missing]]))
    return codes


def _fill_up(rng: np.random.Generator, pairs: Pairs, codes: Ints, target: int) -> Ints:
    """Sorted `codes` made `target` with any that are missing: in dense networks all are needed."""
    gaps = rng.choice(pairs.total - len(codes), target - len(codes), replace=False)
    # The k-th missing code is k plus the number of present codes below it.
    gaps += np.searchsorted(codes - np.arange(len(codes)), gaps, "right")
    return np.sort(np.append(codes, gaps))


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
