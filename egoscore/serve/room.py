"""Everything about the run under review, in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoscore.detectors import vocabulary_of
from egoscore.detectors.base import Vocabulary
from egoscore.ranking import own_columns
from egoscore.review.store import VerdictStore
from egoscore.run.graph_store import EDGES_FILE, NODES_FILE
from egoscore.run.reader import Run, needing, reading
from egoscore.runtime import release_memory
from egoscore.serve import columns
from egoscore.serve.columns import NUMBER, TEXT, Column, plain_column
from egoscore.serve.desk import Desk
from egoscore.serve.explaining import Explaining
from egoscore.serve.node_table import NodeTable, ranks, sorted_rows

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.graph import AttributedGraph

_LIVE = {
    "name": ("Name", TEXT),
    "updated_rank": ("Rank", NUMBER),
    "updated_score": ("Score after the verdicts", NUMBER),
    "verdict": ("Verdict", TEXT),
}


@dataclass(frozen=True)
class Room:
    """A run under review.

    Attributes: its `title`; the `graph`; the `table` of its nodes; the `desk` with the verdicts;
    `explaining`; `rank`, `score` and `flag` (N,) without verdicts, and the `threshold`; `degrees`
    (N,), the numbers of neighbours; `words` of its detector.
    """

    title: str
    graph: AttributedGraph
    table: NodeTable
    desk: Desk
    explaining: Explaining
    rank: NDArray[np.int64]
    score: NDArray[np.float64]
    flag: NDArray[np.bool_]
    threshold: float
    degrees: NDArray[np.int64]
    words: Vocabulary

    @classmethod
    def open(cls, path: Path) -> Room:
        """Open a finished run."""
        from egoscore.detector import EgoScore

        with reading(path):
            run = Run.open(path)
            detector = run.detector(EgoScore.load)
            with needing(path, NODES_FILE, EDGES_FILE):
                graph = detector.graph_  # that of the run would be a second copy
            further = _own(run, detector.decision_score_.numpy())
        del run
        release_memory()
        title = path.resolve().name
        return cls.of(title, detector, graph, VerdictStore.of_run(path), further)

    @classmethod
    def of(
        cls,
        title: str,
        detector: EgoScore,
        graph: AttributedGraph,
        store: VerdictStore,
        further: list[Column],
    ) -> Room:
        """From the parts of a run."""
        words = vocabulary_of(detector.preset)
        score = detector.decision_score_.numpy()
        rank = ranks(score)
        flag, degrees = score > detector.threshold_, graph.neighbours.degrees
        known = [
            plain_column("rank", "Rank without verdicts", rank),
            plain_column("score", "Score", score),
            plain_column("p_value", "p-value", detector.p_value_.numpy()),
            plain_column("flag", "Flagged", flag),
            plain_column("neighbours", "Neighbours", degrees),
            *columns.attributes(graph),
            *further,
            *columns.components(detector.components_.columns(), dict(words.components)),
        ]
        table = NodeTable(graph.ids, graph.names, known)
        desk = Desk(detector, graph.ids, table, store)
        explaining = Explaining(detector, graph)
        threshold = detector.threshold_
        return cls(
            title, graph, table, desk, explaining, rank, score, flag, threshold, degrees, words
        )

    def warm_up(self) -> None:
        """Prepare in the background what the first requests would wait for."""
        Thread(target=self.table.warm_up, daemon=True).start()
        self.explaining.warm_up()

    @cached_property
    def groups(self) -> dict[str, list[Column]]:
        """The columns by their groups."""
        found: dict[str, list[Column]] = {"attributes": [], "other columns": [], "components": []}
        for column in self.table.columns.values():
            found.setdefault(column.group, []).append(column)
        return found

    @cached_property
    def keys(self) -> frozenset[str]:
        """The columns that a query may name."""
        return frozenset(self.table.columns) | frozenset(_LIVE)

    @cached_property
    def catalogue(self) -> list[dict[str, str]]:
        """The columns for the lists of the page."""
        live = [
            {"key": key, "label": label, "group": "ranking", "kind": kind}
            for key, (label, kind) in _LIVE.items()
        ]
        return live + [column.described() for column in self.table.columns.values()]

    @cached_property
    def sorted_score(self) -> NDArray[np.float64]:
        """All scores, ascending."""
        return np.sort(self.score)

    def histogram(self, bins: int = 60) -> dict[str, Any]:
        """How many nodes have which score, up to and beyond the threshold."""
        low, high = float(self.score.min()), float(self.score.max())
        if np.isfinite(self.threshold):
            low, high = min(low, self.threshold), max(high, self.threshold)
        counts, edges = np.histogram(self.score, bins, (low, high))
        return {"counts": counts.tolist(), "edges": edges.tolist(), "threshold": self.threshold}

    def above(self, threshold: float) -> int:
        """How many nodes have a higher score."""
        found = np.searchsorted(self.sorted_score, threshold, side="right")
        return len(self.score) - int(found)


def _own(run: Run, score: NDArray[np.float64]) -> list[Column]:
    """The user's further columns; without any, the ranking need not be read."""
    if not own_columns(run.ranking_schema):
        return []
    return [*columns.own(run.ranking, sorted_rows(score, descending=True))]
