"""Drawing edges: exactly as many as asked for, none twice, none from a node to itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from egoscore.graph.csr import build_csr

_ROUNDS = 30

Ints = NDArray[np.int64]
Propose = Callable[[int], Ints]


class Pairs(NamedTuple):
    """A numbering 0 … total - 1 of the edges that can exist."""

    num_nodes: int
    directed: bool

    @property
    def total(self) -> int:
        """How many edges there can be."""
        ordered = self.num_nodes * (self.num_nodes - 1)
        return ordered if self.directed else ordered // 2

    def encode(self, edges: Ints) -> Ints:
        """Sorted numbers of `edges` (2, E), without loops and repeats."""
        sources, targets = edges[:, edges[0] != edges[1]]
        high = np.maximum(sources, targets)
        codes = high * (high - 1) // 2 + np.minimum(sources, targets)
        if self.directed:
            codes = sources * (self.num_nodes - 1) + targets - (targets > sources)
        codes = np.sort(codes)
        # Not np.unique: it hashes whole numbers, which is slower for millions.
        is_new = np.diff(codes, prepend=-1) > 0
        return codes[is_new]

    def decode(self, codes: Ints) -> Ints:
        """Edges (2, E) with these numbers (E,)."""
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

    def draw_edges(
        self, rng: np.random.Generator, homophily: float, count: int, partners: Ints | None = None
    ) -> Ints:
        """Edges (2, count), a share `homophily` of them within the community of the source.

        With `partners` (C,), that share goes to the community that is its partner instead.
        """
        sources = self.draw(rng, count)
        own = self.community[sources]
        sought = own if partners is None else partners[own]
        is_near = rng.random(count) < homophily
        low = np.where(is_near, self.bounds[sought], 0.0)
        high = np.where(is_near, self.bounds[sought + 1], self.bounds[-1])
        return np.stack([sources, self._nodes_at(rng.uniform(low, high))])

    def _nodes_at(self, sums: NDArray[np.float64]) -> Ints:
        # Rounding may reach the upper end, which belongs to nobody.
        found = np.minimum(np.searchsorted(self.upto, sums, "right"), len(self.order) - 1)
        return self.order[found]


def draw_edges(
    rng: np.random.Generator, pairs: Pairs, count: int, closure: float, propose: Propose
) -> Ints:
    """Exactly `count` different edges (2, count), the last share `closure` closing wedges."""
    codes = np.empty(0, dtype=np.int64)
    codes = _grow(rng, pairs, codes, round((1 - closure) * count), propose)
    wedges = _wedges(rng, pairs.decode(codes), pairs.num_nodes)
    return complete(rng, pairs, _grow(rng, pairs, codes, count, wedges), count, propose)


def complete(
    rng: np.random.Generator, pairs: Pairs, codes: Ints, count: int, propose: Propose
) -> Ints:
    """Exactly `count` edges (2, count): those of `codes` and further ones, or some of them."""
    if len(codes) > count:
        codes = np.sort(rng.choice(codes, count, replace=False))
    codes = _grow(rng, pairs, codes, count, propose)
    return pairs.decode(_fill_up(rng, pairs, codes, count))


def _wedges(rng: np.random.Generator, edges: Ints, size: int) -> Propose:
    """A function that draws edges between two neighbours of a node in `edges` (2, E)."""
    sources, targets = np.hstack([edges, edges[::-1]])
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
    """Sorted `codes` made `target` with any that are missing: in dense graphs all are needed."""
    gaps = rng.choice(pairs.total - len(codes), target - len(codes), replace=False)
    # The k-th missing code is k plus the number of present codes below it.
    gaps += np.searchsorted(codes - np.arange(len(codes)), gaps, "right")
    return np.sort(np.append(codes, gaps))
