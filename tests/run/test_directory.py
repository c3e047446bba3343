"""A run directory: what it holds, what it refuses, and what it does not do twice."""

import errno
import gc
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from jinja2 import TemplateNotFound
from run.samples import (
    OPTIONS,
    ORIGIN,
    QUICK,
    QUICK_DEFAULT,
    SMALL,
    SMALL_SHARD,
    config,
    drafts,
    files,
    make,
    no_work,
    stamped,
)
from safetensors.torch import save_file

from egoscore import EgoScore, generate_network, load_dataset
from egoscore.cli import main
from egoscore.detect import Origin, describe, detect
from egoscore.detectors.paper import shards, train
from egoscore.errors import RunError, TrainingError
from egoscore.run import directory
from egoscore.run.directory import FINDINGS_FILE, RunDirectory
from egoscore.run.files import UNFINISHED


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return make(tmp_path_factory.mktemp("finished")).path


@pytest.fixture(scope="module")
def builtin():
    return load_dataset("builtin")


@pytest.fixture
def run(finished, tmp_path):
    """A copy of a finished run."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture
def call(monkeypatch, capsys):
    """Runs the command line in this process: exit code and errors."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["egoscore", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err

    return call


class TestFiles:
    def test_a_run_holds_these_files(self, finished):
        assert sorted(files(finished)) == [
            ".lock",
            "components/part-00000.parquet",
            "config.json",
            "findings.json",
            "model.safetensors",
            "network/edges.parquet",
            "network/nodes.parquet",
            "report.html",
            "scores.csv",
            "scores.parquet",
            "training/checkpoint.safetensors",
            "training/losses.csv",
        ]

    def test_no_file_is_a_pickle_or_an_archive(self, finished):
        for name, content in files(finished).items():
            # a pickle begins with 0x80 and its protocol; a safetensors file with any number
            assert content[:1] != b"\x80" or content[1] > pickle.HIGHEST_PROTOCOL, name
            assert not content.startswith(b"PK"), name

    def test_nothing_is_left_in_the_folder_for_temporary_files(self, tmp_path, monkeypatch):
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        monkeypatch.setattr(shards, "_SMALLEST_SHARD", SMALL_SHARD)
        make(tmp_path / "run", num_workers=2)
        assert list((tmp_path / "tmp").glob("egoscore*")) == []

    def test_the_configuration_is_complete(self, tmp_path):
        found = make(tmp_path, seed=7, contamination=0.2)
        written = json.loads((tmp_path / "config.json").read_text())
        assert written["settings"] == asdict(found.detector.settings())
        assert (written["seed"], written["preset"], written["contamination"]) == (7, "paper", 0.2)
        assert written["source"] == "small"
        assert written["fingerprint"] == SMALL.fingerprint()
        assert written["network"]["nodes"] == 40

    def test_numbers_of_numpy_are_written_as_json(self):
        found = config(epochs=np.int64(3), seed=np.int32(2), contamination=np.float32(0.25))
        found = json.loads(json.dumps(found))
        assert (found["settings"]["epochs"], found["seed"]) == (3, 2)
        assert found["contamination"] == 0.25

    def test_the_model_scores_as_the_run_did(self, tmp_path):
        found = make(tmp_path)
        loaded = EgoScore.load(tmp_path)
        assert torch.equal(loaded.decision_function(SMALL), found.detector.decision_score_)
        assert torch.equal(loaded.predict(), found.detector.label_)


