"""What verdicts taught and what to review next, on the console and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from egoscore.notes import Note
from egoscore.report.console import make_console, say
from egoscore.report.notes import render
from egoscore.report.verdict_notes import contribution_phrase
from egoscore.text import numeral, printable

if TYPE_CHECKING:
    from egoscore.detector import EgoScore
    from egoscore.review.lessons import Contribution
    from egoscore.review.verdicts import Verdict


@dataclass(frozen=True)
class Suggestion:
    """A node to review next.

    Attributes: `node` its id; `name`, None for the id; `rank` and `score` without and with the
    verdicts; `reason` why it scores high without them; `changes` what they added or took.
    """

    node: str
    name: str | None
    rank: int
    updated_rank: int
    score: float
    updated_score: float
    reason: str
    changes: tuple[Contribution, ...]


def suggestions(detector: EgoScore, count: int) -> list[Suggestion]:
    """The nodes to review next, with reasons."""
    ids = detector.suggest(count)
    columns, rows = detector.review_columns(), detector.rows_of(ids)
    found = []
    for node, why in zip(ids, detector.explain_all(ids), strict=True):
        updated = {name: values[rows[node]].item() for name, values in columns.items()}
        found.append(
            Suggestion(
                node=why.node,
                name=why.name,
                rank=why.rank,
                updated_rank=updated["updated_rank"],
                score=why.score,
                updated_score=updated["updated_score"],
                reason=why.reason,
                changes=tuple(detector.explain_update(node)),
            )
        )
    return found


def review_record(
    verdicts: Sequence[Verdict],
    undone: Sequence[Verdict],
    notes: Sequence[Note],
    found: Sequence[Suggestion],
) -> str:
    """One JSON object: verdicts, what was taken back, what was learned, what to review next."""
    record = {
        "verdicts": [asdict(one) for one in verdicts],
        "undone": [asdict(one) for one in undone],
        "lessons": [render(note) for note in notes],
        "codes": [asdict(note) for note in notes],
        "next": [asdict(one) for one in found],
    }
    return json.dumps(record)


def show_review(
    undone: Sequence[Verdict], notes: Sequence[Note], found: Sequence[Suggestion]
) -> None:
    """Print the same for people."""
    console = make_console()
    if undone:
        nodes = ", ".join(printable(one.node) for one in undone)
        say(console, f"Taken back: the verdicts on {nodes}.")
    for note in notes:
        say(console, render(note), "yellow" if note.severity == "warning" else "")
    if not found:
        return
    table = Table(title="Review next", title_justify="left")
    for name, justify in (("node", "left"), ("rank", "right"), ("was", "right")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("score", justify="right")
    table.add_column("why", overflow="fold")
    table.add_column("what the verdicts changed", overflow="fold")
    for one in found:
        changes = ", ".join(contribution_phrase(**asdict(change)) for change in one.changes)
        cells = (printable(one.name or one.node), f"{one.updated_rank:,}", f"{one.rank:,}")
        rest = (numeral(one.updated_score), printable(one.reason), printable(changes))
        table.add_row(*map(Text, (*cells, *rest)))
    console.print(table)
