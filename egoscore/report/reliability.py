"""How far a list can be trusted, in one statement with three levels.

Rules, all without labels: a list is *poor* if it may be chance, if most of it changes with another
seed and a tenth fewer edges, or if there is hardly anything to learn from; *limited* if anything
else speaks against it, or if nothing could be measured that speaks for it; otherwise *good*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from egoscore.notes import Note

_POOR = ("too-few-nodes", "all-scores-equal", "list-may-be-chance", "ranking-unstable")
_EVIDENCE = ("ranking-stable", "agreement-of-questions")


def reliability(caveats: Sequence[Note], reading: Sequence[Note]) -> Note:
    """The level, and the notes it follows from: all warnings, or else what supports the list."""
    warnings = [note for note in (*caveats, *reading) if note.severity == "warning"]
    warnings.sort(key=lambda note: note.code not in _POOR)
    if not warnings:
        evidence = [asdict(note) for note in caveats if note.code in _EVIDENCE]
        if evidence:
            return Note.info("reliability", level="good", because=evidence)
        warnings = [Note.warning("reliability-not-measured")]
    level = "poor" if warnings[0].code in _POOR else "limited"
    return Note.warning("reliability", level=level, because=[asdict(note) for note in warnings])
