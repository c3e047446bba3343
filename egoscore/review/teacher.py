"""From verdicts on a graph to updated scores of this graph and of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from egoscore.detectors.inputs import InputBlock
from egoscore.explain.node_lookup import rows_of
from egoscore.graph import AttributedGraph
from egoscore.review.learning import Posterior, learn
from egoscore.review.scaling import Inputs, InputScale
from egoscore.review.verdicts import ABNORMAL, UNSURE

Floats = NDArray[np.float64]
_CANDIDATES = 2000  # highest nodes that may be suggested


@dataclass(frozen=True)
class Taught:
    """What was learned from verdicts on the training graph.

    Attributes: `scale` of the inputs; `mean` and `spread` of the unsupervised scores; `rows` (n,)
    of the reviewed nodes, ascending, and their `ids` and `kinds`; `posterior` of the model, from
    those of them that are not unsure; `updated` (N,) scores.
    """

    scale: InputScale
    mean: float
    spread: float
    rows: NDArray[np.int64]
    ids: tuple[Any, ...]
    kinds: tuple[str, ...]
    posterior: Posterior
    updated: Floats

    @property
    def verdicts(self) -> dict[Any, str]:
        """The verdicts by the ids of the nodes."""
        return dict(zip(self.ids, self.kinds, strict=True))

    @property
    def learned(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The rows (m,) that were learned from, and whether each is abnormal."""
        kinds = np.array(self.kinds, dtype="U8")
        return self.rows[kinds != UNSURE], (kinds == ABNORMAL)[kinds != UNSURE]

    @property
    def unit(self) -> float:
        """What one unit of log-odds is in units of the score."""
        return self.spread / self.posterior.prior.slope

    def update(self, score: Floats, inputs: Inputs) -> Floats:
        """The updated scores (N,) of a graph, on the scale of its unsupervised scores."""
        if not self.posterior.weights.any():
            return score.copy()
        return score + self.unit * inputs.dot(self.posterior.weights)

    def probability(self, updated: Floats) -> Floats:
        """The probability (N,) that a node is abnormal, as far as the model is right.

        Reviewers look at the highest nodes, so it is a guide and not calibrated.
        """
        known = self.posterior.prior.log_odds + self.posterior.intercept
        found: Floats = expit((updated - self.mean) / self.unit + known)
        return found


@dataclass(frozen=True)
class Teacher:
    """Everything that verdicts on the training graph are learned from; made once and kept.

    Attributes: the `graph`; `score` (N,) without verdicts; the `inputs` of the model.
    """

    graph: AttributedGraph
    score: Floats
    inputs: Inputs

    @classmethod
    def of(cls, graph: AttributedGraph, score: Floats, blocks: Sequence[InputBlock]) -> Teacher:
        """From what the detector gives about its training graph."""
        return cls(graph, score, InputScale.fit(blocks, graph))

    @cached_property
    def row_of(self) -> dict[Any, int]:
        """The row of every id."""
        ids = self.graph.ids.tolist()
        return dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))

    @cached_property
    def _standard(self) -> tuple[float, float]:
        spread = float(self.score.std())
        return float(self.score.mean()), spread or 1.0

    @cached_property
    def _row_of_text(self) -> dict[str, int]:
        """The row of every id as text, and of every name that only one node has."""
        ids = [str(one) for one in self.graph.ids.tolist()]
        names = [] if self.graph.names is None else [str(one) for one in self.graph.names.tolist()]
        counts = Counter(names)
        own = {name: row for row, name in enumerate(names) if counts[name] == 1}
        return own | dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))

    def rows(self, nodes: Sequence[Any], skip_unknown: bool = False) -> dict[Any, int]:
        """The rows of nodes given by id or name; the unknown are refused, or left out."""
        found = {node: row for node in nodes if (row := self._row(node)) is not None}
        others = [node for node in nodes if node not in found]
        if others and skip_unknown:
            rows = {node: self._row_of_text.get(str(node)) for node in others}
            found |= {node: row for node, row in rows.items() if row is not None}
        elif others:
            found |= zip(others, rows_of(self.graph, others), strict=True)
        return {node: found[node] for node in nodes if node in found}

    def _row(self, node: Any) -> int | None:
        """The row of the id that equals `node` and is of its type: 1 is not "1" and not True."""
        row = self.row_of.get(node)
        known = None if row is None else self.graph.ids[row]
        return row if type(getattr(known, "item", lambda: known)()) is type(node) else None

    def learn(self, kinds: Mapping[int, str]) -> Taught:
        """The posterior given verdicts by row; their order does not matter."""
        rows = np.array(sorted(kinds), dtype=np.int64)
        known = rows[[kinds[row] != UNSURE for row in rows.tolist()]] if len(rows) else rows
        mean, spread = self._standard
        is_abnormal = np.array([kinds[row] == ABNORMAL for row in known.tolist()], dtype=bool)
        standardised = (self.score[known] - mean) / spread
        posterior = learn(self.inputs.rows(known), standardised, is_abnormal)
        ids = tuple(self.graph.ids[rows].tolist())
        named = tuple(kinds[row] for row in rows.tolist())
        draft = Taught(self.inputs.scale, mean, spread, rows, ids, named, posterior, self.score)
        return Taught(**(vars(draft) | {"updated": draft.update(self.score, self.inputs)}))


def suggest(updated: Floats, reviewed: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The rows of the `count` highest nodes that have not been reviewed, highest first."""
    left = np.ones(len(updated), dtype=bool)
    left[reviewed] = False
    rows = np.flatnonzero(left)
    if 0 < count < len(rows):  # all that reach the last place, so that ties go to the earlier row
        least = np.partition(updated[rows], len(rows) - count)[len(rows) - count]
        rows = rows[updated[rows] >= least]
    return rows[np.argsort(-updated[rows], kind="stable")[:count]]


def explore(
    taught: Taught, inputs: Inputs, reviewed: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """The same after verdicts, by the updated score plus one posterior standard deviation.

    So nodes unlike all that were reviewed get their turn. Only the highest nodes are compared.
    """
    highest = suggest(taught.updated, reviewed, max(_CANDIDATES, count))
    uncertain = taught.unit * taught.posterior.deviation(inputs.rows(highest))
    order = np.argsort(-(taught.updated[highest] + uncertain), kind="stable")
    return highest[order][:count]
