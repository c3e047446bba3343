"""Tables as Markdown and CSV: mean ± standard deviation (maximum), published values beside."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from egoscore.bench.methods import job_of, methods
from egoscore.bench.results import Results
from egoscore.bench.table import FEWER, NUMBERS, TITLES, Style, Table, display_name

_STYLE = Style(best="**{}**")
_COLUMNS = (
    *("metric", "dataset", "nodes", "outliers", "random_mean", "random_spread"),
    *("method", "mean", "std", "max", "trials", "failures"),
    *("published_mean", "published_std", "published_max", "published_failure"),
    *("size_correlation", "cpu_seconds", "memory_mb"),
)


def markdown(table: Table) -> str:
    """A Markdown table, with outliers, trials and the result of a random score in its head."""
    head = [f" {_in_row(table.heading(name))} | published | size |" for name in table.datasets]
    lines = [
        f"**{TITLES[table.metric]}**",
        "",
        f"|  |{''.join(head)}",
        f"|---|{'---|---|---|' * len(table.datasets)}",
    ]
    for row in table.rows:
        texts = [text for name in table.datasets for text in table.texts(row, name, _STYLE)]
        lines.append(f"| {methods()[row].title} |{''.join(f' {text} |' for text in texts)}")
    return "\n".join(lines) + "\n"


def legend_markdown(results: Results) -> str:
    """How to read the tables."""
    notes = Table.of(results, "roc_auc").legend()
    return " ".join([NUMBERS, "The best mean is bold.", FEWER, *notes]) + "\n"


def _in_row(text: str) -> str:
    """Text in a row of a Markdown table, where a bar would start another cell."""
    return text.replace("|", "\\|")


def cost_markdown(results: Results) -> str:
    """The cost of a trial: mean CPU seconds and peak memory, shared by the rows of a job."""
    table = Table.of(results, "roc_auc")
    lines = [
        "**CPU seconds of a trial (mean), MB above imports and data (largest)**",
        "",
        "A line is a job: rows that are computed together, often from one model.",
        "",
        f"|  |{''.join(f' {_in_row(display_name(name))} |' for name in table.datasets)}",
        f"|---|{'---|' * len(table.datasets)}",
    ]
    for _, mine in groupby(table.rows, lambda row: job_of()[row].name):
        run = tuple(mine)
        costs = [_cost(table, run, dataset) for dataset in table.datasets]
        lines.append(f"| {job_of()[run[0]].title_of(run)} |{''.join(costs)}")
    return "\n".join(lines) + "\n"


def _cost(table: Table, run: Sequence[str], dataset: str) -> str:
    """The cost of the first successful row of a job, or how it failed."""
    cells = [cell for row in run if (cell := table.cells.get((row, dataset)))]
    for cell in cells:
        if cell.known:
            return f" {cell.cpu_seconds:.1f}, {cell.memory_mb:.0f} |"
    return f" {cells[0].failed if cells else ''} |"


def defects_markdown(results: Results) -> str:
    """Known defects of the methods that were run; empty if there are none."""
    run = {row for _, row, _ in results.records}
    known: dict[str, list[str]] = {}
    for name, row in methods().items():
        if name in run and row.defect:
            known.setdefault(row.defect, []).append(row.title)
    lines = [f"{', '.join(titles)}: {defect}" for defect, titles in known.items()]
    return _section("Known defects of the libraries' versions", lines)


def versions_markdown(results: Results) -> str:
    """Packages that changed between trials; empty if none did."""
    names = dict.fromkeys(name for versions in results.versions for name in versions)
    seen = {n: [k for k, _ in groupby(v.get(n, "none") for v in results.versions)] for n in names}
    lines = [f"{name}: {', then '.join(those)}" for name, those in seen.items() if len(those) > 1]
    return _section("Trials were run with different versions", lines)


def _section(title: str, lines: Sequence[str]) -> str:
    """A list below a title; empty if there are no lines."""
    items = "\n".join(f"- {line}" for line in lines)
    return f"**{title}**\n\n{items}\n" if lines else ""


def write_csv(results: Results) -> str:
    """All tables and the cost as CSV, one line per metric, row and data set."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for metric in TITLES:
        table = Table.of(results, metric)
        for row, dataset in table.cells:
            writer.writerow(_csv_row(table, row, dataset))
    return out.getvalue()


def _csv_row(table: Table, row: str, dataset: str) -> list[object]:
    cell, known = table.cells[row, dataset], table.published(row, dataset)
    facts = table.results.facts[dataset]
    random = facts.by_chance(table.metric)
    published = ["", "", "", known.failure if known else ""]
    if known and not known.failure:
        published[:3] = [f"{value:.1f}" for value in (known.mean, known.std, known.largest)]
    return [
        *(table.metric, dataset, facts.nodes, facts.outliers),
        *map(_short, (random.mean, random.std)),
        *(row, *map(_short, (cell.mean, cell.std, cell.largest)), cell.trials, cell.failed),
        *published,
        *map(_short, (cell.size_correlation, cell.cpu_seconds, cell.memory_mb)),
    ]


def _short(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
