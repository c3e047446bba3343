"""A table of one metric, methods by data sets: its cells, and its text in any rendering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egoscore.bench.methods import methods
from egoscore.bench.reference import Published, published
from egoscore.bench.results import Results
from egoscore.bench.trial import MEMORY, OK, TIME, Record
from egoscore.load.datasets import is_dataset
from egoscore.text import counted, numeral

TITLES = {
    "roc_auc": "ROC-AUC (%)",
    "average_precision": "Average precision (%)",
    "recall_at_k": "Recall@k (%), k the number of outliers",
}
NUMBERS = "Mean ± standard deviation (maximum) over the trials that succeeded, in percent."
FEWER = "Rows with fewer trials than the head says, or with failures, say so."
COLUMNS = (
    "published: in the paper's table.",
    "size: rank correlation of a score with the size of the ego-graph.",
)


@dataclass(frozen=True)
class Style:
    """The markup of a rendering, as templates, and `escape` for all other text.

    `repeated` takes mean, standard deviation and maximum of several trials, `single` any lone
    number; `best` marks the best mean, `largest` the best maximum.
    """

    repeated: str = "{} ± {} ({})"
    single: str = "{}"
    best: str = "{}"
    largest: str = "{}"
    missing: str = ""
    escape: Callable[[str], str] = str


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
        return cls(
            float(values.mean()),
            float(values.std()),
            float(values.max()),
            len(records),
            failures,
            float(np.mean([record["size_correlation"] for record in good])),
            float(np.mean([record["cpu_seconds"] for record in good])),
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
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.failures.items()))


@dataclass(frozen=True)
class Table:
    """A table of one metric: rows, which are names of methods, by data sets."""

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
            for row in methods()
            for dataset in datasets
            if (records := results.trials(dataset, row))
        }
        return cls(metric, datasets, tuple(dict.fromkeys(row for row, _ in cells)), cells, results)

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
        """The rows, group by group."""
        for group in dict.fromkeys(methods()[row].group for row in self.rows):
            yield tuple(row for row in self.rows if methods()[row].group == group)

    def published(self, row: str, dataset: str) -> Published | None:
        """The published value of a row, if there is one."""
        return published().get((self.metric, row.removesuffix("-published"), dataset))

    def texts(self, row: str, dataset: str, style: Style) -> tuple[str, str, str]:
        """The measured value, the published value, and the correlation with size."""
        cell, known = self.cells.get((row, dataset)), self.published(row, dataset)
        beside = style.missing
        if known is not None:
            numbers = (f"{value:.1f}" for value in (known.mean, known.std, known.largest))
            beside = known.failure or style.repeated.format(*numbers)
        if cell is None:
            return style.missing, beside, style.missing
        if not cell.known:
            return style.escape(cell.failed), beside, style.missing
        note = self.note(cell, dataset)
        measured = self._measured(row, dataset, cell, style)
        measured += style.escape(f" [{note}]") if note else ""
        return measured, beside, style.single.format(f"{cell.size_correlation:+.2f}")

    def _measured(self, row: str, dataset: str, cell: Cell, style: Style) -> str:
        mean, largest = f"{cell.mean:.1f}", f"{cell.largest:.1f}"
        if self.is_best(row, dataset):
            mean = style.best.format(mean)
        if not cell.repeated:
            return style.single.format(mean)
        # a maximum of one trial is not shown, and not compared
        if round(cell.largest, 1) == self.best(dataset, lambda c: c.largest if c.repeated else 0.0):
            largest = style.largest.format(largest)
        return style.repeated.format(mean, f"{cell.std:.1f}", largest)

    def note(self, cell: Cell, dataset: str) -> str:
        """A note about missing or failed trials; empty if there are none."""
        fewer = cell.trials < self.most_trials(dataset)
        notes = [counted(cell.trials, "trial")] if fewer else []
        return "; ".join([*notes, cell.failed] if cell.failures else notes)

    def head(self, dataset: str) -> tuple[str, str, str, str]:
        """The head of a data set: its name, its outliers, its trials, a random score's result."""
        facts = self.results.facts[dataset]
        random = facts.by_chance(self.metric)
        return (
            display_name(dataset),
            f"{counted(facts.outliers, 'outlier')} among {facts.nodes_in_words}",
            counted(self.most_trials(dataset), "trial"),
            f"{random.mean:.1f} ± {random.std:.1f}",
        )

    def heading(self, dataset: str) -> str:
        """The head in one line."""
        name, outliers, trials, random = self.head(dataset)
        return f"{name} ({outliers}; {trials}; a random score gets {random})"

    def legend(self) -> list[str]:
        """Sentences that explain the columns and failures."""
        return [s for s in (*COLUMNS, limits(self.results), published_limits(self)) if s]


def display_name(dataset: str) -> str:
    """The name of a data set, capitalised, or of a folder."""
    return dataset.capitalize() if is_dataset(dataset) else Path(dataset).name


def limits(results: Results) -> str:
    """The limits that trials exceeded, with the rows if there were several limits."""
    found: dict[str, dict[str, dict[str, None]]] = {TIME: {}, MEMORY: {}}
    for (dataset, row, _), record in results.records.items():
        if record["status"] in found:
            where = f"{methods()[row].title} on {display_name(dataset)}"
            found[record["status"]].setdefault(_limit(record), {})[where] = None
    return _sentence(f"{kind}: {_listed(those)}" for kind, those in found.items() if those)


def _limit(record: Record) -> str:
    """The limit that a trial exceeded; older records only have the time limit."""
    if record["status"] == TIME:
        found = re.search(r"more than (\S+) s\b", record["reason"])
        seconds = record.get("time_limit") or (found and float(found[1]))
        return f"more than {numeral(seconds)} s" if seconds else "more than an unrecorded limit"
    gigabytes = record.get("memory_limit")
    limit = f"a limit of {numeral(gigabytes)} GB" if gigabytes else "an unrecorded limit"
    return f"out of memory with {limit}"


def _listed(places: dict[str, dict[str, None]]) -> str:
    """One limit, or all of them with their places."""
    if len(places) == 1:
        return next(iter(places))
    return ", ".join(f"{limit} ({', '.join(those)})" for limit, those in places.items())


def published_limits(table: Table) -> str:
    """What failures in the published table mean, if there are any beside measured rows."""
    every = [table.published(row, dataset) for row in table.rows for dataset in table.datasets]
    failures = {known.failure for known in every if known is not None}
    meanings = {TIME: "more than 24 hours", MEMORY: "out of memory"}
    return _sentence(f"{k} as published: {text}" for k, text in meanings.items() if k in failures)


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return f"{text}." if text else ""
