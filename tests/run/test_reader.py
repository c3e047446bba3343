"""Reading a finished run: damage is reported with a remedy that works, bugs are not hidden."""

import json
import random
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from run.samples import ORIGIN, QUICK_DEFAULT, SMALL, drafts, files

from egoscore import EgoScore, generate_network
from egoscore.cli import main
from egoscore.detect import detect
from egoscore.errors import InputError, RunError, VersionError
from egoscore.ranking import id_column
from egoscore.report.html import write_report
from egoscore.run.files import load_tensors, lock_directory, save_json, save_tensors
from egoscore.run.graph_store import save_graph
from egoscore.run.reader import Run, needing, reading
from egoscore.run.tables import write_table

SAME_COMMAND = "run the same `egoscore detect` command again"
OTHER_DIRECTORY = "run `egoscore detect` again with another directory after --out"
FILES = {  # what each command reads
    "explain": (
        *("findings.json", "config.json", "model.safetensors"),
        *("network/nodes.parquet", "network/edges.parquet"),
    ),
    "report": ("findings.json", "config.json", "scores.parquet"),
}
CASES = [(command, name) for command, names in FILES.items() for name in names]


def make(path):
    return detect(SMALL, ORIGIN, EgoScore(**QUICK_DEFAULT), path).path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return make(tmp_path_factory.mktemp("reader") / "run")


@pytest.fixture
def run(finished, tmp_path):
    """A copy of a finished run."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs a command on a run: what it prints to standard error, empty if all went well."""

    def call(command, path):
        node = ["7"] if command == "explain" else []
        monkeypatch.setattr(sys, "argv", ["egoscore", command, str(path), *node])
        with pytest.raises(SystemExit) as ended:
            main()
        errors = capsys.readouterr().err
        assert bool(ended.value.code) == bool(errors)
        return errors

    return call


def read_all(path):
    """Everything that a run holds."""
    run = Run.open(path)
    detector = run.detector(EgoScore.load)
    return run.findings, run.config, run.ranking, run.graph.fingerprint(), detector.threshold_


def test_a_finished_run_is_read(finished):
    findings, config, ranking, fingerprint, threshold = read_all(finished)
    assert findings["threshold"] == threshold
    assert config["preset"] == "default"
    assert ranking.num_rows == 40
    assert fingerprint == SMALL.fingerprint()


def test_two_reports_written_at_the_same_time_do_not_collide(run):
    page = (run / "report.html").read_bytes()
    with ThreadPoolExecutor(2) as pool:
        written = list(pool.map(write_report, [run, run, run, run]))
    assert written == 4 * [run / "report.html"]
    assert (run / "report.html").read_bytes() == page
    assert not drafts(run)


@pytest.mark.parametrize("left", [[], ["config.json"], ["findings.json"]])
def test_a_directory_without_a_finished_run_is_refused(run, left):
    for name in files(run):
        if name not in left:
            (run / name).unlink()
    with pytest.raises(RunError, match="egoscore detect"):
        read_all(run)


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(RunError, match="nowhere holds no finished run"):
        Run.open(tmp_path / "nowhere")


