"""A benchmark on disk: what was compared, and one line per trial."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from egoscore.bench.reference import CHANCE, Chance
from egoscore.bench.trial import OK, Record
from egoscore.errors import InputError, RunError
from egoscore.graph import AttributedGraph
from egoscore.run.files import is_ours, write_text

_PACKAGES = ("egoscore", "numpy", "pygod", "scikit-learn", "scipy", "torch", "torch_geometric")
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Facts:
    """What tables show about a graph."""

    nodes: int
    edges: int
    features: int
    outliers: int
    fingerprint: str
    unlabelled: int = 0

    @classmethod
    def of(cls, graph: AttributedGraph, name: str) -> Facts:
        """The facts of a graph with known outliers; an error if it has none."""
        labels = np.full(graph.num_nodes, -1) if graph.labels is None else graph.labels
        outliers, unlabelled = (int(np.count_nonzero(labels == label)) for label in (1, -1))
        if outliers in (0, graph.num_nodes - unlabelled):
            raise InputError(
                f"{name} has no known outliers to compare a ranking with; a benchmark needs labels "
                "of both kinds."
            )
        sizes = graph.num_nodes, graph.num_edges, graph.num_features
        return cls(*sizes, outliers, graph.fingerprint(), unlabelled)

    @property
    def nodes_in_words(self) -> str:
        """How many nodes there are, and of how many the label is known unless it is of all."""
        known = self.nodes - self.unlabelled
        return f"{known:,} known of {self.nodes:,}" if self.unlabelled else f"{self.nodes:,}"

    def by_chance(self, metric: str) -> Chance:
        """The result of a random score."""
        return CHANCE[metric](self.nodes - self.unlabelled, self.outliers)


class Results:
    """The files of one benchmark, bench.json and results.jsonl, and their contents."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path / "results.jsonl"
        self.facts: dict[str, Facts] = {}
        self.records: dict[Key, Record] = {}
        self.versions: list[dict[str, str]] = []  # of packages, whenever they changed

    @classmethod
    def open(cls, path: Path) -> Results:
        """Open the benchmark in a directory, or create one."""
        if path.exists() and not path.is_dir():
            raise RunError(f"{path} is a file; a benchmark needs a directory of its own.")
        found = cls(path)
        known = path / "bench.json"
        files = path.iterdir() if path.exists() else iter(())
        if not known.exists() and not all(map(is_ours, files)):
            raise RunError(f"{path} is not empty and holds no benchmark; choose another directory.")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"Cannot use {path}: {error.strerror}.") from error
        if known.exists():
            found._read(known)
        return found

    def _read(self, known: Path) -> None:
        try:
            config = json.loads(known.read_text(encoding="utf-8"))
            self.facts = {name: Facts(**facts) for name, facts in config["datasets"].items()}
            self.versions = [dict(versions) for versions in config["versions"]]
        except (AttributeError, OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{known} cannot be read as a benchmark ({error}).") from error
        if not self.lines.exists():
            return
        for number, line in enumerate(self._complete_lines().splitlines(), start=1):
            try:
                self._keep(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise RunError(f"Line {number} of {self.lines} is not a result.") from error

    def _complete_lines(self) -> bytes:
        """The lines of the file without the last one if the process was killed while writing it."""
        text = self.lines.read_bytes()
        return text[: text.rfind(b"\n") + 1]

    def _keep(self, record: Record) -> None:
        self.records[record["dataset"], record["method"], record["trial"]] = record

    def register(self, facts: Mapping[str, Facts], limits: Mapping[str, float]) -> None:
        """Write down graphs and limits; a graph that has changed since its first trial is refused.

        The directory must be locked.
        """
        for name, fact in facts.items():
            if name in self.facts and self.facts[name] != fact:
                raise RunError(
                    f"{name} is not the graph that {self.path} has results for; choose another "
                    "directory."
                )
        self.facts |= facts
        if self.lines.exists():
            os.truncate(self.lines, len(self._complete_lines()))
        now = _versions()
        if self.versions[-1:] != [now]:
            self.versions.append(now)
        config = {
            "datasets": {name: vars(fact) for name, fact in self.facts.items()},
            "limits": dict(limits),
            "versions": self.versions,
        }
        write_text(self.path / "bench.json", json.dumps(config, indent=2) + "\n")

    def add(self, records: Sequence[Record]) -> None:
        """Write finished records to disk at once."""
        text = "".join(json.dumps(record) + "\n" for record in records)
        try:
            with self.lines.open("a", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RunError(f"Cannot write {self.lines}: {error.strerror}.") from error
        for record in records:
            self._keep(record)

    def missing(self, dataset: str, methods: Iterable[str], trial: int, retry: bool) -> list[str]:
        """The methods without a result; with `retry` also those that failed."""
        kept = {name: self.records.get((dataset, name, trial)) for name in methods}
        return [name for name, r in kept.items() if r is None or (retry and r["status"] != OK)]

    def trials(self, dataset: str, method: str) -> list[Record]:
        """All records of a method on a data set, by trial."""
        mine = [r for (d, m, _), r in self.records.items() if (d, m) == (dataset, method)]
        return sorted(mine, key=lambda record: int(record["trial"]))


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "code": _hash_code()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _hash_code() -> str:
    """A hash of the package's code, as trials of a benchmark may run different versions of it."""
    package = Path(__file__).resolve().parents[1]
    files = sorted(package.rglob("*.py"))
    digest = hashlib.blake2b(digest_size=5)
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
