"""An explanation on the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from egoscore.explain.explanation import Deviation, Explanation, Tie
from egoscore.explain.features import far_off
from egoscore.numerals import counted, numeral
from egoscore.printable import printable
from egoscore.tell.brief import brief
from egoscore.tell.console import make_console, say

_LONGEST = 120  # letters of a name
_WIDEST = 80  # columns of a table, also where lines are not broken to fit a terminal


def show_explanation(found: Explanation) -> None:
    """The sentence first, then what it rests on."""
    console = make_console()
    say(console, printable(found.summary))
    flag = "above" if found.flag else "not above"
    lower = math.floor(10 * found.percentile) / 10  # never all of them
    say(
        console,
        f"Score {numeral(found.score)}, {flag} the threshold; more than {lower:.1f}% of "
        f"the nodes; {counted(found.ego_size, 'node')} in its ego-graph; energy "
        f"{numeral(found.energy_before, 3)}, expected {numeral(found.energy_after, 3)}.",
    )
    width = min(console.width, _WIDEST)
    for title, deviations in (
        ("Features", found.features),
        ("Place in the network", found.structure),
    ):
        if deviations:
            console.print(_deviations(title, deviations), width=width)
    for title, ties in {
        "Ties that surprise (the higher the more)": found.surprising,
        "Ties that fit (the lower the better)": [tie for tie in found.expected if tie.present],
        "Ties that are missed": [
            tie for tie in found.expected if not tie.present and tie.surprise > 0
        ],
    }.items():
        if ties:
            say(console, f"{title}: {_listed(ties)}.")
    say(console, printable(f"Among {found.compared_with}:"))
    console.print(_components(found), width=width)


def _deviations(title: str, deviations: Sequence[Deviation]) -> Table:
    about = f"{title} (how far off: in usual errors)"
    table = Table(title=about, title_justify="left")
    table.add_column("quantity", overflow="fold")
    for name in ("observed", "expected", "off by"):
        table.add_column(name, justify="right", overflow="fold")
    for one in deviations:
        style = "bold" if far_off([one]) else ""
        words = (brief(text, _LONGEST) for text in (one.name, one.observed, one.expected))
        cells = (*words, f"{round(one.size, 1) + 0.0:+.1f}")  # never minus zero
        table.add_row(*(Text(cell) for cell in cells), style=style)
    return table


def _listed(ties: Sequence[Tie]) -> str:
    return ", ".join(map(_shown, ties))


def _shown(tie: Tie) -> str:
    surprise = round(tie.surprise, 1) + 0.0  # never minus zero
    return f"{brief(tie.node, _LONGEST)} ({surprise:+.1f})"


def _components(found: Explanation) -> Table:
    table = Table()
    table.add_column("component")
    table.add_column("value", justify="right")
    table.add_column("higher than", justify="right")
    for one in found.components:
        table.add_row(one.name.replace("_", " "), numeral(one.value), f"{one.percentile:.1f}%")
    return table
