"""What the command line prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from egoscore.tell.words import accuracy, meaning, printable, summary

if TYPE_CHECKING:
    from egoscore.detect import Detection
    from egoscore.graph import AttributedGraph
    from egoscore.graph.datasets import DatasetEntry

_WIDE = 200  # when the output is not a terminal, lines are not broken to fit one


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def show_network(graph: AttributedGraph, source: str) -> None:
    """Say what was loaded, and what was left out of it."""
    for line in summary(graph, source):
        _console().print(Text(line))


def show_detection(found: Detection, top: int) -> None:
    """The most abnormal nodes, how well known outliers were found, and where the rest is."""
    console = _console()
    if top:
        console.print(_top_table(found, top))
    console.print(Text(meaning(found.detector.preset, found.ranking.num_rows)))
    for remark in found.remarks:
        console.print(Text(remark))
    if found.evaluation is not None:
        console.print(Text(accuracy(found.evaluation, found.ranking.num_rows)))
    console.print(
        Text(
            f"Written to {printable(found.path)}: scores.parquet, report.html, "
            "model.safetensors, config.json."
        )
    )


def _top_table(found: Detection, top: int) -> Table:
    rows = found.ranking.slice(0, top).to_pylist()
    table = Table(title=f"Most abnormal {len(rows)} of {found.ranking.num_rows} nodes")
    extra = [name for name in ("known_label", "kind") if name in found.ranking.column_names]
    table.add_column("rank", justify="right")
    table.add_column("node", overflow="fold")
    for name in ("score", "percentile", "flag", "ego size"):
        table.add_column(name, justify="right")
    for name in extra:
        table.add_column(name.removesuffix("_label"), overflow="fold")
    for row in rows:
        table.add_row(*_cells(row, extra))
    return table


def _cells(row: dict[str, Any], extra: Sequence[str]) -> list[Text]:
    cells = [
        str(row["rank"]),
        printable(row["node"]),
        f"{row['score']:.4g}",
        f"{row['percentile']:.1f}",
        "yes" if row["label"] else "",
        str(row["ego_size"]),
    ]
    return [Text(cell) for cell in [*cells, *(printable(row[name]) for name in extra)]]


def show_datasets(entries: Sequence[DatasetEntry]) -> None:
    """Every data set with its source."""
    table = Table()
    for name in ("name", "what it is", "edges", "here", "from"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        kind = "directed" if entry.directed else "undirected"
        here = "yes" if entry.available else "no"
        table.add_row(*map(Text, (entry.name, entry.about, kind, here, printable(entry.where))))
    _console().print(table)
