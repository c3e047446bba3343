"""The output of the command line: for people, and as JSON for programs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from egoscore.detectors import label_of, vocabulary_of
from egoscore.explain.deviations import far_off
from egoscore.explain.explanation import Deviation, Explanation, Tie
from egoscore.ranking import NAME, has_names
from egoscore.report.notes import render
from egoscore.report.sentences import accuracy, flagged, no_accuracy, summary
from egoscore.report.top_nodes import (
    component_label,
    other_components,
    parts_of,
    reason_in_short,
    top_rows,
)
from egoscore.run.directory import REPORT_FILE
from egoscore.text import brief, counted, numeral, percent, printable

if TYPE_CHECKING:
    from egoscore.detect import Detection
    from egoscore.detectors.base import Vocabulary
    from egoscore.graph import AttributedGraph
    from egoscore.load.datasets import DatasetEntry
    from egoscore.notes import Note

_WIDE = 200  # columns if the output is not a terminal, unless the variable COLUMNS says otherwise
_LONG_ID, _LEAST_ROOM, _ROOM, _BORDER = 24, 24, 48, 3  # columns
_MOST_LINES = 3  # of a reason
_LONGEST = 120  # characters of a name
_WIDEST = 80  # columns of a table about one node, also outside a terminal
_SHOWN = ("score", "rank", "percentile", "p_value", "flag", "significant", "ego_size")


def make_console(stderr: bool = False) -> Console:
    """A console without highlighting, as wide as the terminal, or as the variable COLUMNS says."""
    console = Console(highlight=False, stderr=stderr)
    if console.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return console
    return Console(highlight=False, stderr=stderr, width=_WIDE)


def say(console: Console, sentence: str, style: str = "") -> None:
    """Print one sentence; it is only wrapped on a terminal."""
    console.print(Text(printable(sentence)), style=style, soft_wrap=not console.is_terminal)


def show_graph(graph: AttributedGraph, source: str, notes: Sequence[Note] = ()) -> None:
    """Print the size of a graph and the notes on reading it to standard error."""
    console = make_console(stderr=True)
    say(console, summary(graph, source))
    for note in notes:
        say(console, f"- {render(note)}", "dim")


def show_detection(found: Detection, top: int) -> None:
    """Print the table of the most abnormal nodes, then at most five lines."""
    console = make_console()
    if top:
        console.print(_top_table(found, top, console.width))
    say(console, _flagged(found))
    say(console, render(found.findings.reliability))
    if found.evaluation is not None:
        say(console, accuracy(found.evaluation, found.ranking.num_rows))
    elif found.graph.labels is not None:
        say(console, no_accuracy(found.graph.labels))
    say(console, f"Report: {found.path / REPORT_FILE}{_notes_inside(found)}")
    command = shlex.join(["egoscore", "explain", str(found.path), str(found.ranking["node"][0])])
    say(console, f"Next: {command}")


def _flagged(found: Detection) -> str:
    rule = found.findings.rule
    above = f"score above {numeral(found.findings.threshold)}"
    how = {
        "threshold-far-out": f"{above}, Tukey's rule",
        "threshold-significant": f"{above}, Tukey's rule lowered for significant nodes",
    }
    share = 100 * rule.fields.get("share", 0.0)
    text = how.get(rule.code, f"the highest {share:g}%, as requested")
    return f"{flagged(found.ranking, text)}."


def _notes_inside(found: Detection) -> str:
    count = len(found.findings.notes)
    return f" (with {counted(count, 'note')} on how the data were read)" if count else ""


def show_detail(found: Detection, seconds: Mapping[str, float]) -> None:
    """Print the meaning of a score, all caveats, settings, time and memory to standard error."""
    console = make_console(stderr=True)
    words = vocabulary_of(found.detector.preset)
    say(console, words.meaning(found.findings.questions, found.graph.num_nodes), "dim")
    for note in (found.findings.rule, *found.findings.caveats):
        say(console, f"- {render(note)}", "dim")
    if found.findings.explanations:
        say(console, f"First: {found.findings.explanations[0].summary}", "dim")
    settings = ", ".join(
        f"{name} {value}" for name, value in asdict(found.detector.settings()).items()
    )
    say(console, f"Settings: seed {found.detector.seed}, {settings}.", "dim")
    took = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    say(console, f"Time: {took}.{_peak_memory()}", "dim")


def _peak_memory() -> str:
    try:
        import resource
    except ImportError:  # Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes, or kilobytes
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return f" Peak memory {peak:,.0f} MB."


def _cell(value: Any) -> str:
    """A value of the user's; nothing where it is unknown."""
    return "" if value is None else printable(value)


