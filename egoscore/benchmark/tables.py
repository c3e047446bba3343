"""Tables as Markdown and CSV: mean ± standard deviation (maximum), published values beside."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from egoscore.benchmark.cells import TITLES, Table, note, shown
from egoscore.benchmark.methods import job_of, rows
from egoscore.benchmark.notes import FEWER, NUMBERS, legend
from egoscore.benchmark.results import Results
from egoscore.numerals import counted

_COLUMNS = (
    *("metric", "dataset", "nodes", "outliers", "random_mean", "random_spread"),
    *("method", "mean", "std", "max", "trials", "failures"),
    *("published_mean", "published_std", "published_max", "published_failure"),
    *("size_correlation", "cpu_seconds", "memory_mb"),
)


def markdown(table: Table) -> str:
    """The table for a page; in its head outliers, trials, and what a random score gets."""
    head = [
        f" {_in_row(heading(table, dataset))} | published | size |" for dataset in table.datasets
    ]
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


def _markdown_cells(table: Table, row: str, dataset: str) -> str:
    measured, beside, size = texts(table, row, dataset)
    if table.is_best(row, dataset):
        mean, gap, rest = measured.partition(" ")
        measured = f"**{mean}**{gap}{rest}"
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
    remark = f" [{n}]" if (n := note(table, cell, dataset)) else ""
    repeated = _numbers(cell.mean, cell.std, cell.largest)
    measured = (repeated if cell.repeated else f"{cell.mean:.1f}") + remark
    return measured, beside, f"{cell.size_correlation:+.2f}"


def _numbers(mean: float, std: float, largest: float) -> str:
    return f"{mean:.1f} ± {std:.1f} ({largest:.1f})"


def heading(table: Table, dataset: str) -> str:
    """A network, its outliers and trials, and what a random score gets."""
    facts = table.results.facts[dataset]
    random = facts.by_chance(table.metric)
    return (
        f"{shown(dataset)} ({counted(facts.outliers, 'outlier')} among {facts.nodes:,}; "
        f"{counted(table.most_trials(dataset), 'trial')}; "
        f"a random score gets {random.mean:.1f} ± {random.std:.1f})"
    )


def legend_markdown(results: Results) -> str:
    """How to read the tables."""
    notes = legend(Table.of(results, "roc_auc"))
    return " ".join([NUMBERS, "The best mean is bold.", FEWER, *notes]) + "\n"


def _in_row(text: str) -> str:
    """Text within a row of a Markdown table, where a bar would begin another cell."""
    return text.replace("|", "\\|")


def cost_markdown(results: Results) -> str:
    """What a trial costs: mean CPU seconds and the largest memory. Rows of one job share it."""
    table = Table.of(results, "roc_auc")
    lines = [
        "**CPU seconds of a trial (mean), MB above imports and data (largest)**",
        "",
        "A line is a job: rows that are computed in one run, from one model where they share it.",
        "",
        f"|  |{''.join(f' {_in_row(shown(name))} |' for name in table.datasets)}",
        f"|---|{'---|' * len(table.datasets)}",
    ]
    for _, mine in groupby(table.rows, lambda row: job_of()[row].name):
        run = tuple(mine)
        costs = [_cost(table, run, dataset) for dataset in table.datasets]
        lines.append(f"| {job_of()[run[0]].title_of(run)} |{''.join(costs)}")
    return "\n".join(lines) + "\n"


def _cost(table: Table, run: Sequence[str], dataset: str) -> str:
    """That of the first row of a job that ended well, or how it failed."""
    cells = [cell for row in run if (cell := table.cells.get((row, dataset)))]
    for cell in cells:
        if cell.known:
            return f" {cell.cpu_seconds:.1f}, {cell.memory_mb:.0f} |"
    return f" {cells[0].failed if cells else ''} |"


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


def versions_markdown(results: Results) -> str:
    """Which packages changed between trials; empty if none did."""
    names = dict.fromkeys(name for versions in results.versions for name in versions)
    seen = {n: [k for k, _ in groupby(v.get(n, "none") for v in results.versions)] for n in names}
    lines = [f"- {name}: {', then '.join(those)}" for name, those in seen.items() if len(those) > 1]
    if not lines:
        return ""
    return "\n".join(["**Trials were run with different versions**", "", *lines]) + "\n"


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
            facts = results.facts[dataset]
            random = facts.by_chance(metric)
            writer.writerow(
                [metric, dataset, facts.nodes, facts.outliers]
                + [_short(random.mean), _short(random.std)]
                + [row, *map(_short, numbers), cell.trials, cell.failed]
                + beside
                + [_short(value) for value in further]
            )
    return out.getvalue()


def _short(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
