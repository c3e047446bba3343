"""The reasons of the paper's detector: what the reconstruction changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.detectors.paper.components import LEVEL_COMPONENTS, ComponentTable, binarise
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.explain.deviations import Units, far_off, largest_deviations
from egoscore.explain.explainer import (
    MOST,
    MOST_NODES,
    Explainer,
    components_of,
    describe_peers,
    names_of,
    peers_of,
    shades,
    surprise,
)
from egoscore.explain.explanation import (
    Deviation,
    Level,
    Picture,
    Reasons,
    Tie,
    by_strength,
    causes_of,
)
from egoscore.explain.usual_errors import UsualErrors
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.text import numeral

_NODES_TO_COMPARE = 32
# the component that answers each question
_PARTS = {"features": "feature_error", "structure": "structure_error", "energy": "energy_shift"}
_LEAST_CHANGE = 0.1  # edges; a smaller usual change counts as this
_MOST_LEVELS = 8  # in a picture
_LIKELY = 0.5  # share of the reconstructions that have an edge


@dataclass(frozen=True)
class _Restored:
    """One ego-graph and the mean of its reconstructions: features (n, F), adjacency (n, n).

    Attributes: `levels_x` (K, n, F) and `levels_adj` (K, n, n), the means of each noise level.
    """

    members: NDArray[np.int64]
    x: NDArray[np.float32]
    adj: NDArray[np.float32]
    restored_x: NDArray[np.float32]
    restored_adj: NDArray[np.float32]
    levels_x: NDArray[np.float32]
    levels_adj: NDArray[np.float32]
    directed: bool

    @property
    def num_edges(self) -> tuple[float, float]:
        """Edges between the nodes, in the graph and in its reconstructions on average."""
        twice = 1.0 if self.directed else 2.0
        return float(self.adj.sum()) / twice, float(self.restored_adj.sum()) / twice


@dataclass(frozen=True)
class _Usual:
    """How large the errors of a centre, and the change of the number of edges, usually are."""

    errors: UsualErrors
    change_of_edges: float


class ReconstructionExplainer(Explainer):
    """Reasons for the nodes of a graph whose ego-graphs were reconstructed.

    `graph` has the user's features; those of the ego-graphs are scaled by `scaling`.
    """

    def __init__(
        self,
        reconstruction: Reconstruction,
        graph: AttributedGraph,
        scaling: FeatureScaling,
        table: ComponentTable,
    ) -> None:
        self.reconstruction, self.graph, self.table = reconstruction, graph, table
        self.units = Units.of(graph, scaling)
        self._usual_by_size: dict[int, _Usual] = {}
        self._measured = level_means(table)

    def reasons(self, node: int) -> Reasons:
        (found,) = self._reconstruct(np.array([node]))
        group = peers_of(self.table.ego_size, node)
        size = int(self.table.ego_size[node])
        if size not in self._usual_by_size:
            self._usual_by_size[size] = self._usual(group)
        usual = self._usual_by_size[size]
        rest, sizes = usual.errors.unexplained((found.x - found.restored_x)[0])
        raw = self.graph.features[node]
        ties = self._ties(found)
        asked = answers(self._measured, self.table.ego_size, node)
        return Reasons(
            ego_size=size,
            questions=asked,
            causes=causes_of(asked),
            features=largest_deviations(raw, found.x[0], rest, sizes, self.units, MOST),
            structure=(_edges(found, usual.change_of_edges),),
            unlike=(),
            extremes=(),
            surprising=tuple(t for t in ties if t.present and t.surprise > 0)[:MOST],
            expected=tuple(t for t in reversed(ties) if not t.present or t.surprise <= 0)[:MOST],
            energy_actual=float(self.table.energy[node]),
            energy_expected=float(self._measured["energy_after"][node]),
            components=components_of(self._measured, group, node),
            compared_with=describe_peers(self.table.ego_size, group),
            picture=self._picture(found, int(np.argmax(np.abs(sizes)))),
        )

    def _usual(self, group: NDArray[np.int64]) -> _Usual:
        """What is usual among some of the nodes of a group."""
        some = self._reconstruct(sample(group, _NODES_TO_COMPARE))
        errors = np.array([(one.x - one.restored_x)[0] for one in some])
        changes = [actual - expected for actual, expected in (one.num_edges for one in some)]
        usual = max(float(np.sqrt(np.mean(np.square(changes)))), _LEAST_CHANGE)
        return _Usual(UsualErrors.one_by_one(errors), usual)

    def _reconstruct(self, nodes: NDArray[np.int64]) -> list[_Restored]:
        egos, num_samples = self.reconstruction.egos, self.reconstruction.settings.num_samples
        batch, (members, _) = egos.batch(nodes), egos.members(nodes)
        with torch.inference_mode():
            x, adj = self.reconstruction.restore(batch, range(num_samples))
            adj = binarise(adj)
            restored = [part.mean(dim=(0, 1)) for part in (x, adj)]
            by_node = [part.mean(dim=1).transpose(0, 1) for part in (x, adj)]
        arrays = [part.cpu().numpy() for part in (batch.x, batch.adj, *restored, *by_node)]
        found = []
        for place, size in enumerate(batch.sizes):
            x_, adj_, restored_x, restored_adj, *levels = (part[place] for part in arrays)
            real = slice(int(size))
            around = members[place, real].astype(np.int64)
            pairs = adj_[real, real], restored_x[real], restored_adj[real, real]
            by_level = levels[0][:, real], levels[1][:, real, real]
            found.append(_Restored(around, x_[real], *pairs, *by_level, self.graph.directed))
        return found

    def _ties(self, found: _Restored) -> list[Tie]:
        """The centre's edges, most surprising first: the share of reconstructions without them."""
        there = np.maximum(found.adj[0], found.adj[:, 0]) > 0
        share = np.maximum(found.restored_adj[0], found.restored_adj[:, 0])
        surprise = np.where(there, _LIKELY - share, share - _LIKELY)
        ties = [
            Tie(
                str(self.graph.ids[other]),
                round(float(surprise[j]), 3),
                bool(there[j]),
                self.graph.name_of(other),
            )
            for j, other in enumerate(found.members)
            if j and (there[j] or surprise[j] > 0)
        ]
        return sorted(ties, key=lambda tie: -tie.surprise)

    def _picture(self, found: _Restored, shown: int) -> Picture:
        count = min(len(found.members), MOST_NODES)
        nodes = found.members[:count].tolist()
        return Picture(
            names_of(self.graph, nodes),
            _pairs(found.adj[:count, :count]),
            _pairs(found.restored_adj[:count, :count]),
            self.graph.described[shown].title,
            *shades(found.x[:count, shown], found.restored_x[:count, shown]),
            len(found.members) - count,
            tuple(nodes),
            self._levels(found, count, shown),
        )

    def _levels(self, found: _Restored, count: int, shown: int) -> tuple[Level, ...]:
        """What each noise level expects of the first `count` nodes, at most `_MOST_LEVELS`."""
        actual, expected = found.x[:count, shown], found.restored_x[:count, shown]
        low = min(float(actual.min()), float(expected.min()))
        spread = max(float(actual.max()), float(expected.max())) - low or 1.0
        shade = np.clip((found.levels_x[:, :count, shown].astype(np.float64) - low) / spread, 0, 1)
        return tuple(
            Level(
                tau=round(float(self.reconstruction.taus[k]), 4),
                expected=_pairs(found.levels_adj[k, :count, :count]),
                shade=tuple(np.round(shade[k], 3).tolist()),
            )
            for k in sample(np.arange(len(shade)), _MOST_LEVELS).tolist()
        )

    def phrase(self, cause: str, reasons: Reasons) -> str:
        return PHRASES[cause](reasons)

    def in_short(self, cause: str, reasons: Reasons) -> str:
        return IN_SHORT[cause](reasons)


