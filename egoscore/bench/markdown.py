"""Tables as Markdown and CSV: mean ± standard deviation (maximum), published values beside."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from egoscore.bench.methods import job_of, rows
from egoscore.bench.results import Results
from egoscore.bench.summary import TITLES, Table, note, shown
from egoscore.bench.trial import MEMORY, TIME, Record
from egoscore.text import counted, numeral

NUMBERS = "Mean ± standard deviation (maximum) over the trials that ended well, in percent."
FEWER = "Rows with fewer trials than the head says, or with failures, say so."
COLUMNS = (
    "published: in the paper's table.",
    "size: rank correlation of a score with the size of the ego-graph.",
)
_COLUMNS = (
    *("metric", "dataset", "nodes", "outliers", "random_mean", "random_spread"),
    *("method", "mean", "std", "max", "trials", "failures"),
    *("published_mean", "published_std", "published_max", "published_failure"),
    *("size_correlation", "cpu_seconds", "memory_mb"),
)


def markdown(table: Table) -> str:
    """A Markdown table, with outliers, trials and the result of a random score in its head."""
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
    """The measured value, the published value, and the correlation with size."""
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
    """A data set, its outliers and trials, and the result of a random score."""
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
        f"|  |{''.join(f' {_in_row(shown(name))} |' for name in table.datasets)}",
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
    for name, row in rows().items():
        if name in run and row.defect:
            known.setdefault(row.defect, []).append(row.title)
    if not known:
        return ""
    lines = [f"- {', '.join(titles)}: {defect}" for defect, titles in known.items()]
    return "\n".join(["**Known defects of the libraries' versions**", "", *lines]) + "\n"


def versions_markdown(results: Results) -> str:
    """Packages that changed between trials; empty if none did."""
    names = dict.fromkeys(name for versions in results.versions for name in versions)
    seen = {n: [k for k, _ in groupby(v.get(n, "none") for v in results.versions)] for n in names}
    lines = [f"- {name}: {', then '.join(those)}" for name, those in seen.items() if len(those) > 1]
    if not lines:
        return ""
    return "\n".join(["**Trials were run with different versions**", "", *lines]) + "\n"


def write_csv(results: Results) -> str:
    """All tables and the cost as CSV, one line per metric, row and data set."""
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


def limits(results: Results) -> str:
    """The limits that were hit, with the rows that hit them if there were several."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {TIME: {}, MEMORY: {}}
    for (dataset, row, _), record in results.records.items():
        if record["status"] in found:
            found[record["status"]].setdefault(_limit(record), []).append((row, dataset))
    return _sentence(f"{kind}: {_listed(those)}" for kind, those in found.items() if those)


def _listed(those: dict[str, list[tuple[str, str]]]) -> str:
    if len(those) == 1:
        return next(iter(those))
    return ", ".join(f"{limit} ({_places(cells)})" for limit, cells in those.items())


def _places(cells: Iterable[tuple[str, str]]) -> str:
    return ", ".join(
        f"{rows()[row].title} on {shown(dataset)}" for row, dataset in dict.fromkeys(cells)
    )


def _limit(record: Record) -> str:
    """The limit that a trial hit; older records only have the time limit."""
    if record["status"] == TIME:
        found = re.search(r"more than (\S+) s\b", record["reason"])
        seconds = record.get("time_limit") or (found and float(found[1]))
        return f"more than {numeral(seconds)} s" if seconds else "more than a limit not kept"
    gigabytes = record.get("memory_limit")
    limit = f"a limit of {numeral(gigabytes)} GB" if gigabytes else "a limit not kept"
    return f"out of memory with {limit}"


def published_limits(table: Table) -> str:
    """What failures in the published table mean, if there are any beside measured rows."""
    every = [table.published(row, dataset) for row in table.rows for dataset in table.datasets]
    failures = {known.failure for known in every if known is not None}
    meanings = {TIME: "more than 24 hours", MEMORY: "out of memory"}
    return _sentence(f"{k} as published: {text}" for k, text in meanings.items() if k in failures)


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return f"{text}." if text else ""


def legend(table: Table) -> list[str]:
    """Sentences that explain the columns and failures."""
    return [s for s in (*COLUMNS, limits(table.results), published_limits(table)) if s]
