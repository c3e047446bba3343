"""Summaries of trials: the cells of a table, beside the published values."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from egoscore.bench.methods import rows
from egoscore.bench.results import Results
from egoscore.bench.trial import OK, Record
from egoscore.load.datasets import is_dataset
from egoscore.text import counted


@dataclass(frozen=True)
class Published:
    """Mean, standard deviation and maximum in percent, or the `failure` instead."""

    mean: float = 0.0
    std: float = 0.0
    largest: float = 0.0
    failure: str = ""


@cache
def published() -> dict[tuple[str, str, str], Published]:
    """The published values by (metric, method, data set)."""
    text = (files("egoscore.bench") / "published.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    found = {}
    for row in csv.DictReader(lines):
        key = row["metric"], row["method"], row["dataset"]
        if row["std"]:
            numbers = float(row["mean"]), float(row["std"]), float(row["max"])
            found[key] = Published(*numbers)
        else:
            found[key] = Published(failure=row["mean"])
    return found


TITLES = {
    "roc_auc": "ROC-AUC (%)",
    "average_precision": "Average precision (%)",
    "recall_at_k": "Recall@k (%), k the number of outliers",
}


@dataclass(frozen=True)
class Cell:
    """The trials of a row on a data set: numbers in percent, NaN if none succeeded."""

    mean: float
    std: float
    largest: float
    trials: int
    failures: Counter[str]
    size_correlation: float
    cpu_seconds: float
    memory_mb: float

    @classmethod
    def of(cls, records: Sequence[Record], metric: str) -> Cell:
        """The cell of some records."""
        good = [record for record in records if record["status"] == OK]
        failures = Counter(record["status"] for record in records if record["status"] != OK)
        if not good:
            nan = float("nan")
            return cls(nan, nan, nan, len(records), failures, nan, nan, nan)
        values = 100 * np.array([record[metric] for record in good])

        def mean(name: str) -> float:
            return float(np.mean([record[name] for record in good]))

        return cls(
            float(values.mean()),
            float(values.std()),
            float(values.max()),
            len(records),
            failures,
            mean("size_correlation"),
            mean("cpu_seconds"),
            max(float(record["peak_mb"] - record.get("start_mb", 0.0)) for record in good),
        )

    @property
    def known(self) -> bool:
        """Whether any trial succeeded."""
        return not np.isnan(self.mean)

    @property
    def repeated(self) -> bool:
        """Whether several trials succeeded, so that there is a standard deviation."""
        return self.trials - self.failures.total() > 1

    @property
    def failed(self) -> str:
        """How many trials failed in which way; empty if none did."""
        parts = [f"{count} {kind}" for kind, count in sorted(self.failures.items())]
        return ", ".join(parts)


@dataclass(frozen=True)
class Table:
    """A table of one metric: rows by data sets."""

    metric: str
    datasets: tuple[str, ...]
    rows: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    results: Results

    @classmethod
    def of(cls, results: Results, metric: str) -> Table:
        """The table of all results, in the order of the methods."""
        datasets = tuple(results.facts)
        cells = {
            (row, dataset): Cell.of(records, metric)
            for row in rows()
            for dataset in datasets
            if (records := results.of(dataset, row))
        }
        filled = tuple(row for row in rows() if any((row, d) in cells for d in datasets))
        return cls(metric, datasets, filled, cells, results)

    def best(self, dataset: str, quantity: Callable[[Cell], float]) -> float:
        """The largest mean or maximum on a data set, rounded as it is printed."""
        known = [
            round(quantity(cell), 1)
            for (_, name), cell in self.cells.items()
            if name == dataset and cell.known
        ]
        return max(known, default=float("nan"))

    def is_best(self, row: str, dataset: str) -> bool:
        """Whether no printed mean on this data set is larger."""
        cell = self.cells.get((row, dataset))
        if cell is None or not cell.known:
            return False
        return round(cell.mean, 1) == self.best(dataset, lambda c: c.mean)

    def most_trials(self, dataset: str) -> int:
        """The number of trials of a data set; a row with fewer gets a note."""
        return max((c.trials for (_, name), c in self.cells.items() if name == dataset), default=0)

    def groups(self) -> Iterable[tuple[str, ...]]:
        """Rows by family."""
        families = dict.fromkeys(rows()[row].family for row in self.rows)
        for family in families:
            yield tuple(row for row in self.rows if rows()[row].family == family)

    def published(self, row: str, dataset: str) -> Published | None:
        """The published value of a row, if there is one."""
        return published().get((self.metric, row.removesuffix("-published"), dataset))


def shown(dataset: str) -> str:
    """The name of a data set, capitalised, or of a folder."""
    return dataset.capitalize() if is_dataset(dataset) else Path(dataset).name


def note(table: Table, cell: Cell, dataset: str) -> str:
    """A note about missing or failed trials; empty if there are none."""
    fewer = cell.trials < table.most_trials(dataset)
    notes = [counted(cell.trials, "trial")] if fewer else []
    return "; ".join([*notes, cell.failed] if cell.failures else notes)
