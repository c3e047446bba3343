"""An explanation on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from egoscore.explain.explanation import Deviation, Explanation, Tie
from egoscore.tell.console import make_console, say
from egoscore.tell.words import counted, printable

_MUCH = 2.0  # usual errors: less is not worth a mark


def show_explanation(found: Explanation) -> None:
    """The sentence first, then what it rests on."""
    console = make_console()
    say(console, printable(found.summary))
    flag = "above" if found.flag else "not above"
    say(
        console,
        f"Score {found.score:.4g}, {flag} the threshold; more than {found.percentile:.1f}% of "
        f"the nodes; {counted(found.ego_size, 'node')} in its ego-graph; energy "
        f"{found.energy_before:.3g}, {found.energy_after:.3g} as expected.",
    )
    console.print(_deviations("Features", found.features))
    if found.structure:
        console.print(_deviations("Place in the network", found.structure))
    for title, ties in (("Ties that surprise", found.surprising), ("Expected", found.expected)):
        if ties:
            say(console, f"{title}: {_listed(ties)}.")
    console.print(_components(found))


def _deviations(title: str, deviations: Sequence[Deviation]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(title.lower(), overflow="fold")
    for name in ("observed", "expected", "off by"):
        table.add_column(name, justify="right", overflow="fold")
    for one in deviations:
        off = f"{one.size:+.1f} usual errors"
        style = "bold" if abs(one.size) >= _MUCH else ""
        cells = (printable(one.name), printable(one.observed), printable(one.expected), off)
        table.add_row(*(Text(cell) for cell in cells), style=style)
    return table


def _listed(ties: Sequence[Tie]) -> str:
    return ", ".join(
        f"{printable(tie.node)} ({tie.surprise:+.1f}{'' if tie.present else ', not there'})"
        for tie in ties
    )


def _components(found: Explanation) -> Table:
    table = Table(title=f"Among {found.compared_with}", title_justify="left")
    table.add_column("component")
    table.add_column("value", justify="right")
    table.add_column("higher than", justify="right")
    for one in found.components:
        table.add_row(one.name.replace("_", " "), f"{one.value:.4g}", f"{one.percentile:.1f}%")
    return table
