"""The reasons of the paper's recipe: what came back different."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from egoscore.compare import binarise
from egoscore.explain.among import alike, surprise, told
from egoscore.explain.causes import RETURNED, by_strength, causes_of
from egoscore.explain.explanation import Deviation, Picture, Reasons, Tie
from egoscore.explain.features import Units, UsualErrors, deviating
from egoscore.explain.picture import MOST_NODES, names_of, shades
from egoscore.explain.reasons import MOST, Reasoner, compared
from egoscore.explain.reconstructing_words import IN_SHORT, PHRASES
from egoscore.graph import AttributedGraph, FeatureScaling
from egoscore.numerals import numeral
from egoscore.score import ComponentTable, Reconstruction
from egoscore.score.table import LEVEL_COMPONENTS

_NODES_TO_COMPARE = 32
_LEAST_CHANGE = 0.1  # edges: what is less is as good as none
_LIKELY = 0.5  # of the reconstructions have the edge


@dataclass(frozen=True)
class _Return:
    """One ego-graph and the mean of its reconstructions: features (n, F), adjacency (n, n)."""

    members: NDArray[np.int64]
    x: NDArray[np.float32]
    adj: NDArray[np.float32]
    restored_x: NDArray[np.float32]
    restored_adj: NDArray[np.float32]
    directed: bool

    @property
    def num_edges(self) -> tuple[float, float]:
        """Edges between the nodes, before and after."""
        twice = 1.0 if self.directed else 2.0
        return float(self.adj.sum()) / twice, float(self.restored_adj.sum()) / twice


@dataclass(frozen=True)
class _Usual:
    """How large the errors of a centre, and the change of the number of edges, usually are."""

    errors: UsualErrors
    change_of_edges: float


class ReconstructionReasons(Reasoner):
    """Reasons for the nodes of a network whose ego-graphs were reconstructed.

    `graph` has the user's features; those of the ego-graphs in `way` are scaled by `scaling`.
    """

    def __init__(
        self,
        way: Reconstruction,
        graph: AttributedGraph,
        scaling: FeatureScaling,
        table: ComponentTable,
    ) -> None:
        self.way, self.graph, self.table = way, graph, table
        self.units = Units.of(graph, scaling)
        self._usual_by_size: dict[int, _Usual] = {}
        means = table.values.mean(axis=1)
        self._measured = {name: means[:, c] for c, name in enumerate(LEVEL_COMPONENTS)}

    def of(self, node: int) -> Reasons:
        (found,) = self._there_and_back(np.array([node]))
        group = alike(self.table.ego_size, node)
        size = int(self.table.ego_size[node])
        if size not in self._usual_by_size:
            self._usual_by_size[size] = self._usual(group)
        usual = self._usual_by_size[size]
        rest, sizes = usual.errors.left((found.x - found.restored_x)[0])
        raw = self.graph.features[node]
        ties = self._ties(found)
        answers = self._answers(node, group)
        return Reasons(
            ego_size=size,
            questions=answers,
            causes=causes_of(answers),
            features=deviating(raw, found.x[0], rest, sizes, self.units, MOST),
            structure=(_edges(found, usual.change_of_edges),),
            unlike=(),
            surprising=tuple(t for t in ties if t.present and t.surprise > 0)[:MOST],
            expected=tuple(t for t in reversed(ties) if not t.present or t.surprise <= 0)[:MOST],
            energy_before=float(self.table.energy[node]),
            energy_after=float(self._measured["energy_after"][node]),
            components=compared(self._measured, group, node),
            compared_with=told(self.table.ego_size, group),
            picture=self._picture(found, int(np.argmax(np.abs(sizes)))),
        )

    def _answers(self, node: int, group: NDArray[np.int64]) -> dict[str, float]:
        """Minus the logarithm of how rare each error is among nodes like it, largest first."""
        measured = {question: self._measured[part] for question, part in RETURNED.items()}
        return by_strength(
            {
                name: surprise(values[group], float(values[node]))
                for name, values in measured.items()
            }
        )

    def _usual(self, group: NDArray[np.int64]) -> _Usual:
        """What is usual among some of the nodes of a group."""
        some = self._there_and_back(sample(group, _NODES_TO_COMPARE))
        errors = np.array([(one.x - one.restored_x)[0] for one in some])
        changes = [before - after for before, after in (one.num_edges for one in some)]
        usual = max(float(np.sqrt(np.mean(np.square(changes)))), _LEAST_CHANGE)
        return _Usual(UsualErrors.one_by_one(errors), usual)

    def _there_and_back(self, nodes: NDArray[np.int64]) -> list[_Return]:
        batch = self.way.egos.batch(nodes)
        members, _ = self.way.egos.members(nodes)
        with torch.inference_mode():
            x, adj = self.way.restore(batch, range(self.way.config.num_samples))
            restored = x.mean(dim=(0, 1)), binarise(adj).mean(dim=(0, 1))
        arrays = [part.cpu().numpy() for part in (batch.x, batch.adj, *restored)]
        found = []
        for place, size in enumerate(batch.sizes):
            x_, adj_, restored_x, restored_adj = (part[place] for part in arrays)
            real = slice(int(size))
            around = members[place, real].astype(np.int64)
            pairs = adj_[real, real], restored_x[real], restored_adj[real, real]
            found.append(_Return(around, x_[real], *pairs, self.graph.directed))
        return found

    def _ties(self, found: _Return) -> list[Tie]:
        """The centre's edges, the most surprising first: the share of returns without them."""
        there = np.maximum(found.adj[0], found.adj[:, 0]) > 0
        share = np.maximum(found.restored_adj[0], found.restored_adj[:, 0])
        surprise = np.where(there, _LIKELY - share, share - _LIKELY)
        ties = [
            Tie(str(self.graph.ids[other]), round(float(surprise[j]), 3), bool(there[j]))
            for j, other in enumerate(found.members)
            if j and (there[j] or surprise[j] > 0)
        ]
        return sorted(ties, key=lambda tie: -tie.surprise)

    def _picture(self, found: _Return, shown: int) -> Picture:
        count = min(len(found.members), MOST_NODES)
        nodes = found.members[:count].tolist()
        return Picture(
            names_of(self.graph, nodes),
            _pairs(found.adj[:count, :count]),
            _pairs(found.restored_adj[:count, :count]),
            self.graph.described[shown].title,
            *shades(found.x[:count, shown], found.restored_x[:count, shown]),
            len(found.members) - count,
        )

    def phrase(self, cause: str, reasons: Reasons) -> str:
        return PHRASES[cause](reasons)

    def in_short(self, cause: str, reasons: Reasons) -> str:
        return IN_SHORT[cause](reasons)


def sample(group: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most `most` of a group, evenly spread."""
    return group[np.unique(np.linspace(0, len(group) - 1, most).astype(np.int64))]


def _edges(found: _Return, usual: float) -> Deviation:
    before, after = found.num_edges
    size = round((before - after) / usual, 2)
    shown = numeral(before, 3), numeral(after, 3)
    values = round(before, 3), round(after, 3)
    return Deviation("edges in the ego-graph", *shown, size, "structure", "", *values)


def _pairs(adj: NDArray[np.float32]) -> tuple[tuple[int, int], ...]:
    either = np.triu(np.maximum(adj, adj.T) > _LIKELY, k=1)
    return tuple((int(a), int(b)) for a, b in zip(*np.nonzero(either), strict=True))
