"""Reviewing one run: its verdicts, the detector they teach, and what to look at next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from egoscore.graph import AttributedGraph
from egoscore.notes import Note
from egoscore.review.store import VerdictStore
from egoscore.review.teachable import Teachable
from egoscore.review.verdicts import Verdict

D = TypeVar("D", bound=Teachable)


class ReviewSession(Generic[D]):
    """A run under review. Verdicts of other processes are seen with the next `taught`.

    Attributes: the fitted `detector` and the `graph` of the run; the `store` of its verdicts;
    `num_skipped`, how many of its verdicts are on nodes that the graph does not have.
    """

    def __init__(self, detector: D, graph: AttributedGraph, store: VerdictStore) -> None:
        self.detector = detector
        self.graph = graph
        self.store = store
        self.num_skipped = 0
        self._taught = detector
        self._version = -1

    def say(self, kinds: Mapping[str, str], note: str = "", author: str = "") -> None:
        """Save verdicts by id or name, all or none; a node the graph does not have is refused."""
        ids = self._ids([*kinds])
        given = [Verdict(ids[node], kind, note, author) for node, kind in kinds.items()]
        self.store.add(given)

    def take(self, verdicts: Sequence[Verdict]) -> int:
        """Save verdicts read elsewhere, under the ids of the graph; returns how many it lacks."""
        ids = self._ids([one.node for one in verdicts], skip_unknown=True)
        kept = [one for one in verdicts if one.node in ids]
        self.store.add(
            Verdict(ids[one.node], one.kind, one.note, one.author, one.time) for one in kept
        )
        return len(verdicts) - len(kept)

    def _ids(self, nodes: Sequence[str], skip_unknown: bool = False) -> dict[str, str]:
        """The ids, as text, of nodes given by id or name."""
        rows = self.detector.rows_of(nodes, skip_unknown)
        return {node: str(self.graph.ids[row]) for node, row in rows.items()}

    @property
    def taught(self) -> D:
        """The detector as all verdicts so far teach it."""
        version = self.store.version()
        if version != self._version:
            kinds = {one.node: one.kind for one in self.store.current()}
            self._taught = self.detector.teach(kinds, skip_unknown=True)
            self.num_skipped = len(kinds) - len(self._taught.verdicts_)
            self._version = version
        return self._taught

    @property
    def notes(self) -> list[Note]:
        """What the verdicts say, how far they can be relied on, and how many were skipped."""
        found = self.taught.lessons_
        if self.num_skipped:
            found.append(Note.warning("verdicts-skipped", count=self.num_skipped))
        return found