class TestDamage:
    @pytest.mark.parametrize("how", ["missing", "half", "nested"])
    @pytest.mark.parametrize(("command", "name"), CASES)
    def test_the_remedy_in_the_message_works(self, call, run, tmp_path, command, name, how):
        whole = (run / name).read_bytes()
        (run / name).unlink()
        if how != "missing":
            content = whole[: len(whole) // 2] if how == "half" else b"[" * 200_000
            (run / name).write_bytes(content)
        message = call(command, run)
        assert message.count("\n") == 1
        assert str(run / name) in message or (name, how) == ("findings.json", "missing")
        if name == "config.json":
            assert OTHER_DIRECTORY in message
            with pytest.raises(RunError, match="choose another directory"):
                make(run)
            run = tmp_path / "other"
        else:
            assert SAME_COMMAND in message
        make(run)
        assert call(command, run) == ""

    @pytest.mark.parametrize(
        "name",
        [
            *("findings.json", "scores.parquet", "model.safetensors"),
            *("network/nodes.parquet", "network/edges.parquet"),
        ],
    )
    def test_a_changed_byte_is_reported_with_a_remedy_or_harmless(self, run, name):
        before = read_all(run)
        whole, draw = (run / name).read_bytes(), random.Random(name)
        for position in [*range(0, 40, 4), *draw.sample(range(len(whole)), 25)]:
            changed = bytearray(whole)
            changed[position] ^= draw.randrange(1, 256)
            (run / name).write_bytes(changed)
            try:
                found = read_all(run)
            except RunError as error:
                message = str(error)
                assert name in message
                assert SAME_COMMAND in message
            else:
                assert found == before, position

    @pytest.mark.parametrize(
        "changes",
        [
            {"rule": None},
            {"threshold": None},
            {"explanations": None},
            {"more": 1},
            {"rule": {"code": "x", "colour": "red"}},
            {"losses": [["x"]]},
            {"losses": 3},
            {"explanations": [{"node": "a"}]},
            {"explanations": ["a"]},
            {"caveats": [[]]},
        ],
    )
    def test_findings_with_missing_or_wrong_keys(self, run, changes):
        record = Run.open(run).findings | changes
        record = {name: value for name, value in record.items() if value is not None}
        save_json(run / "findings.json", json.dumps(record))
        with pytest.raises(RunError, match=SAME_COMMAND):
            write_report(run)

    @pytest.mark.parametrize("nested", ["[" * 200_000, '{"a":' * 200_000])
    def test_metadata_of_a_model_nested_too_deeply(self, run, nested):
        from safetensors.torch import load_file, save_file

        file = run / "model.safetensors"
        save_file(load_file(file), file, {"egoscore": nested, "checksum": ""})
        with pytest.raises(RunError, match=SAME_COMMAND):
            Run.open(run).detector(EgoScore.load)

    @pytest.mark.parametrize("changes", [{"num_nodes": 50}, {"num_features": 4}, {"seed": 3}])
    def test_the_graph_of_another_run(self, call, run, tmp_path, changes):
        sizes = {"num_nodes": 40, "num_edges": 100, "num_features": 3} | changes
        graph = generate_network(**sizes)
        save_graph(graph, id_column(graph.ids), run)
        message = call("explain", run)
        assert str(run / "network" / "edges.parquet") in message
        assert SAME_COMMAND in message

    @pytest.mark.parametrize("how", ["no rows", "other columns", "written by another program"])
    def test_a_table_that_is_not_a_ranking(self, call, run, how):
        file = run / "scores.parquet"
        table = pq.read_table(file)
        if how == "no rows":
            write_table(table.slice(0, 0), file)
        elif how == "other columns":
            write_table(table.drop_columns(["flag"]), file)
        else:
            pq.write_table(table, file)
        message = call("report", run)
        assert str(file) in message
        assert SAME_COMMAND in message

    @pytest.mark.parametrize("lost", ["settings", "fingerprint", "preset"])
    def test_an_incomplete_configuration(self, call, run, lost):
        config = json.loads((run / "config.json").read_text())
        del config[lost]
        (run / "config.json").write_text(json.dumps(config))
        assert OTHER_DIRECTORY in call("report", run)


class TestLock:
    """Nothing is read while `detect` replaces it."""

    @pytest.fixture
    def impatient(self, monkeypatch):
        monkeypatch.setattr("egoscore.run.reader._PATIENCE", 0.0)

    @pytest.mark.usefixtures("impatient")
    @pytest.mark.parametrize("command", FILES)
    def test_a_command_is_refused_meanwhile(self, call, run, command):
        with lock_directory(run):
            message = call(command, run)
        assert message.count("\n") == 1
        assert "Another process" in message
        assert call(command, run) == ""

    @pytest.mark.usefixtures("impatient")
    @pytest.mark.parametrize(
        "read",
        [
            EgoScore.load,
            lambda run: EgoScore.load(run / "model.safetensors"),
            lambda run: Run.open(run).detector(EgoScore.load),
            lambda run: Run.open(run).graph,
        ],
    )
    def test_so_is_a_program(self, run, read):
        with lock_directory(run), pytest.raises(RunError, match="Another process"):
            read(run)
        read(run)

    @pytest.mark.usefixtures("impatient")
    def test_so_is_an_explanation_that_needs_the_graph(self, run):
        detector = EgoScore.load(run)
        with lock_directory(run), pytest.raises(RunError, match="Another process"):
            detector.explain(7)
        assert detector.explain(7).node == "7"

    @pytest.mark.usefixtures("impatient")
    def test_reading_keeps_others_out_and_may_be_nested(self, run):
        with reading(run), reading(run / ".." / run.name):
            pass
        with reading(run):
            with reading(run):
                pass
            with pytest.raises(RunError, match="Another process"), lock_directory(run):
                pass
        with lock_directory(run):
            pass

    def test_a_model_is_not_combined_with_the_graph_of_a_later_run(self, run):
        detector = EgoScore.load(run)
        shutil.rmtree(run)
        other = generate_network(40, 100, 3, seed=5)
        detect(other, ORIGIN, EgoScore(**QUICK_DEFAULT), run)
        with pytest.raises(RunError, match="load the detector again"):
            detector.explain(7)
        assert EgoScore.load(run).explain(7).num_nodes == 40

    def test_a_folder_without_a_run_gets_no_lock(self, run, tmp_path):
        (tmp_path / "models").mkdir()
        shutil.copy(run / "model.safetensors", tmp_path / "models")
        EgoScore.load(tmp_path / "models")
        assert list(files(tmp_path / "models")) == ["model.safetensors"]


class TestOtherVersions:
    """A whole file of another version is not damage: the same command would be refused."""

    def test_of_the_model(self, call, run, tmp_path):
        file = run / "model.safetensors"
        tensors, about = load_tensors(file)
        save_tensors(file, tensors, about | {"format_version": about["format_version"] - 1})
        with pytest.raises(VersionError):
            Run.open(run).detector(EgoScore.load)
        message = call("explain", run)
        assert str(file) in message
        assert message.count("\n") == 1
        assert "damaged" not in message
        make(tmp_path / "elsewhere")
        assert call("explain", tmp_path / "elsewhere") == ""

    @pytest.mark.parametrize("version", [None, 0, 2, 4])
    def test_of_the_findings(self, call, run, version):
        record = Run.open(run).findings | {"format_version": version}
        save_json(run / "findings.json", json.dumps(record))
        message = call("report", run)
        assert "findings.json" in message
        assert message.count("\n") == 1
        assert "damaged" not in message
        with pytest.raises(VersionError):
            write_report(run)

    def test_a_file_that_is_no_model_is_damage(self, run):
        file = run / "model.safetensors"
        tensors, about = load_tensors(file)
        save_tensors(file, tensors, about | {"format": "another"})
        with pytest.raises(RunError, match=SAME_COMMAND):
            Run.open(run).detector(EgoScore.load)


class TestBugs:
    """Internal errors are shown as they are, not blamed on the files."""

    @pytest.mark.parametrize("defect", [KeyError, TypeError, ValueError])
    @pytest.mark.parametrize(
        ("command", "work"),
        [
            ("explain", "egoscore.detector.explanation"),
            ("explain", "egoscore.run.graph_store.facts_of"),
            ("explain", "egoscore.graph.AttributedGraph.from_edges"),
            ("explain", "egoscore.detectors.conditional.detector.ConditionalDetector.from_tensors"),
            ("report", "egoscore.report.html.render_report"),
        ],
    )
    def test_the_command_line_does_not_hide_them(
        self, call, finished, monkeypatch, command, work, defect
    ):
        def fail(*_, **__):
            raise defect("ours")

        monkeypatch.setattr(work, fail)
        with pytest.raises(defect, match="ours"):
            call(command, finished)

    def test_neither_does_python(self, finished, monkeypatch):
        def fail(*_, **__):
            raise TypeError("ours")

        detector = EgoScore.load(finished)
        monkeypatch.setattr("egoscore.run.graph_store.FeatureColumn", fail)
        with pytest.raises(TypeError, match="ours"):
            _ = Run.open(finished).graph
        with pytest.raises(TypeError, match="ours"):
            detector.explain(7)
        kind = "egoscore.detectors.conditional.detector.ConditionalDetector.from_tensors"
        monkeypatch.setattr(kind, fail)
        with pytest.raises(TypeError, match="ours"):
            EgoScore.load(finished)

    def test_a_wrong_question_is_not_blamed_on_the_run(self, finished):
        with pytest.raises(InputError, match="no such node"), needing(finished):
            raise InputError("no such node")
