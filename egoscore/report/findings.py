"""The findings of a run besides the ranking, stored in findings.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from egoscore.detectors.base import Losses
from egoscore.errors import RunError, VersionError
from egoscore.explain.explanation import Explanation
from egoscore.notes import Note
from egoscore.report.reliability import reliability

FORMAT_VERSION = 3  # of findings.json; a change of its fields, or of those of notes, raises it


@dataclass(frozen=True)
class Findings:
    """What a report says besides the scores.

    Attributes: `threshold`, the score above which nodes are flagged, and `num_flagged` of them;
    `rule`, how the threshold was chosen; `caveats` on how reliable the ranking is; `notes` on how
    the data were read and what was left out; `losses` of training, a row per step shown and a
    column per curve, with the names of the curves (none if they are interchangeable), the name of
    a `step` and the number of all steps; `answers` by question and `explanations` of the nodes
    that rank highest.
    """

    threshold: float
    num_flagged: int
    rule: Note
    caveats: tuple[Note, ...]
    notes: tuple[Note, ...]
    losses: tuple[tuple[float, ...], ...]
    loss_names: tuple[str, ...]
    step: str
    num_steps: int
    answers: tuple[dict[str, float], ...]
    explanations: tuple[Explanation, ...]

    def to_json(self) -> str:
        """All fields as JSON, and the version of this format."""
        return json.dumps({"format_version": FORMAT_VERSION} | asdict(self))

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """The findings that `to_json` wrote, parsed."""
        found = record.get("format_version")
        if found != FORMAT_VERSION:
            raise VersionError("The file findings.json of this run", found, FORMAT_VERSION)
        record = {name: value for name, value in record.items() if name != "format_version"}
        try:
            parts = {
                "rule": Note(**record["rule"]),
                "caveats": tuple(Note(**note) for note in record["caveats"]),
                "notes": tuple(Note(**note) for note in record["notes"]),
                "losses": tuple(tuple(map(float, row)) for row in record["losses"]),
                "loss_names": tuple(record["loss_names"]),
                "answers": tuple(record["answers"]),
                "explanations": tuple(map(Explanation.from_dict, record["explanations"])),
            }
            return cls(**(record | parts))
        except (KeyError, TypeError, ValueError) as error:
            raise RunError("The findings are incomplete.") from error

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of the questions that a score answers."""
        return tuple(self.answers[0]) if self.answers else ()

    @property
    def reliability(self) -> Note:
        """How far the list can be trusted."""
        return reliability(self.caveats, self.notes)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """The caveats and notes that the user should act on."""
        both = (*self.caveats, *self.notes)
        return tuple(note for note in both if note.severity == "warning")


def losses_shown(losses: Losses, most: int = 600) -> list[int]:
    """The training steps to keep: all, or `most` of them, evenly spaced."""
    count = len(losses.values)
    if count <= most:
        return list(range(count))
    return sorted({round(step * (count - 1) / (most - 1)) for step in range(most)})
