"""A family of generated networks that differ in size, density, mixing, features and outliers.

Used to choose a detector's settings without any real label: on the numbers in `CHOOSING`. Those in
`CONFIRMING` confirm the choice, and are not looked at before. Every kind of outlier occurs three
times in each half.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import ParameterError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.load.families import VARIED_NAMES
from egoscore.load.families.features import BINARY, FEATURE_KINDS, draw_features
from egoscore.load.families.outliers import HIDDEN, VISIBLE, Planted, hide, switch_on
from egoscore.load.generate import draw_communities, draw_weights
from egoscore.load.generate_edges import Ints, Pairs, Propose, Urn, draw_edges

CHOOSING = range(0, 27)
CONFIRMING = range(27, 54)
NUM_VARIED = len(VARIED_NAMES)

# The share of the edges that follow the mixing; the others lead anywhere.
MIXINGS = {"homophilous": 0.9, "weak": 0.6, "heterophilous": 0.85, "smooth": 0.8}
_FEWEST_OUTLIERS = 12
_CELL_SIZE = 40


@dataclass(frozen=True)
class Setting:
    """What a network of the family is like.

    Attributes:
        number: which one it is, from 0.
        num_nodes, num_features: its size.
        mean_degree: before outliers get edges of their own.
        feature_kind: a name in `FEATURE_KINDS`.
        mixing: who is connected to whom. "homophilous" and "weak": nodes of one community;
            "heterophilous": those of two communities that are partners; "smooth": nodes near
            each other on a plane, over which features change gradually.
        exponent: of the power law of expected degrees.
        closure: share of the edges that join two neighbours of a node.
        outlier_fraction: share of the nodes that are outliers.
        outliers: what they are, a name in `HIDDEN` or `VISIBLE`.
    """

    number: int
    num_nodes: int
    mean_degree: float
    num_features: int
    feature_kind: str
    mixing: str
    exponent: float
    closure: float
    outlier_fraction: float
    outliers: str

    @property
    def num_edges(self) -> int:
        """How many edges there are before outliers get edges of their own."""
        return int(self.num_nodes * self.mean_degree / 2)

    @property
    def num_outliers(self) -> int:
        """How many nodes are outliers."""
        return round(self.outlier_fraction * self.num_nodes)


def varied_setting(number: int) -> Setting:
    """The setting of network `number`, 0 … 53: kinds take turns, the rest is random."""
    if number not in range(NUM_VARIED):
        rule = f"a whole number from 0 to {NUM_VARIED - 1}"
        raise ParameterError("number", rule, number, of="a varied network")
    kinds, designs = tuple(FEATURE_KINDS), (*HIDDEN, *VISIBLE)
    rng = np.random.default_rng([2026, number])
    num_nodes = int(rng.choice((400, 800, 1600, 3000)))
    mean_degree = float(rng.choice((2.5, 5.0, 10.0, 25.0)))
    num_features = int(rng.choice((6, 16, 48, 150)))
    mixing = tuple(MIXINGS)[(number // 5 + number % 5) % len(MIXINGS)]
    fraction = float(np.exp(rng.uniform(np.log(0.005), np.log(0.1))))
    exponent = float(rng.choice((2.2, 2.6, 3.5)))
    # Two neighbours of a node are of one community: closing would undo heterophily.
    closure = 0.0 if mixing == "heterophilous" else float(rng.choice((0.0, 0.3, 0.5)))
    return Setting(
        number=number,
        num_nodes=num_nodes,
        mean_degree=mean_degree,
        num_features=num_features,
        feature_kind=kinds[number % len(kinds)],
        mixing=mixing,
        exponent=exponent,
        closure=closure,
        outlier_fraction=max(fraction, _FEWEST_OUTLIERS / num_nodes),
        outliers=designs[number * 5 % len(designs)],
    )


def varied_network(number: int, seed: int = 0) -> AttributedGraph:
    """Network `number` of the family, drawn with `seed`; see `varied_setting`.

    `node_info` holds every node's "community" and "kind": "normal", or one of
    `generate_outliers.KINDS`, or for other outliers "ring", "intense" or "spammers".
    """
    setting = varied_setting(number)
    if seed < 0:
        raise ParameterError("seed", "at least 0", seed, of="a varied network")
    rng = np.random.default_rng([7, number, seed])
    community, positions = _draw_places(rng, setting)
    weights = draw_weights(rng, setting.num_nodes, setting.num_edges, setting.exponent)
    urn = Urn.fill(community, weights)
    propose = _proposals(rng, setting, urn)
    pairs = Pairs(setting.num_nodes, directed=False)
    edges = draw_edges(rng, pairs, setting.num_edges, setting.closure, propose)
    features = draw_features(rng, setting.feature_kind, setting.num_features, community, positions)
    found = _plant(rng, setting, features, edges, urn, propose)
    return AttributedGraph.from_edges(
        found.edges,
        found.features,
        labels=found.kinds != "normal",
        node_info={"community": community, "kind": found.kinds},
    )


def _draw_places(
    rng: np.random.Generator, setting: Setting
) -> tuple[Ints, NDArray[np.float64] | None]:
    """Communities (N,), and for smooth mixing positions (N, 2), whose cells are the communities."""
    count = max(3, round(math.sqrt(setting.num_nodes) / 4))
    count += count % 2  # even, so that each has a partner
    community = draw_communities(rng, setting.num_nodes, count)
    if setting.mixing != "smooth":
        return community, None
    positions = rng.standard_normal((setting.num_nodes, 2))
    return _cells(positions), positions


def _cells(positions: NDArray[np.float64]) -> Ints:
    """The cell (N,) of every position (N, 2): about forty neighbours in a strip of the plane."""
    size = len(positions)
    count = size // _CELL_SIZE
    across, along = positions.T
    bounds = np.quantile(across, np.linspace(0, 1, math.isqrt(count) + 1)[1:-1])
    order = np.lexsort((along, np.digitize(across, bounds)))
    cells = np.empty(size, dtype=np.int64)
    cells[order] = np.arange(size) * count // size
    return cells


def _proposals(rng: np.random.Generator, setting: Setting, urn: Urn) -> Propose:
    partners = None
    if setting.mixing == "heterophilous":
        partners = np.arange(len(urn.bounds) - 1) ^ 1  # 0 with 1, 2 with 3, …
    return partial(urn.draw_edges, rng, MIXINGS[setting.mixing], partners=partners)


def _plant(
    rng: np.random.Generator,
    setting: Setting,
    features: NDArray[np.float32],
    edges: Ints,
    urn: Urn,
    propose: Propose,
) -> Planted:
    count = setting.num_outliers
    if setting.outliers in HIDDEN:
        return hide(rng, features, edges, count, setting.outliers, urn, propose)
    if setting.outliers == "intense" and setting.feature_kind in BINARY:
        return switch_on(rng, features, edges, count)
    return VISIBLE[setting.outliers](rng, features, edges, count)
