"""Findings: unchanged by a round trip through findings.json, refused if they are incomplete."""

import json
from dataclasses import replace

import numpy as np
import pytest
from report.samples import findings

from egoscore.detectors.base import Losses
from egoscore.errors import RunError, VersionError
from egoscore.explain.explanation import Explanation
from egoscore.notes import Note
from egoscore.report.findings import FORMAT_VERSION, Findings, losses_shown


def round_trip(found):
    return Findings.from_json(json.loads(found.to_json()))


def test_a_round_trip_changes_nothing():
    found = findings()
    again = round_trip(found)
    assert again == found
    assert all(type(one) is Explanation for one in again.explanations)
    assert all(type(note) is Note for note in (again.rule, *again.caveats, *again.notes))


@pytest.mark.parametrize(
    "part", ["caveats", "notes", "losses", "loss_names", "answers", "explanations"]
)
def test_every_list_may_be_empty(part):
    found = replace(findings(explained=2), **{part: ()})
    assert round_trip(found) == found


@pytest.mark.parametrize("text", ["漢字", "\ud800", "\x1b[31m", "</script>", 'say "hi"', "\u2028"])
def test_any_text_survives(text):
    found = findings(explained=1)
    why = replace(found.explanations[0], node=text, summary=text)
    note = Note.info("labels", table=text, column=text)
    found = replace(found, caveats=(note,), notes=(note,), explanations=(why,))
    assert round_trip(found) == found


def test_the_json_has_plain_names():
    record = json.loads(findings(explained=1).to_json())
    assert record["num_flagged"] == findings().num_flagged
    assert record["explanations"][0]["features"][0]["name"] == "monthly income"
    assert record["caveats"][2] == {
        "code": "follows-trivial",
        "severity": "warning",
        "fields": {"quantity": "degree", "correlation": 0.61},
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": None},
        {"explanations": None},
        {"losses": [["x"]]},
        {"explanations": [{"node": "a"}]},
        {"rule": "Scores above 1 are flagged."},  # as version 0.5 had it
        {"more": 1},
    ],
)
def test_incomplete_findings_are_refused(changes):
    record = json.loads(findings(explained=1).to_json()) | changes
    kept = {name: value for name, value in record.items() if value is not None}
    with pytest.raises(RunError) as refused:
        Findings.from_json(kept)
    assert not isinstance(refused.value, VersionError)


@pytest.mark.parametrize("version", [None, 0, FORMAT_VERSION - 1, FORMAT_VERSION + 1, "1"])
def test_findings_of_another_version_are_refused_as_such(version):
    record = json.loads(findings().to_json()) | {"format_version": version}
    with pytest.raises(VersionError):
        Findings.from_json(record)
    del record["format_version"]  # as before versions were written
    with pytest.raises(VersionError):
        Findings.from_json(record)


def test_warnings_are_the_caveats_and_then_the_notes_to_act_on():
    damaged = Note.warning("column-damaged", table="nodes.csv", column="age")
    found = findings()
    assert [note.code for note in found.warnings] == ["follows-trivial"]
    found = replace(found, notes=(damaged, *found.notes))
    assert [note.code for note in found.warnings] == ["follows-trivial", "column-damaged"]


def test_questions_are_those_of_the_answers():
    assert findings().questions == ("features", "similarity", "position")
    assert replace(findings(), answers=()).questions == ()


@pytest.mark.parametrize("steps", [0, 1, 599, 600, 601, 2000])
def test_at_most_600_losses_are_kept_and_the_ends_are_among_them(steps):
    shown = losses_shown(Losses(np.zeros((steps, 3))))
    assert len(shown) == min(steps, 600)
    assert shown == sorted(set(shown))
    assert not steps or (shown[0], shown[-1]) == (0, steps - 1)
