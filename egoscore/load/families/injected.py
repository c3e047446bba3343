"""Generated networks into which outliers are injected, as in the field's benchmarks.

A second family to choose a detector's settings on, beside `varied`, where the following is rare:
outliers in cliques larger than a usual neighbourhood, and outliers that are up to a fifth of all
nodes. Sizes, densities and shares follow BOND's table (Liu et al., 2022, "BOND: Benchmarking
unsupervised outlier node detection on static attributed graphs"); every node is made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import ParameterError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.load.families import INJECTED_NAMES
from egoscore.load.families.features import draw_features
from egoscore.load.families.outliers import inject_into
from egoscore.load.generate import draw_weights
from egoscore.load.generate_edges import Ints, Pairs, Urn, draw_edges
from egoscore.load.generate_outliers import Features

_EVEN = 6.0  # exponent of the power law of degrees: nearly none


@dataclass(frozen=True)
class Kind:
    """What an injected network is like.

    Attributes: `num_nodes`, `mean_degree`, `num_features` its size; `feature_kind` "clusters", or
    a name in `FEATURE_KINDS`; `num_classes`, and the share of `edges_within` one; `exponent` of the
    power law of degrees and share `closure` of edges between two neighbours of a node;
    `num_contextual` outliers with another node's features, and `cliques` of `clique_size` outliers.
    """

    num_nodes: int
    mean_degree: float
    num_features: int
    feature_kind: str
    num_classes: int
    edges_within: float
    num_contextual: int
    cliques: int
    clique_size: int
    exponent: float = _EVEN
    closure: float = 0.0


KINDS = (
    Kind(100, 5.0, 64, "clusters", 5, 0.6, 9, 1, 9),
    Kind(500, 5.0, 64, "clusters", 5, 0.5, 5, 1, 5),
    Kind(1000, 5.0, 64, "clusters", 5, 0.5, 10, 1, 10),
    Kind(5000, 5.0, 64, "clusters", 5, 0.5, 50, 5, 10),
    Kind(1000, 4.5, 64, "clusters", 5, 0.6, 95, 10, 10),
    Kind(1000, 4.5, 64, "clusters", 5, 0.6, 95, 5, 19),
    Kind(2708, 3.9, 1433, "words", 7, 0.8, 70, 7, 10, exponent=2.6, closure=0.3),
    Kind(4000, 36.0, 767, "words", 10, 0.8, 100, 10, 10, exponent=2.6, closure=0.3),
    Kind(5000, 20.0, 500, "words", 7, 0.4, 120, 12, 10, exponent=2.6),
    Kind(3000, 10.0, 24, "heavy", 8, 0.7, 75, 15, 5, exponent=2.6, closure=0.3),
)
NUM_INJECTED = len(INJECTED_NAMES)
CHOOSING = range(len(KINDS))
CONFIRMING = range(len(KINDS), NUM_INJECTED)


def injected_network(number: int, seed: int = 0) -> AttributedGraph:
    """Network `number`, 0 … 19, drawn with `seed`: every kind twice, to choose on and to confirm.

    `node_info` holds every node's "community" and "kind": "normal", "structural", "contextual".
    """
    if number not in range(NUM_INJECTED):
        rule = f"a whole number from 0 to {NUM_INJECTED - 1}"
        raise ParameterError("number", rule, number, of="an injected network")
    if seed < 0:
        raise ParameterError("seed", "at least 0", seed, of="an injected network")
    kind = KINDS[number % len(KINDS)]
    rng = np.random.default_rng([11, number, seed])
    community = np.arange(kind.num_nodes) * kind.num_classes // kind.num_nodes
    edges = _draw_edges(rng, kind, community)
    features = _draw_features(rng, kind, community)
    nodes = rng.permutation(kind.num_nodes)
    in_cliques = nodes[: kind.cliques * kind.clique_size].reshape(kind.cliques, kind.clique_size)
    alone = nodes[in_cliques.size :][: kind.num_contextual]
    planted = inject_into(rng, features, edges, in_cliques, alone)
    return AttributedGraph.from_edges(
        planted.edges,
        planted.features,
        labels=planted.kinds != "normal",
        node_info={"community": community, "kind": planted.kinds},
    )


def _draw_edges(rng: np.random.Generator, kind: Kind, community: Ints) -> Ints:
    count = int(kind.num_nodes * kind.mean_degree / 2)
    weights = draw_weights(rng, kind.num_nodes, count, kind.exponent)
    propose = partial(Urn.fill(community, weights).draw_edges, rng, kind.edges_within)
    pairs = Pairs(kind.num_nodes, directed=False)
    return draw_edges(rng, pairs, count, kind.closure, propose)


def _draw_features(rng: np.random.Generator, kind: Kind, community: Ints) -> Features:
    if kind.feature_kind != "clusters":
        return draw_features(rng, kind.feature_kind, kind.num_features, community)
    return _draw_clusters(rng, kind.num_features, community)


def _draw_clusters(rng: np.random.Generator, width: int, community: Ints) -> Features:
    """Two clusters for every class, each with a random place and a random covariance.

    As scikit-learn's `make_classification` does after Guyon, "Design of experiments for the NIPS
    2003 variable selection benchmark", with all features informative.
    """
    cluster = 2 * community + rng.integers(0, 2, len(community))
    features: NDArray[np.float64] = rng.standard_normal((len(community), width))
    for number in np.unique(cluster):
        mine = cluster == number
        mixing = rng.uniform(-1.0, 1.0, (width, width))
        corner = rng.choice((-1.0, 1.0), width)
        features[mine] = features[mine] @ mixing + corner
    return features.astype(np.float32)
