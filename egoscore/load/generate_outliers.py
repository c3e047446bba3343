"""Outliers of four kinds, planted in a generated graph.

None of them shows in a node's degree or in the size of its features: the nodes are chosen so
that these are spread as in the rest of the graph, and the planting keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.load.generate_edges import Ints, Pairs, Propose, Urn, complete

KINDS = ("normal", "attribute", "structural", "contextual", "joint")
_ATTRIBUTE, _STRUCTURAL, _CONTEXTUAL, _JOINT = range(1, 5)
_ATTEMPTS = 64
_SMALLEST_CLIQUE = 3

Features = NDArray[np.float32]
Kinds = NDArray[np.int8]


def plant(
    rng: np.random.Generator,
    features: Features,
    edges: Ints,
    kinds: Kinds,
    urn: Urn,
    pairs: Pairs,
    propose: Propose,
) -> Ints:
    """The edges (2, E) after planting outliers as `kinds` (N,) says; changes `features` in place.

    E stays the same: planting repeats and drops some edges, and others make up for it.
    """
    plant_features(rng, features, kinds, urn.community)
    planted = plant_edges(rng, edges, kinds, urn.community, partial(urn.draw, rng))
    return complete(rng, pairs, pairs.encode(planted), edges.shape[1], spare(kinds, propose))


def choose_kinds(rng: np.random.Generator, degrees: Ints, fraction: float) -> Kinds:
    """The kind of every node (N,), as a position in `KINDS`; about a quarter of `fraction` each.

    By their `degrees` (N,): cliques take outliers with a usual number of edges to give up, and a
    node without edges can only be wrong in its features. All outliers together stay balanced.
    """
    kinds = np.zeros(len(degrees), dtype=np.int8)
    outliers = _choose_outliers(rng, round(fraction * len(degrees)), degrees)
    quarter = len(outliers) // 4
    in_cliques = quarter if quarter >= _SMALLEST_CLIQUE else 0
    usual = max(np.median(degrees), _clique_size(degrees))
    outliers = outliers[np.argsort(np.abs(degrees[outliers] - usual), kind="stable")]
    kinds[outliers[:in_cliques]] = _STRUCTURAL
    rest = rng.permutation(outliers[in_cliques:])
    rest = rest[np.argsort(degrees[rest] > 0, kind="stable")]
    for kind, nodes in zip((_ATTRIBUTE, _CONTEXTUAL, _JOINT), np.array_split(rest, 3), strict=True):
        kinds[nodes] = kind
    return kinds


def plant_features(
    rng: np.random.Generator, features: Features, kinds: Kinds, community: Ints
) -> None:
    """Change the rows of `features` (N, F) that are wrong according to `kinds` (N,), in place.

    Done many times, keeping the rows whose lengths rank most like those of all nodes.
    """
    if not kinds.any():
        return
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    raw, standard = np.sort(_norms(features)), np.sort(_norms((features - mean) / deviation))

    def imbalance(rows: Features) -> float:
        standard_norms = _norms((rows - mean) / deviation)
        return max(_imbalance(_norms(rows), raw), _imbalance(standard_norms, standard))

    attempts = (_replaced_rows(rng, features, kinds, community) for _ in range(_ATTEMPTS))
    features[kinds > 0] = min(attempts, key=imbalance)


def plant_edges(
    rng: np.random.Generator,
    edges: Ints,
    kinds: Kinds,
    community: Ints,
    draw_nodes: Callable[[int], Ints],
) -> Ints:
    """The edges (2, E) with cliques and misplaced nodes in them; E changes a little.

    `draw_nodes` draws nodes by their expected degrees, so that moved edges keep all degrees.
    """
    cliques = _group_strangers(rng, np.flatnonzero(kinds == _STRUCTURAL), community, edges)
    moved = _move_edges(edges, kinds == _JOINT, draw_nodes)
    return np.hstack([_give_up_edges(rng, moved, cliques, len(kinds)), _connect_all(rng, cliques)])


def spare(kinds: Kinds, draw_edges: Propose) -> Propose:
    """`draw_edges` without the edges that would blur cliques and misplaced nodes."""
    is_planted = (kinds == _STRUCTURAL) | (kinds == _JOINT)

    def draw_others(count: int) -> Ints:
        drafts = draw_edges(count)
        return drafts[:, ~is_planted[drafts].any(axis=0)]

    return draw_others


def count_degrees(edges: Ints, size: int) -> Ints:
    """Degrees (N,) from edges (2, E), in and out together."""
    return np.bincount(edges.ravel(), minlength=size)


def _choose_outliers(rng: np.random.Generator, count: int, degrees: Ints) -> Ints:
    """`count` nodes whose `degrees` (N,) rank like those of all nodes.

    A plain random choice is right on average, but sixty nodes can by bad luck have high degrees.
    So choose many times and keep the most balanced choice (rerandomisation, Morgan & Rubin 2012).
    """
    ordered = np.sort(degrees)
    attempts = (rng.choice(len(degrees), count, replace=False) for _ in range(_ATTEMPTS))
    return min(attempts, key=lambda nodes: _imbalance(degrees[nodes], ordered))


def _imbalance(values: NDArray[Any], ordered: NDArray[Any]) -> float:
    """How far `values` (k,) together rank from the middle of `ordered` (N,); equals rank alike."""
    below, upto = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return abs(float((below + upto - len(ordered)).sum()))


def _clique_size(degrees: Ints) -> int:
    """Members of a planted clique: it takes up about two thirds of the edges of a usual node."""
    return max(_SMALLEST_CLIQUE, round(2 / 3 * float(np.median(degrees))) + 1)


def _norms(features: Features) -> Features:
    """Lengths (N,) of the rows of `features` (N, F)."""
    squares: Features = np.einsum("nf,nf->n", features, features)
    return np.sqrt(squares)


def _replaced_rows(
    rng: np.random.Generator, features: Features, kinds: Kinds, community: Ints
) -> Features:
    """New rows (k, F) for the k outliers; those of structural outliers stay as they are."""
    rows = features[kinds > 0]
    of_kind = kinds[kinds > 0]
    for kind, share in ((_ATTRIBUTE, 1.0), (_JOINT, 0.5)):
        rows[of_kind == kind] = _mixed_rows(rng, features, np.flatnonzero(kinds == kind), share)
    donors = _foreign_donors(rng, np.flatnonzero(kinds == _CONTEXTUAL), community)
    rows[of_kind == _CONTEXTUAL] = features[donors]
    return rows


def _mixed_rows(
    rng: np.random.Generator, features: Features, nodes: Ints, share: float
) -> Features:
    """Rows (k, F) of `nodes`, a `share` of the values each from another node of its own.

    This keeps the marginals and breaks the correlations.
    """
    size, width = features.shape
    is_mixed = np.tile(np.arange(width) < math.ceil(share * width), (len(nodes), 1))
    steps = rng.integers(1, size, size=is_mixed.shape) * rng.permuted(is_mixed, axis=1)
    rows: Features = features[(nodes[:, None] + steps) % size, np.arange(width)]
    return rows


def _foreign_donors(rng: np.random.Generator, nodes: Ints, community: Ints) -> Ints:
    """(k,) for each of `nodes` (k,) a random node of another community."""
    donors = rng.integers(len(community), size=len(nodes))
    while (is_own := community[donors] == community[nodes]).any():
        donors[is_own] = rng.integers(len(community), size=np.count_nonzero(is_own))
    return donors


def _group_strangers(
    rng: np.random.Generator, nodes: Ints, community: Ints, edges: Ints
) -> list[Ints]:
    """Groups for the cliques; dealt out community by community, so that few members share one."""
    nodes = rng.permutation(nodes)
    nodes = nodes[np.argsort(community[nodes], kind="stable")]
    size = _clique_size(count_degrees(edges, len(community)))
    groups = -(-len(nodes) // size)
    if groups and len(nodes) // groups < _SMALLEST_CLIQUE:
        groups = max(1, len(nodes) // size)
    return [nodes[first::groups] for first in range(groups)]


def _move_edges(
    edges: Ints, is_moved: NDArray[np.bool_], draw_nodes: Callable[[int], Ints]
) -> Ints:
    """Edges (2, E) of the moved nodes now lead to nodes drawn anywhere; direction is kept."""
    edges = edges.copy()
    source_moved, target_moved = is_moved[edges]
    new_target = np.flatnonzero(source_moved)
    new_source = np.flatnonzero(target_moved & ~source_moved)
    edges[1, new_target] = draw_nodes(len(new_target))
    edges[0, new_source] = draw_nodes(len(new_source))
    return edges


def _give_up_edges(rng: np.random.Generator, edges: Ints, cliques: list[Ints], size: int) -> Ints:
    """Edges (2, E) without as many random ones of every member as its clique will bring."""
    quota = np.zeros(size, dtype=np.int64)
    for members in cliques:
        quota[members] = len(members) - 1
    end, edge = np.nonzero(quota[edges] > 0)
    shuffled = rng.permutation(len(edge))
    node, edge = edges[end, edge][shuffled], edge[shuffled]
    order = np.argsort(node, kind="stable")
    node, edge = node[order], edge[order]
    place = np.arange(len(node)) - np.searchsorted(node, node)
    return np.delete(edges, edge[place < quota[node]], axis=1)


def _connect_all(rng: np.random.Generator, cliques: list[Ints]) -> Ints:
    """Edges (2, …) between all members of each clique, in random directions."""
    nothing = np.empty((2, 0), dtype=np.int64)
    return rng.permuted(np.hstack([nothing, *map(all_pairs, cliques)]), axis=0)


def all_pairs(members: Ints) -> Ints:
    """Edges (2, …) between all `members` (k,)."""
    pairs: Ints = members[np.stack(np.triu_indices(len(members), k=1))]
    return pairs