def _top_table(found: Detection, top: int, width: int) -> Table:
    rows = found.ranking.slice(0, top).to_pylist()
    is_named = has_names(found.ranking)
    extra = [name for name in ("known_label", "kind") if name in found.ranking.column_names]
    columns = {
        "rank": [f"{row['rank']:,}" for row in rows],
        **({"name": [brief(row[NAME], _LONGEST) for row in rows]} if is_named else {}),
        "node": [printable(row["node"]) for row in rows],
        "score": [f"{row['score']:#.4g}" for row in rows],
        "flag": [_flag(row) for row in rows],
        "ego size": [f"{row['ego_size']:,}" for row in rows],
    }
    more = {name.removesuffix("_label"): [_cell(row[name]) for row in rows] for name in extra}
    for name in ("ego size", *(["node"] if is_named else [])):
        if width - _taken(columns | more) < _ROOM:
            del columns[name]
    room = width - _taken(columns | more)
    whys = {row.rank: printable(row.reason) for row in top_rows(found.ranking, found.findings, top)}
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
    return "significant" if row.get("significant") else "yes" if row["flag"] else ""


def _taken(columns: Mapping[str, Sequence[str]]) -> int:
    """The width of the columns and of the borders of one more; long ids are folded."""
    widest = (max(map(cell_len, (name, *cells))) for name, cells in columns.items())
    return sum(min(width, _LONG_ID) + _BORDER for width in widest) + _BORDER + 1


def _why(why: Explanation, room: int) -> str:
    """The main cause in a few words, and the other causes if they fit on the line.

    A text of more than a few lines loses its middle, as the numbers are at the end. In a narrow
    column, only the names of the causes.
    """
    if room < _LEAST_ROOM or not why.causes:
        return printable(", ".join(map(label_of, why.causes)) or reason_in_short(why))
    others = f" (also {', '.join(map(label_of, why.causes[1:]))})" if why.causes[1:] else ""
    first = reason_in_short(why)
    texts = [printable(text) for text in (first + others, first)]
    whole = next((text for text in texts if cell_len(text) <= room), None)
    return whole or brief(first, _MOST_LINES * room)


