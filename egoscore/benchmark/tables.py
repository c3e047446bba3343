"""Tables in the paper's layout: mean ± standard deviation (maximum), published values beside."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from egoscore.benchmark.methods import job_of, rows
from egoscore.benchmark.published import Published, published
from egoscore.benchmark.results import Results
from egoscore.benchmark.trial import OK, Record
from egoscore.graph.datasets import is_dataset
from egoscore.tell.words import counted

TITLES = {
    "roc_auc": "ROC-AUC (%)",
    "average_precision": "Average precision (%)",
    "recall_at_k": "Recall@k (%), k the number of outliers",
}


_COLUMNS = (
    *("metric", "dataset", "method", "mean", "std", "max", "trials", "failures"),
    *("published_mean", "published_std", "published_max", "published_failure"),
    *("size_correlation", "cpu_seconds", "memory_mb"),
)


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
        return published().get((self.metric, row, dataset))


def shown(dataset: str) -> str:
    """A data set's name with a capital, a folder's as it is."""
    return dataset.capitalize() if is_dataset(dataset) else Path(dataset).name


def markdown(table: Table) -> str:
    """The table for a page; a random score's spread and the number of outliers in its head."""
    head = [f" {heading(table, dataset)} | published | size |" for dataset in table.datasets]
    lines = [
        f"**{TITLES[table.metric]}**",
        "",
        f"|  |{''.join(head)}",
        f"|---|{'---|---|---|' * len(table.datasets)}",
    ]
    for row in table.rows:
        cells = [_markdown_cells(table, row, dataset) for dataset in table.datasets]
        lines.append(f"| {rows()[row].title} |{''.join(cells)}")
    return "\n".join(lines) + "\n"


def cost_markdown(results: Results) -> str:
    """What a trial costs: mean CPU seconds and the largest memory. Rows of one job share it."""
    table = Table.of(results, "roc_auc")
    lines = [
        "**CPU seconds of a trial (mean), MB above imports and data (largest)**",
        "",
        f"|  |{''.join(f' {shown(name)} |' for name in table.datasets)}",
        f"|---|{'---|' * len(table.datasets)}",
    ]
    by_job = {job_of()[row].name: row for row in reversed(table.rows)}
    for job, row in reversed(by_job.items()):
        parts = [f"| {job} |"]
        for dataset in table.datasets:
            cell = table.cells.get((row, dataset))
            known = cell is not None and cell.known
            parts.append(
                f" {cell.cpu_seconds:.1f}, {cell.memory_mb:.0f} |" if cell and known else "  |"
            )
        lines.append("".join(parts))
    return "\n".join(lines) + "\n"


def defects_markdown(results: Results) -> str:
    """What is known to be wrong with the methods that were run; empty if nothing is."""
    run = {row for _, row, _ in results.records}
    known: dict[str, list[str]] = {}
    for name, row in rows().items():
        if name in run and row.defect:
            known.setdefault(row.defect, []).append(row.title)
    if not known:
        return ""
    lines = [f"- {', '.join(titles)}: {defect}" for defect, titles in known.items()]
    return "\n".join(["**Known defects of the libraries' versions**", "", *lines]) + "\n"


def heading(table: Table, dataset: str) -> str:
    """A network, how many outliers it has, and how much chance alone moves the ROC-AUC."""
    facts = table.results.facts[dataset]
    return (
        f"{shown(dataset)} ({facts.outliers:,} outliers among {facts.nodes:,}; a random "
        f"score's AUC spreads by {facts.random_spread:.1f})"
    )


def _markdown_cells(table: Table, row: str, dataset: str) -> str:
    measured, beside, size = texts(table, row, dataset)
    cell = table.cells.get((row, dataset))
    if cell and cell.known and round(cell.mean, 1) == table.best(dataset, lambda c: c.mean):
        mean, _, rest = measured.partition(" ")
        measured = f"**{mean}** {rest}"
    return f" {measured} | {beside} | {size} |"


def texts(table: Table, row: str, dataset: str) -> tuple[str, str, str]:
    """What was measured, what was published, and the correlation with size."""
    cell, known = table.cells.get((row, dataset)), table.published(row, dataset)
    beside = ""
    if known is not None:
        beside = known.failure or _numbers(known.mean, known.std, known.largest)
    if cell is None:
        return "", beside, ""
    if not cell.known:
        return cell.failed, beside, ""
    notes = [cell.failed] if cell.failures else []
    if cell.trials < table.most_trials(dataset):
        notes.insert(0, counted(cell.trials, "trial"))
    note = f" [{'; '.join(notes)}]" if notes else ""
    measured = _numbers(cell.mean, cell.std, cell.largest) + note
    return measured, beside, f"{cell.size_correlation:+.2f}"


def _numbers(mean: float, std: float, largest: float) -> str:
    return f"{mean:.1f} ± {std:.1f} ({largest:.1f})"


def latex(table: Table) -> str:
    r"""The table for a paper: needs booktabs; best mean in bold, best maximum underlined."""
    columns = "l|" + "cc" * len(table.datasets)
    names = [
        rf"\multicolumn{{2}}{{c}}{{\textbf{{{_escaped(shown(name))}}}}}" for name in table.datasets
    ]
    known = " & ".join(["measured & published"] * len(table.datasets))
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf"\textbf{{Algorithm}} & {' & '.join(names)} \\",
        rf" & {known} \\",
    ]
    for group in table.groups():
        lines.append(r"\midrule")
        for row in group:
            cells = [_latex_cells(table, row, dataset) for dataset in table.datasets]
            lines.append(rf"{_escaped(rows()[row].title)} & {' & '.join(cells)} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cells(table: Table, row: str, dataset: str) -> str:
    cell, known = table.cells.get((row, dataset)), table.published(row, dataset)
    beside = "--"
    if known is not None:
        numbers = rf"${known.mean:.1f} \pm {known.std:.1f} \, ({known.largest:.1f})$"
        beside = known.failure or numbers
    if cell is None:
        return f"-- & {beside}"
    if not cell.known:
        return f"{_escaped(cell.failed)} & {beside}"
    mean, largest = f"{cell.mean:.1f}", f"{cell.largest:.1f}"
    if round(cell.mean, 1) == table.best(dataset, lambda c: c.mean):
        mean = rf"\mathbf{{{mean}}}"
    if round(cell.largest, 1) == table.best(dataset, lambda c: c.largest):
        largest = rf"\underline{{{largest}}}"
    return rf"${mean} \pm {cell.std:.1f} \, ({largest})$ & {beside}"


def _escaped(text: str) -> str:
    for character in "\\&%$#_{}":
        text = text.replace(character, rf"\{character}" if character != "\\" else "/")
    return text.replace("‖", r"$\Vert$")


def write_csv(results: Results) -> str:
    """Everything the other tables have, and the cost, one line per metric, row and network."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for metric in TITLES:
        table = Table.of(results, metric)
        for (row, dataset), cell in table.cells.items():
            known = table.published(row, dataset)
            beside = ["", "", "", ""]
            if known is not None and known.failure:
                beside[3] = known.failure
            elif known is not None:
                beside[:3] = [f"{v:.1f}" for v in (known.mean, known.std, known.largest)]
            numbers = [cell.mean, cell.std, cell.largest]
            further = [cell.size_correlation, cell.cpu_seconds, cell.memory_mb]
            writer.writerow(
                [metric, dataset, row, *map(_short, numbers), cell.trials, cell.failed]
                + beside
                + [_short(value) for value in further]
            )
    return out.getvalue()


def _short(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
