"""One statement about how far a list can be trusted."""

from __future__ import annotations

import pytest

from egoscore.notes import Note
from egoscore.report.notes import render
from egoscore.report.reliability import reliability

STABLE = Note.info("ranking-stable", kept=9, top=10, dropped=0.1)
AGREEMENT = Note.info("agreement-of-questions", found=9, expected=2.0, nodes=400, usual=4.0,
                      questions=["features", "position"])  # fmt: skip
FEW = Note.warning("few-nodes", nodes=100)
EQUAL = Note.warning("all-scores-equal")
READING = Note.warning("no-edges", self_loops=0)


@pytest.mark.parametrize(
    ("caveats", "reading", "level", "because"),
    [
        ((AGREEMENT, STABLE), (), "good", ["agreement-of-questions", "ranking-stable"]),
        ((), (), "limited", ["reliability-not-measured"]),
        ((STABLE, FEW), (), "limited", ["few-nodes"]),
        ((STABLE,), (READING,), "limited", ["no-edges"]),
        ((FEW, EQUAL), (READING,), "poor", ["all-scores-equal", "few-nodes", "no-edges"]),
    ],
)
def test_the_level_follows_from_the_warnings(caveats, reading, level, because):
    found = reliability(caveats, reading)
    assert found.code == "reliability"
    assert (found.severity == "warning") == (level != "good")
    assert found.fields["level"] == level
    assert [note["code"] for note in found.fields["because"]] == because
    text = render(found)
    assert text.startswith(f"Reliability: {level}.")
    others = len(because) - 1 if level != "good" else 0
    assert (f"{others} more warning" in text) == (others > 0)
