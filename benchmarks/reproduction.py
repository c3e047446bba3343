"""Write docs/reproduction.md from a benchmark's results; every number in it comes from there.

egoscore bench --datasets disney,books --methods all --out benchmarks/results/reproduction
python benchmarks/reproduction.py [--smoke]

Trials are kept in benchmarks/results/reproduction, so that they add up over many days.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from egoscore.bench.markdown import (
    cost_markdown,
    defects_markdown,
    markdown,
)
from egoscore.bench.methods import OURS, methods
from egoscore.bench.results import Results
from egoscore.bench.table import Cell, Table, display_name, limits, published_limits
from egoscore.text import counted

KEPT = Path(__file__).resolve().parent / "results" / "reproduction"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reproduction.md"
INTRODUCTION = """# The paper's numbers, measured

Written by `benchmarks/reproduction.py` from the results of `egoscore bench`
(`make reproduction`); no measured number here was typed by hand. [How methods are
compared](benchmark.md) explains the trials and the columns. Values are mean ± standard deviation
(maximum) over trials in percent; "size" is the rank correlation of a score with the size of the
ego-graph. Rows with fewer trials than the head of a table say so; empty cells were not run.
Labels are used to compute these numbers only. CPU seconds are rough: some trials ran while other
programs used the machine's two cores as well.
"""


def cell(table: Table, row: str, dataset: str) -> Cell | None:
    """A cell in which something is known."""
    found = table.cells.get((row, dataset))
    return found if found is not None and found.known else None


def compared(table: Table, variant: str = "") -> str:
    """Which of the paper's own means lie within the published spread; `variant` as in @s4."""
    lines = []
    for dataset in table.datasets:
        for row, (title, _, _) in OURS.items():
            mine, known = cell(table, row + variant, dataset), table.published(row, dataset)
            if mine is None or known is None or known.failure:
                continue
            inside = abs(mine.mean - known.mean) <= known.std
            trials = counted(mine.trials - mine.failures.total(), "trial")
            lines.append(
                f"| {display_name(dataset)} | {title} | {mine.mean:.1f} ({trials}) | "
                f"{known.mean:.1f} ± {known.std:.1f} | {'yes' if inside else '**no**'} |"
            )
    head = "| | | measured | published | within |\n|---|---|---|---|---|\n"
    return head + "\n".join(lines) + "\n"


def each(table: Table, say: Callable[[str], str]) -> str:
    """A line for every network of which there is something to say."""
    said = ((display_name(dataset), say(dataset)) for dataset in table.datasets)
    return "".join(f"- {name}: {text}\n" for name, text in said if text)


def size(table: Table) -> str:
    """The artefact: minus degree ranks about as well as the paper's score."""

    def say(dataset: str) -> str:
        found = [cell(table, row, dataset) for row in ("rec", "-degree", "ego-norm")]
        if not all(found):
            return ""
        rec, degree, norm = found
        return (
            f"Rec {rec.mean:.1f}, minus degree {degree.mean:.1f}, the norm of the ego-graph's "
            f"features divided by N·F {norm.mean:.1f}; Rec's rank correlation with the size of the "
            f"ego-graph is {rec.size_correlation:+.2f}."
        )

    return each(table, say)


def untrained(table: Table) -> str:
    """What training adds."""
    lines = []
    for dataset in table.datasets:
        for row, (title, _, _) in OURS.items():
            after, before = cell(table, row, dataset), cell(table, f"{row}-untrained", dataset)
            if after and before:
                lines.append(
                    f"- {display_name(dataset)}, {title}: {after.mean:.1f} ± {after.std:.1f} "
                    f"trained, {before.mean:.1f} ± {before.std:.1f} untrained."
                )
    return "\n".join(lines) + "\n"


def forest(table: Table) -> str:
    """The published isolation forest, and ours turned upside down."""

    def say(dataset: str) -> str:
        mine, known = cell(table, "if", dataset), table.published("if", dataset)
        if not mine or not known or known.failure:
            return ""
        return (
            f"measured {mine.mean:.1f}, which upside down is {100 - mine.mean:.1f}; published "
            f"{known.mean:.1f} ± {known.std:.1f}."
        )

    return each(table, say)


