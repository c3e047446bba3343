"""What the command line prints."""

from __future__ import annotations

import resource
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from egoscore.numerals import counted
from egoscore.printable import printable
from egoscore.tell.brief import brief
from egoscore.tell.top_nodes import cause_in_short, top_rows
from egoscore.tell.words import accuracy, meaning, questions_in, summary

if TYPE_CHECKING:
    from egoscore.detect import Detection
    from egoscore.explain.explanation import Explanation
    from egoscore.graph import AttributedGraph
    from egoscore.graph.datasets import DatasetEntry

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes, or kilobytes
_WIDE = 200  # when the output is not a terminal, lines are not broken to fit one
_LONG_ID, _LEAST_ROOM, _ROOM, _BORDER = 24, 24, 48, 3  # letters
_MOST_LINES = 3  # of a reason


def make_console() -> Console:
    """A console that prints what it is given, as wide as the terminal if there is one."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def say(console: Console, sentence: str, style: str = "") -> None:
    """One sentence, which only a terminal breaks into lines."""
    console.print(Text(sentence), style=style, soft_wrap=not console.is_terminal)


def show_network(graph: AttributedGraph, source: str, notes: Sequence[str] = ()) -> None:
    """Say what was loaded, what was left out of it, and every decision on the way."""
    console = make_console()
    for line in summary(graph, source):
        say(console, line)
    for note in notes:
        say(console, f"- {printable(note)}", "dim")


def show_detection(found: Detection, top: int) -> None:
    """The most abnormal nodes, how well known outliers were found, and where the rest is."""
    console = make_console()
    if top:
        console.print(_top_table(found, top, console.width))
    asked = questions_in(found.ranking)
    say(console, meaning(found.detector.preset, found.graph.num_nodes, asked))
    say(console, f"{found.findings.rule} That is {found.findings.num_flagged:,} here.")
    for remark in found.findings.remarks:
        say(console, printable(remark))
    if found.evaluation is not None:
        say(console, accuracy(found.evaluation, found.ranking.num_rows))
    if top and found.findings.explanations:
        say(console, f"Why the first: {printable(found.findings.explanations[0].summary)}")
    say(
        console,
        f"Written to {printable(found.path)}: scores.csv, scores.parquet, report.html, "
        "findings.json, model.safetensors, config.json, network/.",
    )
    again = printable(shlex.join(["egoscore", "explain", str(found.path)]))
    say(console, f"Why another node: {again} NODE")


def show_detail(found: Detection, seconds: Mapping[str, float]) -> None:
    """Settings, time and memory, on standard error."""
    console = Console(stderr=True, highlight=False)
    settings = asdict(found.detector.settings())
    told = ", ".join(f"{name} {value}" for name, value in settings.items())
    console.print(Text(f"Settings: seed {found.detector.seed}, {told}."), style="dim")
    took = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / 1e6
    console.print(Text(f"Time: {took}. Memory at most {peak:,.0f} MB."), style="dim")


def _top_table(found: Detection, top: int, width: int) -> Table:
    rows = found.ranking.slice(0, top).to_pylist()
    extra = [name for name in ("known_label", "kind") if name in found.ranking.column_names]
    columns = {
        "rank": [f"{row['rank']:,}" for row in rows],
        "node": [printable(row["node"]) for row in rows],
        "score": [f"{row['score']:#.4g}" for row in rows],
        "flag": [_flag(row) for row in rows],
        "ego size": [f"{row['ego_size']:,}" for row in rows],
    }
    more = {name.removesuffix("_label"): [printable(row[name]) for row in rows] for name in extra}
    if width - _taken(columns | more) < _ROOM:
        del columns["ego size"]
    room = width - _taken(columns | more)
    whys = {row.rank: printable(row.cause) for row in top_rows(found.ranking)}
    whys |= {why.rank: _why(why, room) for why in found.findings.explanations}
    columns |= {"why": [whys.get(row["rank"], "") for row in rows]} | more
    of_all = counted(found.ranking.num_rows, "node")
    table = Table(title=f"Most abnormal {len(rows):,} of {of_all}")
    for name in columns:
        is_number = name in ("rank", "score", "flag", "ego size")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, cells))
    return table


def _flag(row: dict[str, Any]) -> str:
    return "marked" if row.get("significant") else "yes" if row["flag"] else ""


def _taken(columns: Mapping[str, Sequence[str]]) -> int:
    """The room that columns take with the borders of one more; long ids are folded."""
    widest = (max(map(cell_len, (name, *cells))) for name, cells in columns.items())
    return sum(min(width, _LONG_ID) + _BORDER for width in widest) + _BORDER + 1


def _why(why: Explanation, room: int) -> str:
    """The strongest cause in a few words, with the others if one line has room for them.

    It may take a few lines; of what is longer the middle is left out, as the end has the numbers.
    In little room causes are told by name.
    """
    if room < _LEAST_ROOM or not why.causes:
        return printable(", ".join(why.causes) or cause_in_short(why))
    others = f"; also {', '.join(why.causes[1:])}" if why.causes[1:] else ""
    first = cause_in_short(why)
    texts = [printable(text) for text in (first + others, first)]
    whole = next((text for text in texts if cell_len(text) <= room), None)
    return whole or brief(first, _MOST_LINES * room)


def show_datasets(entries: Sequence[DatasetEntry]) -> None:
    """Every data set with its source."""
    table = Table()
    for name in ("name", "what it is", "edges", "here", "from"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        kind = "directed" if entry.directed else "undirected"
        here = "yes" if entry.available else "no"
        table.add_row(*map(Text, (entry.name, entry.about, kind, here, printable(entry.where))))
    make_console().print(table)
