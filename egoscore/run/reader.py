"""Reading a finished run, for `explain` and `report`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from egoscore.errors import RunError, VersionError
from egoscore.graph import AttributedGraph
from egoscore.run.directory import (
    CONFIG_FILE,
    FINDINGS_FILE,
    MODEL_FILE,
    SCORES_FILE,
    read_config,
)
from egoscore.run.files import load_json, lock_directory
from egoscore.run.graph_store import EDGES_FILE, NODES_FILE, load_graph
from egoscore.run.tables import read_schema, read_table

D = TypeVar("D")
_PATIENCE = 10.0  # seconds to wait for a run that is being written
_held: ContextVar[frozenset[Path]] = ContextVar("_held", default=frozenset())  # by this thread
_COLUMNS = {"node", "score", "rank", "flag", "ego_size"}  # without them there is no ranking


@dataclass(frozen=True)
class Run:
    """A finished run. If a file is missing or damaged, the error says how to repair the run.

    Attributes: `findings`, what `detect` found besides the ranking, as parsed JSON.
    """

    path: Path
    findings: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Open a run that `detect` has finished; its files fit together within `reading`."""
        path = Path(path)
        if not (path / FINDINGS_FILE).exists():
            first = _remedy(path) if _is_known(path) else "run `egoscore detect` with --out first"
            raise RunError(f"{path} holds no finished run of egoscore; {first}.")
        with needing(path, FINDINGS_FILE):
            return cls(path, load_json(path / FINDINGS_FILE))

    @cached_property
    def config(self) -> dict[str, Any]:
        """The settings that produced the results."""
        with needing(self.path, CONFIG_FILE):
            return read_config(self.path)

    @cached_property
    def ranking(self) -> pa.Table:
        """Every node with its score, most abnormal first."""
        with needing(self.path, SCORES_FILE):
            table = read_table(self.path / SCORES_FILE)
            if not table.num_rows or not _COLUMNS.issubset(table.column_names):
                raise RunError(f"{self.path / SCORES_FILE} is not the ranking of a run.")
        return table

    @cached_property
    def ranking_schema(self) -> pa.Schema:
        """The columns of the ranking, without reading them."""
        with needing(self.path, SCORES_FILE):
            return read_schema(self.path / SCORES_FILE)

    @cached_property
    def graph(self) -> AttributedGraph:
        """The graph that was scored."""
        with reading(self.path):
            fingerprint = self.config["fingerprint"]
            with needing(self.path, NODES_FILE, EDGES_FILE):
                graph = load_graph(self.path)
                if graph.fingerprint() != fingerprint:
                    raise RunError(f"{self.path} holds the graph of another run.")
        return graph

    def detector(self, load: Callable[[Path], D]) -> D:
        """The fitted detector, given the function that loads one."""
        with reading(self.path), needing(self.path, MODEL_FILE):
            return load(self.path)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Keep `detect` from replacing the results of a run meanwhile, where a lock can be written.

    Blocks may be nested.
    """
    held, path = _held.get(), path.resolve()
    is_run = (path / CONFIG_FILE).exists() and os.access(path, os.W_OK | os.X_OK)
    if path in held or not is_run:
        yield
        return
    with lock_directory(path, _PATIENCE):
        before = _held.set(held | {path})
        try:
            yield
        finally:
            _held.reset(before)


def require_finished(path: Path) -> None:
    """Refuse a directory whose run is not finished; one that holds no run may hold anything."""
    if (path / CONFIG_FILE).exists():
        Run.open(path)


def fingerprint(run: Path) -> str | None:
    """The fingerprint of the graph that a directory holds a run on; None if it holds none."""
    if not _is_known(run):
        return None
    return str(read_config(run)["fingerprint"])


@contextmanager
def needing(run: Path, *names: str) -> Iterator[None]:
    """Turn errors in reading these files of a run into one that says how to repair it.

    Only RunError and OSError mean damage; bugs of the program are not hidden. A file of another
    version is whole, and the same command would refuse it again.
    """
    for name in names:
        if not (run / name).exists():
            raise RunError(f"{run / name} is missing; {_remedy(run)}.")
    try:
        yield
    except VersionError:
        raise
    except (OSError, RunError) as error:
        files = " or ".join(str(run / name) for name in names)
        raise RunError(f"{files} is damaged; {_remedy(run)}.") from error


def _remedy(run: Path) -> str:
    if _is_known(run):
        return "run the same `egoscore detect` command again, which repairs the run"
    return "run `egoscore detect` again with another directory after --out"


def _is_known(run: Path) -> bool:
    """Whether the directory says which run it holds, so that `detect` can continue it."""
    try:
        read_config(run)
    except RunError:
        return False
    return True