def level_means(table: ComponentTable) -> dict[str, NDArray[np.float32]]:
    """Every component (N,), averaged over the noise levels."""
    means = table.values.mean(axis=1)
    return {name: means[:, c] for c, name in enumerate(LEVEL_COMPONENTS)}


def answers(
    means: Mapping[str, NDArray[np.float32]], ego_size: NDArray[np.int64], node: int
) -> dict[str, float]:
    """Minus the logarithm of how rare each error is among nodes of similar size, largest first."""
    group = peers_of(ego_size, node)
    measured = {question: means[part] for question, part in _PARTS.items()}
    return by_strength({q: surprise(v[group], float(v[node])) for q, v in measured.items()})


def sample(group: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most `most` of a group, evenly spread."""
    return group[np.unique(np.linspace(0, len(group) - 1, most).astype(np.int64))]


def _edges(found: _Restored, usual: float) -> Deviation:
    actual, expected = found.num_edges
    size = round((actual - expected) / usual, 2)
    shown = numeral(actual, 3), numeral(expected, 3)
    values = round(actual, 3), round(expected, 3)
    return Deviation("edges in the ego-graph", *shown, size, "structure", "", *values)


def _pairs(adj: NDArray[np.float32]) -> tuple[tuple[int, int], ...]:
    either = np.triu(np.maximum(adj, adj.T) > _LIKELY, k=1)
    return tuple((int(a), int(b)) for a, b in zip(*np.nonzero(either), strict=True))


def _about_features(reasons: Reasons) -> str:
    far = far_off(reasons.features)
    if not far:
        return "the features of other nodes in its ego-graph changed, its own no more than usual"
    return (
        f"its {far[0].name} changed from {far[0].observed} to {far[0].expected} in the "
        "reconstruction"
    )


def _features_in_short(reasons: Reasons) -> str:
    far = far_off(reasons.features)
    return f"{far[0].name if far else 'other nodes in its ego-graph'} changed"


def _about_structure(reasons: Reasons) -> str:
    edges = reasons.structure[0]
    if not far_off([edges]):
        return "the edges in its ego-graph changed, although not their number"
    return (
        f"the number of edges in its ego-graph changed from {edges.observed} to {edges.expected} "
        "in the reconstruction"
    )


def _structure_in_short(reasons: Reasons) -> str:
    edges = reasons.structure[0]
    if not far_off([edges]):
        return "its edges changed"
    return f"{'fewer' if edges.size > 0 else 'more'} edges in the reconstruction"


def _about_energy(reasons: Reasons) -> str:
    actual, expected = _energies(reasons)
    if actual == expected:
        return "the Dirichlet energy of its ego-graph changed, although not on average"
    return f"the Dirichlet energy of its ego-graph changed from {actual} to {expected}"


def _energy_in_short(reasons: Reasons) -> str:
    actual, expected = _energies(reasons)
    if actual == expected:
        return "differences between neighbours changed"
    way = "decreased" if reasons.energy_expected < reasons.energy_actual else "increased"
    return f"differences between neighbours {way}"


def _energies(reasons: Reasons) -> tuple[str, str]:
    """In the graph and in its reconstructions on average, as text."""
    return numeral(reasons.energy_actual, 3), numeral(reasons.energy_expected, 3)


PHRASES = {"features": _about_features, "structure": _about_structure, "energy": _about_energy}
IN_SHORT = {
    "features": _features_in_short,
    "structure": _structure_in_short,
    "energy": _energy_in_short,
}
