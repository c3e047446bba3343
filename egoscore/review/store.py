"""Verdicts in a SQLite file next to a run: what was saved survives a kill or a power cut.

The file is a log: a new verdict on a node replaces the earlier one, `undo` takes back the last
entry. Several processes may use it at once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from egoscore.errors import RunError
from egoscore.review.verdicts import KINDS, Verdict

VERDICTS_FILE = "verdicts.sqlite"
_PATIENCE = 30.0  # seconds to wait for other processes
_PAUSE = 0.01
_LONGEST = {"node": 10_000, "note": 10_000, "author": 200}  # characters
_CREATE = """
CREATE TABLE IF NOT EXISTS log (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    step INTEGER NOT NULL,
    node TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('abnormal', 'normal', 'unsure', '')),
    note TEXT NOT NULL,
    author TEXT NOT NULL,
    time TEXT NOT NULL
)
"""
_CURRENT = """
SELECT node, kind, note, author, time FROM log
WHERE number IN (SELECT MAX(number) FROM log GROUP BY node) AND kind <> '' ORDER BY number
"""
_ADD = "INSERT INTO log (step, node, kind, note, author, time) VALUES (?, ?, ?, ?, ?, ?)"


class VerdictStore:
    """The verdicts of one run. Every call opens the file anew, so threads may share a store."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def of_run(cls, run: str | Path) -> VerdictStore:
        """The verdicts kept in a run directory."""
        return cls(Path(run) / VERDICTS_FILE)

    def add(self, verdicts: Iterable[Verdict]) -> int:
        """Save verdicts as one step, all or none; returns how many. A missing time is now.

        When this returns they are on disk.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        given = [one if one.time else replace(one, time=now) for one in verdicts]
        for one in given:
            _require_valid(one)
        if given:
            with self._writing() as file:
                self._append(file, given)
        return len(given)

    def forget(self, node: str, author: str = "") -> None:
        """Take back the verdict on a node, as a step of its own that can be undone."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._writing() as file:
            self._append(file, [Verdict(node, "", author=author, time=now)])

    def undo(self) -> list[Verdict]:
        """Take back the last step; returns what it had added, nothing if there is no step."""
        with self._writing() as file:
            last = file.execute("SELECT MAX(step) FROM log").fetchone()[0]
            rows = file.execute(
                "SELECT node, kind, note, author, time FROM log WHERE step = ? ORDER BY number",
                (last,),
            ).fetchall()
            file.execute("DELETE FROM log WHERE step = ?", (last,))
        return [Verdict(*row) for row in rows]

    def current(self) -> list[Verdict]:
        """The last verdict on every node, in the order in which they were given."""
        return self._read(_CURRENT)

    def history(self) -> list[Verdict]:
        """Everything that was said and not undone; of kind "" where a verdict was taken back."""
        return self._read("SELECT node, kind, note, author, time FROM log ORDER BY number")

    def version(self) -> int:
        """A number that changes with every verdict and every undo."""
        if not self.path.exists():
            return 0
        with self._open() as file:
            # AUTOINCREMENT never reuses a number, and a deletion lowers the count
            found = file.execute(
                "SELECT COALESCE((SELECT seq FROM sqlite_sequence), 0) * 2 - COUNT(*) FROM log"
            )
            return int(found.fetchone()[0])

    def _read(self, query: str) -> list[Verdict]:
        if not self.path.exists():
            return []
        with self._open() as file:
            return [Verdict(*row) for row in file.execute(query)]

    @staticmethod
    def _append(file: sqlite3.Connection, verdicts: Iterable[Verdict]) -> None:
        step = file.execute("SELECT COALESCE(MAX(step), 0) + 1 FROM log").fetchone()[0]
        rows = [(step, one.node, one.kind, one.note, one.author, one.time) for one in verdicts]
        file.executemany(_ADD, rows)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; other processes wait."""
        with self._open() as file:
            file.execute("BEGIN IMMEDIATE")
            try:
                yield file
            except BaseException:
                file.execute("ROLLBACK")
                raise
            file.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if self.path.is_symlink():
            raise RunError(f"{self.path} is a symbolic link; verdicts are kept in a file only.")
        try:
            with closing(
                sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            ) as file:
                _prepare(file)
                yield file
        except sqlite3.Error as error:
            raise RunError(
                f"Cannot use {self.path}: {error}; move the file away to start with no verdicts."
            ) from error


def _prepare(file: sqlite3.Connection) -> None:
    """Set up a connection; while others set up or close the file SQLite does not wait by itself."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = FULL")  # every commit is on disk
            file.execute(_CREATE)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(_PAUSE)


def _require_valid(verdict: Verdict) -> None:
    """Refuse what is no verdict, or too long to be one."""
    if verdict.kind not in KINDS:
        raise RunError(f"A verdict must be one of {', '.join(KINDS)} (found {verdict.kind!r}).")
    for name, limit in _LONGEST.items():
        length = len(getattr(verdict, name))
        if length > limit:
            raise RunError(
                f"The {name} of a verdict may have {limit:,} characters (found {length:,})."
            )
