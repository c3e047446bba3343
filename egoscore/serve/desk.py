"""The reviewer's desk: verdicts are saved at once, and a background thread learns from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from egoscore.errors import EgoScoreError, InputError
from egoscore.notes import Note
from egoscore.review.teacher import suggest
from egoscore.review.verdicts import Verdict
from egoscore.runtime import release_memory
from egoscore.serve.node_table import NodeTable, ranks
from egoscore.serve.query import CODES

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.review.lessons import Contribution
    from egoscore.review.store import VerdictStore

_FIRST = 20  # places of the ranking whose newcomers are told


@dataclass(frozen=True)
class Standing:
    """Everything that verdicts decide, as of one moment; it is replaced, never changed.

    Attributes: `version` of the store that the `verdicts` (by row) are from, and `learned`, that
    of the ranking; `columns` (N,) verdict (as in `CODES`), updated score and updated rank;
    `taught`, the detector, and `notes`, what it learned, both empty until the first time;
    `problem` with learning.
    """

    columns: Mapping[str, NDArray[Any]]
    version: int = -1
    learned: int = -1
    verdicts: Mapping[int, Verdict] = field(default_factory=dict)
    taught: EgoScore | None = None
    notes: tuple[Note, ...] = ()
    problem: str = ""

    @property
    def key(self) -> tuple[int, int]:
        """Another one whenever a column differs."""
        return self.version, self.learned


class Desk:
    """Verdicts on the nodes of one run, by row. Threads may share it."""

    def __init__(
        self, detector: EgoScore, ids: NDArray[Any], table: NodeTable, store: VerdictStore
    ) -> None:
        self.detector, self.ids, self.table, self.store = detector, ids, table, store
        score = detector.decision_score_.numpy()
        columns = {
            "verdict": np.zeros(len(score), dtype=np.int8),
            "updated_score": score,
            "updated_rank": ranks(score),
        }
        self._standing = Standing(columns)
        self._rows: dict[str, int] = {}
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, "learning")
        self._job: Future[None] | None = None

    @property
    def standing(self) -> Standing:
        """The verdicts as they are on disk now, also those of other processes."""
        version = self.store.version()
        with self._lock:
            if version != self._standing.version:
                self._read(version)
                self._job = self._thread.submit(self._learn)
            return self._standing

    @property
    def known(self) -> Standing:
        """The verdicts as of the last look at the disk."""
        return self._standing

    def give(self, rows: Sequence[int], kind: str, note: str, author: str) -> None:
        """Save one verdict on some nodes; when this returns it is on disk."""
        ids = [str(self.table.ids[row]) for row in rows]
        self._rows |= dict(zip(ids, rows, strict=True))
        if not kind:
            for node in ids:
                self.store.forget(node, author)
            return
        self.store.add([Verdict(node, kind, note, author) for node in ids])

    def undo(self) -> list[Verdict]:
        """Take back the last step, whoever made it."""
        undone = self.store.undo()
        if not undone:
            raise InputError("There is no verdict to take back.")
        return undone

    def settle(self, seconds: float) -> Standing:
        """Wait until the ranking has followed the verdicts, but not longer than `seconds`."""
        standing = self.standing
        if standing.learned != standing.version and self._job is not None:
            wait([self._job], timeout=seconds)
        return self.standing

    def rows_of(self, verdicts: Sequence[Verdict]) -> list[int]:
        """The rows of the nodes of verdicts, but for those that the graph does not have."""
        unknown = [one.node for one in verdicts if one.node not in self._rows]
        if unknown:
            self._rows |= self.table.rows_of(unknown)
        return [self._rows[one.node] for one in verdicts if one.node in self._rows]

    def suggestion(self, skip: Sequence[int] = ()) -> int | None:
        """The node to review next: the highest without a verdict."""
        standing = self.standing
        taken = np.array([*standing.verdicts, *skip], dtype=np.int64)
        found = suggest(standing.columns["updated_score"], taken, 1)
        return int(found[0]) if len(found) else None

    def changes(self, row: int) -> list[Contribution]:
        """What the verdicts added to the score of a node, or took from it."""
        taught = self._standing.taught
        if taught is None or not len(taught.taught_.rows):
            return []
        return taught.explain_update(self._id(row))

    def _id(self, row: int) -> Any:
        """The id of a node as the detector knows it."""
        (found,) = self.ids[row : row + 1].tolist()
        return found

    def newcomers(self, before: Standing, after: Standing) -> list[int]:
        """The rows that verdicts brought to the first places, highest first."""
        was, rank = before.columns["updated_rank"], after.columns["updated_rank"]
        rows = np.flatnonzero((rank <= _FIRST) & (was > _FIRST))
        found: list[int] = rows[np.argsort(rank[rows])].tolist()
        return found

    def _read(self, version: int) -> None:
        """Take over the verdicts on disk; the caller holds the lock."""
        current = self.store.current()
        self.rows_of(current)
        known = {self._rows[one.node]: one for one in current if one.node in self._rows}
        verdict = np.zeros(self.table.num_nodes, dtype=np.int8)
        for row, one in known.items():
            verdict[row] = CODES.index(one.kind)
        columns = {**self._standing.columns, "verdict": verdict}
        self._standing = replace(self._standing, columns=columns, version=version, verdicts=known)

    def _learn(self) -> None:
        """Teach the detector until it knows all verdicts."""
        while (version := self.store.version()) != self._standing.learned:
            problem, learned = "", self._standing
            try:
                learned = self._taught()
            except EgoScoreError as error:  # the verdicts themselves are safe
                problem = str(error)
            if self._standing.taught is None:
                release_memory()  # preparing took more than what is kept
            with self._lock:
                columns = {**learned.columns, "verdict": self._standing.columns["verdict"]}
                self._standing = replace(
                    self._standing,
                    columns=columns,
                    learned=version,
                    taught=learned.taught,
                    notes=learned.notes,
                    problem=problem,
                )

    def _taught(self) -> Standing:
        """What the verdicts on disk teach: by id, as looking up text in a large graph is slow."""
        current = self.store.current()
        rows = self.rows_of(current)
        kinds = {self._id(self._rows[c.node]): c.kind for c in current if c.node in self._rows}
        taught = self.detector.teach(kinds)
        notes = taught.lessons_
        if len(rows) < len(current):
            notes.append(Note.warning("verdicts-skipped", count=len(current) - len(rows)))
        updated = taught.updated_score_.numpy()
        columns = {"updated_score": updated, "updated_rank": ranks(updated)}
        return Standing(columns, taught=taught, notes=tuple(notes))