def best(table: Table) -> str:
    """The best row of every network, and the best trivial one."""
    lines = []
    for dataset in table.datasets:
        known = [(c.mean, row) for (row, d), c in table.cells.items() if d == dataset and c.known]
        trivial = [pair for pair in known if methods()[pair[1]].group == "trivial"]
        others = [pair for pair in known if methods()[pair[1]].group != "trivial"]
        if not others:
            continue
        (first, row), (least, floor) = max(others), max(trivial)
        spread = table.results.facts[dataset].by_chance(table.metric).std
        lines.append(
            f"- {display_name(dataset)}: the best method is {methods()[row].title} ({first:.1f}), "
            f"the best trivial score {methods()[floor].title} ({least:.1f}); a random score "
            f"spreads by {spread:.1f}."
        )
    return "\n".join(lines) + "\n"


def disney(table: Table) -> str:
    """The two rows of which it was said that they are exchanged."""
    found = [cell(table, row, "disney") for row in ("rec", "rec-unweighted")]
    known = [table.published(row, "disney") for row in ("rec", "rec-unweighted")]
    if not all(found):
        return ""
    measured, published = (
        " and unweighted ".join(f"{one.mean:.1f} ± {one.std:.1f}" for one in both)
        for both in (found, known)
    )
    weighted = found[0].mean > found[1].mean
    order = "in the same order" if weighted == (known[0].mean > known[1].mean) else "swapped"
    return (
        f"## Disney's Rec rows\n\nPublished: Rec {published}. Measured: Rec {measured}: {order}, "
        "but the difference is small beside the spread.\n"
    )


def too_far(table: Table) -> str:
    """Where the explanation stands, if there is something to explain."""
    missed = []
    for dataset in table.datasets:
        mine, known = cell(table, "energy", dataset), table.published("energy", dataset)
        if mine and known and not known.failure and abs(mine.mean - known.mean) > known.std:
            missed.append(display_name(dataset))
    if not missed:
        return ""
    link = "[A step too far](paper.md#a-step-too-far)"
    return f"Why Energy on {' and '.join(missed)} does not: {link}.\n"


def failures(table: Table) -> list[str]:
    """What TLE and OOM mean here and in the paper, if a table has any."""
    told = filter(None, [limits(table.results), published_limits(table)])
    return [f"{text}\n" for text in [" ".join(told)] if text]


def page(results: Results) -> str:
    """The whole text."""
    tables = [Table.of(results, m) for m in ("roc_auc", "average_precision", "recall_at_k")]
    auc = tables[0]
    return "\n".join(
        [
            INTRODUCTION,
            "## What reproduces\n",
            compared(auc),
            too_far(auc),
            "With that step (`em-overshoot`):\n",
            compared(auc, "@em-overshoot"),
            "With that step and with hidden size 32 in every trial, as an implementation has it "
            "that draws one but does not use it (rows `…-published`, probably what was "
            "published):\n",
            compared(auc, "-published"),
            "## What the score is made of\n",
            "The distances are divided by N² and N·F, so the score mostly follows the size of the "
            "ego-graph, which needs no model:\n",
            size(auc),
            "What training adds:\n",
            untrained(auc),
            disney(auc),
            "## Isolation forests upside down\n",
            "scikit-learn's `decision_function` is high for normal points; BOND's script takes it "
            "for an outlier score:\n",
            forest(auc),
            "(On Enron neither agrees, nor does LOF: the features of that file may not be those "
            "that BOND used.)\n",
            "## What is best\n",
            best(auc),
            "## Tables\n",
            *failures(auc),
            *map(markdown, tables),
            cost_markdown(results),
            defects_markdown(results),
        ]
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=KEPT)
    parser.add_argument("--smoke", action="store_true", help="print the page, write nothing")
    options = parser.parse_args()
    results = Results.open(options.folder)
    if not results.records:
        sys.exit(f"There are no results in {options.folder}.")
    if options.smoke:
        print(page(results))
        return
    PAGE.write_text(page(results), encoding="utf-8")
    print(f"Written to {PAGE}.")


if __name__ == "__main__":
    main()
