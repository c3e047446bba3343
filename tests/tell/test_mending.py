"""What is missing or damaged in a run: the sentence tells what to do, and doing it helps."""

import json
import os
import shutil
import sys

import pyarrow.parquet as pq
import pytest
from tell.test_again import QUICK, spoil

from egoscore import EgoScore, generate_network
from egoscore.cli import main
from egoscore.detect import Origin, detect
from egoscore.engine.kept_network import save_network
from egoscore.errors import InputError, RunError
from egoscore.tell.mending import needing
from egoscore.tell.ranking import id_column

NEEDED = {
    "explain": (
        *("findings.json", "model.safetensors"),
        *("network/nodes.parquet", "network/edges.parquet"),
    ),
    "report": ("findings.json", "config.json", "scores.parquet"),
}
CASES = [(command, name) for command, names in NEEDED.items() for name in names]
GRAPH = generate_network(50, 120, 3, seed=1, outlier_fraction=0.1)


def make(path):
    return detect(GRAPH, Origin("friends"), EgoScore(**QUICK["default"]), path).path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make(tmp_path_factory.mktemp("mending") / "run")


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs a command about a run: what it says on standard error, empty if all went well."""

    def run(command, path):
        arguments = [str(path), "7"] if command == "explain" else [str(path)]
        monkeypatch.setattr(sys, "argv", ["egoscore", command, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        errors = capsys.readouterr().err
        assert bool(ended.value.code) == bool(errors)
        return errors

    return run


@pytest.mark.parametrize("how", ["gone", "half", "other"])
@pytest.mark.parametrize(("command", "name"), CASES)
def test_what_the_sentence_says_helps(call, whole, tmp_path, command, name, how):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    spoil(run / name, how)
    said = call(command, run)
    assert said.count("\n") == 1
    if "with another directory after --out" in said:
        with pytest.raises(RunError, match="choose another directory"):
            make(run)
        run = tmp_path / "other"
    else:
        assert "give the same `egoscore detect` command again" in said
    make(run)
    assert call(command, run) == ""


def test_the_file_is_named(call, whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    spoil(run / "model.safetensors", "half")
    assert f"{run / 'model.safetensors'} is damaged;" in call("explain", run)
    os.unlink(run / "model.safetensors")
    assert f"{run / 'model.safetensors'} is missing;" in call("explain", run)


def test_what_is_wrong_with_the_question_is_not_blamed_on_the_run(tmp_path):
    with pytest.raises(InputError, match="no such node"), needing(tmp_path):
        raise InputError("no such node")


@pytest.mark.parametrize("defect", [KeyError, TypeError])
@pytest.mark.parametrize(
    ("command", "work"),
    [("explain", "egoscore.detector.explanation"), ("report", "egoscore.tell.again.render_report")],
)
def test_a_defect_of_ours_is_not_told_as_damage(call, whole, monkeypatch, command, work, defect):
    def fail(*_):
        raise defect("ours")

    monkeypatch.setattr(work, fail)
    with pytest.raises(defect, match="ours"):
        call(command, whole)


@pytest.mark.parametrize("changes", [{"num_nodes": 40}, {"num_features": 4}])
def test_the_network_of_another_run_is_told_as_damage(call, whole, tmp_path, changes):
    run, other = tmp_path / "run", tmp_path / "other"
    shutil.copytree(whole, run)
    sizes = {"num_nodes": 50, "num_edges": 120, "num_features": 3} | changes
    graph = generate_network(**sizes)
    other.mkdir()
    save_network(graph, id_column(graph.ids), other)
    shutil.copytree(other / "network", run / "network", dirs_exist_ok=True)
    assert f"{run / 'network/edges.parquet'} is damaged; give the same" in call("explain", run)


@pytest.mark.parametrize("how", ["no rows", "other columns"])
def test_a_table_that_is_no_ranking_is_told_as_damage(call, whole, tmp_path, how):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    file = run / "scores.parquet"
    table = pq.read_table(file)
    pq.write_table(table.slice(0, 0) if how == "no rows" else table.drop_columns(["flag"]), file)
    assert f"{file} is damaged; give the same" in call("report", run)


@pytest.mark.parametrize("lost", ["settings", "fingerprint", "preset"])
def test_a_configuration_that_is_not_whole_is_known_to_nobody(call, whole, tmp_path, lost):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    config = json.loads((run / "config.json").read_text())
    del config[lost]
    (run / "config.json").write_text(json.dumps(config))
    assert "with another directory after --out" in call("report", run)
    with pytest.raises(RunError, match=r"config\.json is damaged or not that of a run"):
        make(run)