class TestStore:
    COLUMNS = {"node": np.arange(3), "energy": np.arange(3, dtype=np.float32)}  # noqa: RUF012

    @pytest.fixture
    def store(self, tmp_path):
        with RunDirectory.open(tmp_path, config()) as opened:
            yield opened

    def test_parts_come_back(self, store):
        assert store.load("part") is None
        store.save("part", {"a": torch.arange(3)}, {"step": 1})
        tensors, facts = store.load("part")
        assert (tensors["a"].tolist(), facts) == ([0, 1, 2], {"step": 1})

    def test_losses_are_a_table_for_people(self, store):
        store.save_losses(("one", "two"), [(0.5, 0.25), (0.1, 1e-9)])
        text = (store.path / "training" / "losses.csv").read_text()
        assert text == "epoch,one,two\n1,0.5,0.25\n2,0.1,1e-09\n"

    def test_shards_come_back(self, store):
        assert store.load_shard(4) is None
        store.save_shard(3, self.COLUMNS, {"taus": [0.5]})
        columns, facts = store.load_shard(3)
        assert facts == {"taus": [0.5]}
        assert columns.keys() == self.COLUMNS.keys()
        for name, values in self.COLUMNS.items():
            np.testing.assert_array_equal(columns[name], values)
            assert columns[name].dtype == values.dtype

    def test_a_shard_with_a_changed_byte_is_none(self, store):
        store.save_shard(0, self.COLUMNS, {})
        file = store.path / "components" / "part-00000.parquet"
        whole, draw = file.read_bytes(), random.Random(0)
        for position in draw.sample(range(len(whole)), 300):
            changed = bytearray(whole)
            changed[position] ^= draw.randrange(1, 256)
            file.write_bytes(changed)
            assert store.load_shard(0) is None

    @pytest.mark.parametrize("num_levels", [1, 999])
    def test_every_noise_level_has_its_columns(self, tmp_path, num_levels):
        tiny = generate_network(3, 2, 1)
        detector = EgoScore(**QUICK | {"num_levels": num_levels, "steps": 1, "epochs": 1})
        first = detect(tiny, Origin("tiny"), detector, tmp_path / "run").detector.components_
        assert len(first.columns()) == 3 + 6 * num_levels
        again = detect(tiny, Origin("tiny"), detector, tmp_path / "run").detector.components_
        np.testing.assert_array_equal(again.values, first.values)


