"""The command `review`, and a session of several processes."""

import json
import sys

import pytest
from run.samples import ORIGIN, QUICK_DEFAULT

from egoscore import EgoScore, generate_network
from egoscore.cli import main
from egoscore.detect import detect
from egoscore.review.session import ReviewSession
from egoscore.review.store import VerdictStore
from egoscore.run.directory import SCORES_FILE

GRAPH = generate_network(60, 150, 3, outlier_fraction=0.1)


@pytest.fixture
def run(tmp_path):
    detect(GRAPH, ORIGIN, EgoScore(**QUICK_DEFAULT), tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def review(run, monkeypatch, capsys):
    """Runs the command: exit code, output, errors; the output parsed if it is JSON."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["egoscore", "review", str(run), *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        output, errors = capsys.readouterr()
        parsed = json.loads(output) if "--json" in arguments and output else output
        return ended.value.code, parsed, errors

    return call


def test_verdicts_are_kept_and_learned_from(review, run):
    code, first, _ = review("--next", 3, "--json")
    assert code == 0
    nodes = [one["node"] for one in first["next"]]
    assert [one["updated_rank"] for one in first["next"]] == [1, 2, 3]
    given = ("--abnormal", nodes[0], "--normal", ",".join(nodes[1:]))
    before = (run / SCORES_FILE).read_bytes()
    code, found, _ = review(*given, "--note", "seen", "--author", "Alder", "--json")
    assert code == 0
    assert {one["node"]: one["kind"] for one in found["verdicts"]} == {
        nodes[0]: "abnormal", nodes[1]: "normal", nodes[2]: "normal",
    }  # fmt: skip
    assert {(one["note"], one["author"]) for one in found["verdicts"]} == {("seen", "Alder")}
    assert not set(nodes) & {one["node"] for one in found["next"]}
    assert len(found["next"]) == 10
    assert found["next"][0]["changes"]
    assert "verdicts-few" in [note["code"] for note in found["codes"]]
    assert (run / SCORES_FILE).read_bytes() == before
    code, shown, _ = review("--undo", "--next", 2)
    assert code == 0
    assert "Taken back" in shown
    assert VerdictStore.of_run(run).current() == []


def test_files_and_other_runs(review, run, tmp_path):
    (tmp_path / "v.csv").write_text("id;label\n0;1\n1;0\nnobody;1\n")
    code, found, _ = review("--from", tmp_path / "v.csv", "--json")
    assert code == 0
    assert len(found["verdicts"]) == 2
    assert {"count": 1} in [n["fields"] for n in found["codes"] if n["code"] == "verdicts-skipped"]
    assert review("--export", tmp_path / "out.csv", "--next", 0)[0] == 0
    assert (tmp_path / "out.csv").read_text().startswith("node,verdict,note,author,time\n0,abn")
    other = tmp_path / "other"
    VerdictStore.of_run(run).path.replace(tmp_path / "moved")
    other.mkdir()
    (tmp_path / "moved").replace(VerdictStore.of_run(other).path)
    assert len(review("--from", other, "--json")[1]["verdicts"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--json",), "--json, --note and --author go with"),
        (("--abnormal", "nobody"), "no node 'nobody'"),
        (("--abnormal", "1", "--normal", "2,1"), "both abnormal and normal"),
        (("--undo",), "no verdict to take back"),
        (("--from", "/nowhere.csv"), "Cannot read"),
        (("--export", "/nowhere/out.csv"), "Cannot write"),
        (("--next", "-1"), "--next must be"),
    ],
)
def test_errors_are_one_sentence(review, run, arguments, said):
    code, _, errors = review(*arguments)
    assert code == 2
    assert said in errors
    assert errors.count("\n") == 1
    assert VerdictStore.of_run(run).current() == []


def test_a_session_sees_verdicts_of_others_and_keeps_what_it_learned(run):
    detector = EgoScore.load(run)
    session = ReviewSession(detector, GRAPH, VerdictStore.of_run(run))
    assert session.taught is session.taught
    session.say({"3": "abnormal"})
    assert session.taught.verdicts_ == {3: "abnormal"}
    other = ReviewSession(detector, GRAPH, VerdictStore.of_run(run))
    other.say({"4": "normal"}, "note", "Bo")
    assert len(session.taught.verdicts_) == 2
    assert session.notes[0].fields == {"abnormal": 1, "normal": 1, "unsure": 0}


def test_verdicts_survive_another_detection(review, run):
    assert review("--abnormal", "3")[0] == 0
    detect(GRAPH, ORIGIN, EgoScore(**QUICK_DEFAULT), run)
    assert [one.node for one in VerdictStore.of_run(run).current()] == ["3"]
