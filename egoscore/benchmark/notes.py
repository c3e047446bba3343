"""What a reader is told beside the numbers, in the same words on the terminal and in every file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from egoscore.benchmark.cells import Table, shown
from egoscore.benchmark.methods import rows
from egoscore.benchmark.results import Results
from egoscore.benchmark.trial import MEMORY, TIME, Record
from egoscore.numerals import numeral

NUMBERS = "Mean ± standard deviation (maximum) over the trials that ended well, in percent."
FEWER = "Rows with fewer trials than the head says, or with failures, say so."
COLUMNS = (
    "published: in the paper's table.",
    "size: rank correlation of a score with the size of the ego-graph.",
)


def limits(results: Results) -> str:
    """Which limits were hit; which rows hit which, where they were run under different ones."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {TIME: {}, MEMORY: {}}
    for (dataset, row, _), record in results.records.items():
        if record["status"] in found:
            found[record["status"]].setdefault(_limit(record), []).append((row, dataset))
    return _sentence(f"{kind}: {_told(those)}" for kind, those in found.items() if those)


def _told(those: dict[str, list[tuple[str, str]]]) -> str:
    if len(those) == 1:
        return next(iter(those))
    return ", ".join(f"{limit} ({_places(cells)})" for limit, cells in those.items())


def _places(cells: Iterable[tuple[str, str]]) -> str:
    return ", ".join(
        f"{rows()[row].title} on {shown(dataset)}" for row, dataset in dict.fromkeys(cells)
    )


def _limit(record: Record) -> str:
    """The limit in force when a trial hit it; older records have that of the time only."""
    if record["status"] == TIME:
        said = re.search(r"more than (\S+) s\b", record["reason"])
        seconds = record.get("time_limit") or (said and float(said[1]))
        return f"more than {numeral(seconds)} s" if seconds else "more than a limit not kept"
    gigabytes = record.get("memory_limit")
    limit = f"a limit of {numeral(gigabytes)} GB" if gigabytes else "a limit not kept"
    return f"out of memory with {limit}"


def published_limits(table: Table) -> str:
    """What failures in the paper's table mean, if there are any beside what was measured."""
    every = [table.published(row, dataset) for row in table.rows for dataset in table.datasets]
    failures = {known.failure for known in every if known is not None}
    meanings = {TIME: "more than 24 hours", MEMORY: "out of memory"}
    return _sentence(f"{k} as published: {text}" for k, text in meanings.items() if k in failures)


def _sentence(parts: Iterable[str]) -> str:
    text = "; ".join(parts)
    return f"{text}." if text else ""


def legend(table: Table) -> list[str]:
    """How to read the columns and what failed, in sentences."""
    return [s for s in (*COLUMNS, limits(table.results), published_limits(table)) if s]
