"""Outliers to plant: hidden ones, as in `generate_network`, and others, which may be obvious.

Every function takes features (N, F), edges (2, E) and how many outliers there should be, and
changes none of them in place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoscore.load import generate_outliers as planted
from egoscore.load.generate_edges import Ints, Pairs, Propose, Urn
from egoscore.load.generate_outliers import Features, all_pairs, count_degrees

_LARGEST_CLIQUE = 10
_CANDIDATES = 50
_RING_SIZE = 6


class Planted(NamedTuple):
    """A network with its outliers: features (N, F), edges (2, E) and kinds (N,)."""

    features: Features
    edges: Ints
    kinds: NDArray[np.str_]


def hide(
    rng: np.random.Generator,
    features: Features,
    edges: Ints,
    count: int,
    name: str,
    urn: Urn,
    propose: Propose,
) -> Planted:
    """Outliers of the kind `name`, or for "mixture" of all four kinds of `planted`.

    Other edges make up for those that planting takes away, so that E stays the same.
    """
    degrees = count_degrees(edges, len(features))
    kinds = planted.choose_kinds(rng, degrees, count / len(features))
    if name != "mixture":
        kinds[kinds > 0] = planted.KINDS.index(name)
    changed = features.copy()
    pairs = Pairs(len(features), directed=False)
    moved = planted.plant(rng, changed, edges, kinds, urn, pairs, propose)
    return Planted(changed, moved, np.array(planted.KINDS)[kinds])


def inject(rng: np.random.Generator, features: Features, edges: Ints, count: int) -> Planted:
    """Half are in cliques of random nodes, half have the features of a very different node."""
    nodes = _choose(rng, features, count)
    size = min(_LARGEST_CLIQUE, count // 4)
    in_cliques, alone = np.split(nodes, [count // 2 // size * size])
    return inject_into(rng, features, edges, in_cliques.reshape(-1, size), alone)


def inject_into(
    rng: np.random.Generator, features: Features, edges: Ints, in_cliques: Ints, alone: Ints
) -> Planted:
    """Each row of `in_cliques` (C, size) becomes a clique; nodes `alone` get another's features.

    So Ding et al. 2019 ("Deep anomaly detection on attributed networks") and BOND inject
    outliers: the other node is the farthest of fifty random ones, which favours unusual nodes.
    """
    changed = features.copy()
    for node in alone:
        candidates = rng.integers(0, len(features), _CANDIDATES)
        distances = np.square(features[candidates] - features[node]).sum(axis=1)
        changed[node] = features[candidates[distances.argmax()]]
    cliques = [all_pairs(members) for members in in_cliques]
    kinds = _kinds_of(len(features), structural=in_cliques.ravel(), contextual=alone)
    return Planted(changed, np.hstack([edges, *cliques]), kinds)


def plant_rings(rng: np.random.Generator, features: Features, edges: Ints, count: int) -> Planted:
    """Rings, as of fraudsters: about six connected nodes with a similar, unusual pattern.

    A ring's pattern is one node's features, 40% of them replaced by those of others; a member
    has 70% of the pattern, and half of the edges that the ring could have.
    """
    nodes = _choose(rng, features, count)
    num_nodes, width = features.shape
    changed, new = features.copy(), []
    for members in np.array_split(nodes, max(1, count // _RING_SIZE)):
        pattern = features[rng.integers(0, num_nodes)]
        is_foreign = rng.random(width) < 0.4
        foreign = features[rng.integers(0, num_nodes, width), np.arange(width)]
        pattern = np.where(is_foreign, foreign, pattern)
        is_copied = rng.random((len(members), width)) < 0.7
        changed[members] = np.where(is_copied, pattern, features[members])
        pairs = all_pairs(members)
        new.append(pairs[:, rng.random(pairs.shape[1]) < 0.5])
    return Planted(changed, np.hstack([edges, *new]), _kinds_of(num_nodes, ring=nodes))


def stretch(rng: np.random.Generator, features: Features, edges: Ints, count: int) -> Planted:
    """About half of an outlier's features move away from the mean, by a factor of 1.3 to 2.5."""
    nodes = _choose(rng, features, count)
    is_stretched = rng.random((count, features.shape[1])) < 0.5
    factors = np.where(is_stretched, rng.uniform(1.3, 2.5, (count, 1)), 1)
    mean, changed = features.mean(axis=0), features.copy()
    changed[nodes] = mean + (features[nodes] - mean) * factors
    return Planted(changed, edges, _kinds_of(len(features), intense=nodes))


def switch_on(rng: np.random.Generator, features: Features, edges: Ints, count: int) -> Planted:
    """For features that are 0 or 1: about 15% of an outlier's features are set to 1."""
    nodes = _choose(rng, features, count)
    shape = (count, features.shape[1])
    is_on = (rng.random(shape) < 0.5) & (rng.random(shape) < 0.3)
    changed = features.copy()
    changed[nodes] = np.where(is_on, features.max(axis=0), features[nodes])
    return Planted(changed, edges, _kinds_of(len(features), intense=nodes))


def plant_spammers(
    rng: np.random.Generator, features: Features, edges: Ints, count: int
) -> Planted:
    """Outliers get 0.5 to 2 times as many additional edges, to random nodes."""
    nodes = _choose(rng, features, count)
    num_nodes = len(features)
    degrees = count_degrees(edges, num_nodes)
    new = []
    for node in nodes:
        further = max(2, int(degrees[node] * rng.uniform(0.5, 2)))
        targets = rng.integers(0, num_nodes, further)
        targets = targets[targets != node]
        new.append(np.stack([np.full(len(targets), node), targets]))
    return Planted(features, np.hstack([edges, *new]), _kinds_of(num_nodes, spammers=nodes))


# Of one kind or, for "mixture", of all four: degrees and sizes of features do not reveal them,
# except that in sparse graphs not every "structural" outlier has as many edges to give up as its
# clique brings.
HIDDEN = ("mixture", "attribute", "contextual", "structural", "joint")
# "intense" for features that are numbers; `switch_on` is for those that are 0 or 1.
VISIBLE = {
    "injected": inject,
    "clusters": plant_rings,
    "intense": stretch,
    "spammers": plant_spammers,
}


def _choose(rng: np.random.Generator, features: Features, count: int) -> Ints:
    """`count` different nodes, in random order."""
    return rng.permutation(len(features))[:count]


def _kinds_of(num_nodes: int, **nodes: Ints) -> NDArray[np.str_]:
    """The kind of every node (N,): the name under which it is given, or "normal"."""
    kinds = np.full(num_nodes, "normal", dtype=object)
    for kind, members in nodes.items():
        kinds[members] = kind
    return kinds.astype(np.str_)
