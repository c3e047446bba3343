"""What a run found: whole after the disk, and refused in one sentence if it is not whole."""

import json
from dataclasses import replace

import pytest
from tell.samples import config, findings

from egoscore.errors import RunError
from egoscore.explain.explanation import Explanation
from egoscore.tell.findings import FILE, Findings


def kept(found, folder):
    (folder / FILE).write_text(found.to_json(), encoding="utf-8")
    return Findings.read(folder)


def test_it_comes_back_as_it_was(tmp_path):
    found = findings()
    again = kept(found, tmp_path)
    assert again == found
    assert all(type(one) is Explanation for one in again.explanations)


@pytest.mark.parametrize("part", ["remarks", "notes", "losses", "explanations"])
def test_also_where_there_is_nothing_to_say(tmp_path, part):
    found = replace(findings(explained=2), **{part: ()})
    assert kept(found, tmp_path) == found


@pytest.mark.parametrize("text", ["漢字", "\ud800", "\x1b[31m", "</script>", 'say "hi"', "\u2028"])
def test_whatever_text_it_holds(tmp_path, text):
    """Half a character, too: a name of a node may be anything."""
    found = findings(explained=1)
    why = replace(found.explanations[0], node=text, summary=text)
    found = replace(found, remarks=(text,), notes=(text,), explanations=(why,))
    assert kept(found, tmp_path) == found


def test_it_is_json_that_others_can_read():
    record = json.loads(findings(explained=1).to_json())
    assert record["num_flagged"] == findings().num_flagged
    assert record["explanations"][0]["features"][0]["name"] == "monthly income"


def test_where_there_is_none_what_to_do_is_said(tmp_path):
    with pytest.raises(RunError, match=r"holds no finished run .* run `egoscore detect`"):
        Findings.read(tmp_path)
    with pytest.raises(RunError, match="holds no finished run"):
        Findings.read(tmp_path / "nowhere")


def test_a_run_that_is_not_finished_is_to_be_finished(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(config()))
    with pytest.raises(RunError, match=r"no finished run .* the same `egoscore detect` command"):
        Findings.read(tmp_path)


def without(record, name):
    return {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: "null",
        lambda text: json.dumps(without(json.loads(text), "threshold")),
        lambda text: json.dumps(without(json.loads(text), "explanations")),
        lambda text: json.dumps(json.loads(text) | {"losses": [["x"]]}),
        lambda text: json.dumps(json.loads(text) | {"more": 1}),
        lambda text: json.dumps(json.loads(text) | {"explanations": [{"node": "a"}]}),
    ],
)
def test_a_damaged_one_is_told_in_one_sentence(tmp_path, spoil):
    (tmp_path / FILE).write_text(spoil(findings(explained=1).to_json()), encoding="utf-8")
    with pytest.raises(RunError, match="is damaged; give the `egoscore detect` command") as caught:
        Findings.read(tmp_path)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_told_too(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RunError, match="is damaged"):
        Findings.read(tmp_path)
