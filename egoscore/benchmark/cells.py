"""What the trials gave: cells of a table, and the table of one metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egoscore.benchmark.methods import rows
from egoscore.benchmark.published import Published, published
from egoscore.benchmark.results import Results
from egoscore.benchmark.trial import OK, Record
from egoscore.graph.datasets import is_dataset
from egoscore.numerals import counted

TITLES = {
    "roc_auc": "ROC-AUC (%)",
    "average_precision": "Average precision (%)",
    "recall_at_k": "Recall@k (%), k the number of outliers",
}


@dataclass(frozen=True)
class Cell:
    """What the trials of a row on a network gave; numbers in percent, NaN where none ended well."""

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
        """The cell of these records."""
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
        """Whether any trial ended well."""
        return not np.isnan(self.mean)

    @property
    def repeated(self) -> bool:
        """Whether several trials ended well, so that a spread means something."""
        return self.trials - self.failures.total() > 1

    @property
    def failed(self) -> str:
        """How many trials failed, and how, for a reader; empty if none did."""
        parts = [f"{count} {kind}" for kind, count in sorted(self.failures.items())]
        return ", ".join(parts)


@dataclass(frozen=True)
class Table:
    """One metric: rows by networks."""

    metric: str
    datasets: tuple[str, ...]
    rows: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]
    results: Results

    @classmethod
    def of(cls, results: Results, metric: str) -> Table:
        """The table of all that has been run, in the order of the methods."""
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
        """The largest mean or maximum on a network, as it is printed."""
        known = [
            round(quantity(cell), 1)
            for (_, name), cell in self.cells.items()
            if name == dataset and cell.known
        ]
        return max(known, default=float("nan"))

    def is_best(self, row: str, dataset: str) -> bool:
        """Whether no mean on this network is printed as a larger one."""
        cell = self.cells.get((row, dataset))
        if cell is None or not cell.known:
            return False
        return round(cell.mean, 1) == self.best(dataset, lambda c: c.mean)

    def most_trials(self, dataset: str) -> int:
        """How many trials the rows of a network have; one with fewer says so."""
        return max((c.trials for (_, name), c in self.cells.items() if name == dataset), default=0)

    def groups(self) -> Iterable[tuple[str, ...]]:
        """Rows that belong together."""
        families = dict.fromkeys(rows()[row].family for row in self.rows)
        for family in families:
            yield tuple(row for row in self.rows if rows()[row].family == family)

    def published(self, row: str, dataset: str) -> Published | None:
        """What was published of a row, if anything."""
        return published().get((self.metric, row.removesuffix("-published"), dataset))


def shown(dataset: str) -> str:
    """A data set's name with a capital, a folder's as it is."""
    return dataset.capitalize() if is_dataset(dataset) else Path(dataset).name


def note(table: Table, cell: Cell, dataset: str) -> str:
    """What a reader must know of a cell's trials; empty if all were run and ended well."""
    fewer = cell.trials < table.most_trials(dataset)
    notes = [counted(cell.trials, "trial")] if fewer else []
    return "; ".join([*notes, cell.failed] if cell.failures else notes)