def show_datasets(entries: Sequence[DatasetEntry]) -> None:
    """Print every data set with its source."""
    table = Table()
    for name in ("name", "description", "edges", "available", "from"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        kind = "directed" if entry.directed else "undirected"
        here = "yes" if entry.available else "no"
        table.add_row(*map(Text, (entry.name, entry.about, kind, here, printable(entry.where))))
    make_console().print(table)


def show_explanation(found: Explanation, words: Vocabulary) -> None:
    """Print the summary, then the numbers behind it."""
    console = make_console()
    say(console, found.summary)
    flag = "above the threshold and" if found.flag else "not above the threshold, but"
    contrast = f" {words.contrasted(found)}" if found.ego_size > 1 else ""
    known_as = "" if found.name is None else f"Its id is {brief(found.node, _LONGEST)}. "
    say(
        console,
        f"{known_as}The score {numeral(found.score)} is {flag} higher than "
        f"{percent(found.percentile)}% of all scores. The ego-graph has "
        f"{counted(found.ego_size, 'node')}.{contrast}",
    )
    width = min(console.width, _WIDEST)
    for title, deviations in (
        ("Features", found.features),
        ("Position in the graph", found.structure),
    ):
        if deviations:
            console.print(_deviations(title, deviations), width=width)
    for title, ties in {
        "Unexpected edges (higher is more unexpected)": found.surprising,
        "Expected edges (lower is more expected)": [tie for tie in found.expected if tie.present],
        "Missing edges": [tie for tie in found.expected if not tie.present and tie.surprise > 0],
    }.items():
        if ties:
            say(console, f"{title}: {_listed(ties)}.")
    if found.questions:
        parts = parts_of(found.questions, found.num_nodes)
        answers = [(one.label, one.answer, one.percentile) for one in parts]
        say(console, f"Among {words.compared_with}:")
        console.print(_percentiles("question", answers), width=width)
    if components := other_components(found):
        measured = [(component_label(one), one.value, one.percentile) for one in components]
        say(console, f"Among {found.compared_with}:")
        console.print(_percentiles("component", measured), width=width)


def _deviations(title: str, deviations: Sequence[Deviation]) -> Table:
    about = f"{title} (deviation in usual errors)"
    table = Table(title=about, title_justify="left")
    table.add_column("quantity", overflow="fold")
    for name in ("actual", "expected", "deviation"):
        table.add_column(name, justify="right", overflow="fold")
    for one in deviations:
        style = "bold" if far_off([one]) else ""
        words = (brief(text, _LONGEST) for text in (one.name, one.observed, one.expected))
        cells = (*words, f"{round(one.size, 1) + 0.0:+.1f}")  # not minus zero
        table.add_row(*(Text(cell) for cell in cells), style=style)
    return table


def _listed(ties: Sequence[Tie]) -> str:
    return ", ".join(map(_shown, ties))


def _shown(tie: Tie) -> str:
    surprise = round(tie.surprise, 1) + 0.0  # not minus zero
    return f"{brief(tie.shown, _LONGEST)} ({surprise:+.1f})"


def _percentiles(kind: str, rows: Sequence[tuple[str, float, float]]) -> Table:
    table = Table()
    table.add_column(kind)
    table.add_column("value", justify="right")
    table.add_column("higher than", justify="right")
    for name, value, percentile in rows:
        table.add_row(Text(name), numeral(value), f"{percent(percentile)}%")
    return table


def detection_record(found: Detection, top: int) -> str:
    """One JSON object: graph, notes, threshold, caveats, evaluation and the highest nodes."""
    kept, graph = found.findings, found.graph
    words = vocabulary_of(found.detector.preset)
    record = {
        "run": str(found.path),
        "network": {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "directed": graph.directed,
            "dropped_self_loops": graph.dropped_self_loops,
            "dropped_duplicates": graph.dropped_duplicates,
        },
        "notes": [render(note) for note in kept.notes],
        "meaning": words.meaning(kept.questions, graph.num_nodes),
        "threshold": kept.threshold,
        "rule": render(kept.rule),
        "num_flagged": kept.num_flagged,
        "reliability": {
            "level": kept.reliability.fields["level"],
            "text": render(kept.reliability),
            "because": [note["code"] for note in kept.reliability.fields["because"]],
        },
        "remarks": [render(note) for note in kept.caveats],
        "codes": [asdict(note) for note in (*kept.notes, kept.rule, *kept.caveats)],
        "evaluation": found.evaluation and asdict(found.evaluation),
        "top": _highest(found, top),
    }
    return json.dumps(record)


def _highest(found: Detection, top: int) -> list[dict[str, Any]]:
    """The highest nodes; explained ones with causes, reason and summary."""
    known = ["node", *([NAME] if has_names(found.ranking) else [])]
    shown = [*known, *(name for name in _SHOWN if name in found.ranking.column_names)]
    rows: list[dict[str, Any]] = found.ranking.slice(0, top).select(shown).to_pylist()
    for row, why in zip(rows, found.findings.explanations, strict=False):
        row |= {"causes": why.causes, "reason": why.reason, "summary": why.summary}
    return rows