class TestAgain:
    def test_a_finished_run_is_not_computed_again(self, run, monkeypatch):
        before = files(run)
        no_work(monkeypatch)
        make(run)
        assert files(run) == before

    @pytest.mark.parametrize(
        "change", [{"alpha": 0.9}, {"weighting": "none"}, {"dissimilarity": "energy"}]
    )
    def test_combining_components_in_another_way_computes_nothing_again(
        self, run, monkeypatch, change
    ):
        before = pq.read_table(run / "scores.parquet")["score"]
        fresh = EgoScore(**QUICK, **change).fit(SMALL).decision_score_.numpy()
        no_work(monkeypatch)
        make(run, **change)
        scores = pq.read_table(run / "scores.parquet")["score"]
        np.testing.assert_array_equal(scores, np.sort(fresh)[::-1])
        assert scores != before
        name, value = next(iter(change.items()))
        assert json.loads((run / "config.json").read_text())["settings"][name] == value
        assert EgoScore.load(run).settings() == EgoScore(**QUICK, **change).settings()

    def test_contamination_and_labels_may_change_too(self, run, monkeypatch):
        no_work(monkeypatch)
        relabelled = replace(SMALL, labels=1 - SMALL.labels)
        found = detect(relabelled, ORIGIN, EgoScore(**QUICK, contamination=0.5), run)
        assert int(found.detector.label_.sum()) == 20
        assert found.evaluation.num_outliers == 40 - int(SMALL.labels.sum())

    def test_a_checkpoint_is_not_written_after_every_epoch(self, tmp_path, monkeypatch):
        written, save = [], RunDirectory.save
        monkeypatch.setattr(RunDirectory, "save", lambda *a: (written.append(a[3]), save(*a)))
        make(tmp_path / "slow")
        assert [facts["epoch"] for facts in written] == [5]
        monkeypatch.setattr(train, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        make(tmp_path / "fast")
        assert [facts["epoch"] for facts in written[1:]] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize("epoch", [1, 2, 4])
    @pytest.mark.parametrize("changes", [{}, {"use_ema": True, "batch_size": 15}])
    def test_interrupted_training_ends_with_the_same_result(
        self, tmp_path, monkeypatch, epoch, changes
    ):
        monkeypatch.setattr(train, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        make(tmp_path / "whole", **changes)
        save, epochs = RunDirectory.save, []

        def power_cut(self, name, tensors, facts):
            save(self, name, tensors, facts)
            epochs.append(facts["epoch"])
            if epochs == list(range(1, epoch + 1)):
                raise RuntimeError("power cut")

        monkeypatch.setattr(RunDirectory, "save", power_cut)
        with pytest.raises(RuntimeError, match="power cut"):
            make(tmp_path / "run", **changes)
        make(tmp_path / "run", **changes)
        assert epochs == [1, 2, 3, 4, 5]  # none of them twice
        assert files(tmp_path / "run") == files(tmp_path / "whole")


class TestCleanup:
    def test_drafts_of_killed_runs_are_removed(self, run):
        before = files(run)
        for folder in ("", "training", "components"):
            (run / folder / f"{UNFINISHED}something").write_text("half")
        (run / f"{UNFINISHED}results-1" / "network").mkdir(parents=True)
        (run / f"{UNFINISHED}results-1" / "network" / "nodes.parquet").write_text("half")
        make(run)
        assert files(run) == before
        assert not drafts(run)

    def test_a_symlink_among_the_drafts_is_removed_and_not_followed(self, run, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").write_text("all my work")
        (run / f"{UNFINISHED}results-1").symlink_to(tmp_path / "mine")
        make(run)
        assert not drafts(run)
        assert (tmp_path / "mine" / "thesis.tex").read_text() == "all my work"

    @pytest.mark.parametrize("left", [".lock", f"{UNFINISHED}config.json"])
    def test_what_a_run_leaves_at_its_start_is_not_a_foreign_file(self, tmp_path, left):
        (tmp_path / left).write_text("{")
        make(tmp_path)
        assert not drafts(tmp_path)

    def test_a_run_interrupted_while_it_makes_its_folders_can_be_started_again(
        self, tmp_path, monkeypatch
    ):
        make_folder = Path.mkdir

        def interrupt(self, *options, **named):
            if self.name == "training":
                raise KeyboardInterrupt
            make_folder(self, *options, **named)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "mkdir", interrupt)
            with pytest.raises(KeyboardInterrupt):
                make(tmp_path / "run")
        assert make(tmp_path / "run").ranking.num_rows == 40

    @pytest.mark.parametrize("existed", [False, True])
    def test_failed_training_leaves_nothing_but_the_lock(self, tmp_path, existed):
        out = tmp_path / "run"
        if existed:
            out.mkdir()

        def fail():
            with RunDirectory.open(out, config()) as opened:
                opened.save("checkpoint", {}, {})
                raise TrainingError("diverged")

        with pytest.raises(TrainingError, match="diverged"):
            fail()
        assert files(tmp_path) == {"run/.lock": b""}
        make(out)

    def test_a_lock_that_others_wait_for_stays_in_place(self, tmp_path):
        def fail():
            with RunDirectory.open(tmp_path, config()):
                locks.append((tmp_path / ".lock").stat().st_ino)
                raise TrainingError("diverged")

        locks = []
        for _ in range(2):
            with pytest.raises(TrainingError, match="diverged"):
                fail()
        assert locks == 2 * [(tmp_path / ".lock").stat().st_ino]

    def test_a_failure_while_results_are_written_leaves_the_old_ones(self, run, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        before = files(run)
        monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
        with pytest.raises(RunError, match="No space left on device"):
            make(run, alpha=0.9)
        assert files(run) == before
        assert not drafts(run)

    @pytest.mark.parametrize("function", ["mkdir", "replace"])
    def test_so_does_one_of_the_directory(self, run, monkeypatch, function):
        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        def publish():
            with RunDirectory(run).publish({}) as folder:
                (folder / FINDINGS_FILE).write_text("{}")

        monkeypatch.setattr(Path if function == "mkdir" else os, function, full)
        with pytest.raises(RunError, match=f"Cannot write {run}.*: No space left"):
            publish()
        assert not drafts(run)

    def test_a_defect_while_results_are_made_is_not_taken_for_one_of_writing(
        self, run, monkeypatch
    ):
        """A missing template is an OSError, too."""

        def fail(*_):
            raise TemplateNotFound("nodes.html.j2")

        before = files(run)
        monkeypatch.setattr("egoscore.detect.render_report", fail)
        with pytest.raises(TemplateNotFound):
            make(run, alpha=0.9)
        assert files(run) == before
        assert not drafts(run)


class TestRefused:
    @pytest.fixture
    def begun(self, tmp_path, builtin):
        """A run as the command line begins it."""
        with RunDirectory.open(tmp_path / "run", describe(builtin, ORIGIN, EgoScore(**QUICK))):
            return tmp_path / "run"

    @pytest.mark.parametrize(
        ("change", "name", "before", "now"),
        [
            ("--epochs=6", "epochs", "5", "6"),
            ("--seed=1", "seed", "0", "1"),
            ("--lr=0.5", "lr", "0.01", "0.5"),
            ("--sde=ve", "sde", "vp", "ve"),
            ("--max-nodes=9", "max_nodes", "None", "9"),
            ("--use-ema", "use_ema", "False", "True"),
        ],
    )
    def test_other_settings(self, begun, call, change, name, before, now):
        there = stamped(begun)
        code, errors = call("detect", "builtin", "--out", begun, *OPTIONS, change)
        assert code == 2
        assert f"another {name} ({before}, now {now})" in errors
        assert (str(begun) in errors, errors.count("\n")) == (True, 1)
        assert stamped(begun) == there

    def test_another_preset(self, run):
        with pytest.raises(RunError, match=r"another preset \(paper, now default\)"):
            detect(SMALL, ORIGIN, EgoScore(**QUICK_DEFAULT), run)

    def test_other_data(self, run):
        there = stamped(run)
        with pytest.raises(RunError, match="other data than small"):
            detect(generate_network(40, 100, 3, seed=5), ORIGIN, EgoScore(**QUICK), run)
        assert stamped(run) == there

    def test_another_version(self, run):
        found = json.loads((run / "config.json").read_text())
        found["versions"]["egoscore"] = "0.0.1"
        (run / "config.json").write_text(json.dumps(found))
        with pytest.raises(RunError, match=r"egoscore version \(0\.0\.1"):
            make(run)

    @pytest.mark.parametrize("content", ['{"seed": 0', "[]", "[" * 200_000])
    def test_a_damaged_configuration(self, run, content):
        (run / "config.json").write_text(content)
        with pytest.raises(RunError, match=r"config\.json is damaged"):
            make(run)

    def test_a_run_that_another_process_began_meanwhile(self, tmp_path, monkeypatch):
        """The other one finishes after we have looked and before we have the lock."""
        lock = directory.lock_directory

        def late(path):
            monkeypatch.undo()
            with RunDirectory.open(path, config(seed=1)):
                pass
            return lock(path)

        monkeypatch.setattr(directory, "lock_directory", late)
        with pytest.raises(RunError, match="another seed"):
            RunDirectory.open(tmp_path / "run", config())

    def test_a_foreign_directory(self, tmp_path, call):
        (tmp_path / "thesis.tex").write_text("all my work")
        there = stamped(tmp_path)
        code, errors = call("detect", "builtin", "--out", tmp_path, *OPTIONS)
        assert code == 2
        assert f"{tmp_path} is not empty and holds no run" in errors
        assert stamped(tmp_path) == there

    def test_a_file(self, tmp_path):
        (tmp_path / "results").write_text("all my work")
        with pytest.raises(RunError, match="results is a file"):
            make(tmp_path / "results")
        assert (tmp_path / "results").read_text() == "all my work"

    def test_a_path_below_a_file(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(RunError, match="file/run for a run: Not a directory"):
            make(tmp_path / "file" / "run")

    def test_a_directory_without_permission(self, tmp_path, monkeypatch):
        def forbidden(*_, **__):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(Path, "mkdir", forbidden)
        with pytest.raises(RunError, match="run for a run: Permission denied"):
            make(tmp_path / "run")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_directory_truly_without_permission(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(RunError, match="Permission denied"):
            make(tmp_path / "run")

    def test_a_directory_in_use(self, begun, builtin):
        """And the refusal leaves no file open."""
        settings = describe(builtin, ORIGIN, EgoScore(**QUICK))
        with (
            warnings.catch_warnings(record=True) as caught,
            RunDirectory.open(begun, settings),
        ):
            warnings.simplefilter("always")
            there = stamped(begun)
            with pytest.raises(RunError, match=f"Another process is using {begun}"):
                RunDirectory.open(begun, settings)
            assert stamped(begun) == there
            gc.collect()
        assert [str(warning.message) for warning in caught] == []

    def test_a_file_in_place_of_a_folder(self, run):
        shutil.rmtree(run / "components")
        (run / "components").write_text("a file")
        with pytest.raises(RunError, match="Cannot use"):
            make(run)
        gc.collect()  # which would warn of files left open


@contextmanager
def suppress_advice(text):
    """Nothing is wrong with a refusal that says what to do."""
    try:
        yield
    except RunError as error:
        if text not in str(error):
            raise


class TestDamaged:
    """A part of an unfinished run is damaged."""

    @pytest.fixture
    def unfinished(self, run):
        (run / FINDINGS_FILE).unlink()
        return run

    def test_a_truncated_checkpoint(self, unfinished):
        path = unfinished / "training" / "checkpoint.safetensors"
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(RunError, match=r"remove training/checkpoint\.safetensors"):
            make(unfinished)
        path.unlink()
        make(unfinished)

    def test_a_checkpoint_with_a_changed_byte(self, unfinished, finished):
        """It is refused, or its contents are the same."""
        path = unfinished / "training" / "checkpoint.safetensors"
        whole, draw = path.read_bytes(), random.Random(0)
        for position in [*range(16), *draw.sample(range(len(whole)), 30)]:
            changed = bytearray(whole)
            changed[position] ^= draw.randrange(1, 256)
            path.write_bytes(changed)
            with suppress_advice("remove training/checkpoint.safetensors"):
                make(unfinished)
                path.write_bytes(whole)
                assert files(unfinished) == files(finished), position

    def test_a_foreign_checkpoint(self, unfinished):
        save_file({"a": torch.zeros(1)}, unfinished / "training" / "checkpoint.safetensors")
        with pytest.raises(RunError, match=r"remove training/checkpoint\.safetensors"):
            make(unfinished)

    def test_a_damaged_shard_is_measured_again(self, unfinished, finished):
        path = unfinished / "components" / "part-00000.parquet"
        whole, draw = path.read_bytes(), random.Random(0)
        changed = bytearray(whole)
        changed[draw.randrange(len(whole))] ^= 1
        for content in (whole[:-20], changed):
            path.write_bytes(content)
            make(unfinished)
            assert files(unfinished) == files(finished)

    def test_a_shard_of_other_nodes_is_measured_again(self, unfinished, monkeypatch):
        part = unfinished / "components" / "part-00000.parquet"
        shutil.copy(part, part.with_name("part-00001.parquet"))
        monkeypatch.setattr(shards, "_SMALLEST_SHARD", SMALL_SHARD)
        first, second = make(unfinished), EgoScore(**QUICK).fit(SMALL)
        np.testing.assert_allclose(
            first.detector.decision_score_, second.decision_score_, rtol=1e-5
        )

    def test_a_damaged_network_of_the_default_preset_is_trained_again(self, tmp_path):
        detector = EgoScore(**QUICK_DEFAULT)
        detect(SMALL, ORIGIN, detector, tmp_path)
        before = files(tmp_path)
        path = tmp_path / "training" / "network-0.safetensors"
        path.write_bytes(path.read_bytes()[:-20])
        detect(SMALL, ORIGIN, detector, tmp_path)
        assert files(tmp_path) == before


DRIVER = f"""
import sys
from egoscore import cli
from egoscore.detectors.paper import shards
shards._SMALLEST_SHARD = {2 * SMALL_SHARD}
if __name__ == "__main__":
    sys.argv[0] = "egoscore"
    cli.main()
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_ends_while_scoring_leaves_no_processes_and_no_temporary_files(tmp_path, end):
    (tmp_path / "driver.py").write_text(DRIVER)
    (tmp_path / "tmp").mkdir()
    arguments = ["detect", "builtin", f"--out={tmp_path / 'run'}", "--preset=paper"]
    arguments += ["--epochs=1", "--hidden-size=8", "--num-workers=2"]
    with subprocess.Popen(
        [sys.executable, tmp_path / "driver.py", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
    ) as process:
        wait_until(lambda: list(tmp_path.glob("run/components/part-*")))
        process.send_signal(end)
        _, errors = process.communicate(timeout=120)  # at the end of all that hold the pipe
    finished = len(list(tmp_path.glob("run/components/part-*")))
    assert 0 < finished < 50
    if end == signal.SIGINT:
        assert process.returncode == 130
        assert b"interrupted" in errors
    wait_until(lambda: not list((tmp_path / "tmp").glob("egoscore-*")), 30)


def wait_until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
