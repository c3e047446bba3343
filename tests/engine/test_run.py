"""A run on disk: killed at any moment, it continues; anything else in its place is left alone."""

import errno
import fcntl
import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file

from egoscore import EgoScore, generate_network, load_dataset
from egoscore.cli import main
from egoscore.detect import Origin, describe, detect
from egoscore.engine import measure, run
from egoscore.engine.files import UNFINISHED, load_tensors
from egoscore.errors import RunError
from egoscore.learn import TrainingState, train

QUICK = {
    "preset": "paper",
    "epochs": 5,
    "num_levels": 2,
    "num_samples": 1,
    "steps": 10,
    "hidden_size": 8,
}
OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
TRAINING = sys.modules[train.__module__]
SMALL_SHARD = 30_000  # entries: four shards
FOLDERS = ("", "training", "components")

# Runs the real command and dies at a chosen moment, as if the power went.
DRIVER = """
import os, signal, sys, time
from egoscore import cli
from egoscore.engine import measure, run

moment, shard_size = sys.argv.pop(1), int(sys.argv.pop(1))
run._SECONDS_BETWEEN_CHECKPOINTS = 0.0
measure._SMALLEST_SHARD = shard_size
keep, save_shard, write_table = run.RunDirectory.keep, run.RunDirectory.save_shard, run.write_table

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def slow_keep(self, state, finished):
    keep(self, state, finished)
    if moment == "training":
        time.sleep(0.5)

def last_save_shard(self, number, table):
    save_shard(self, number, table)
    if moment == "between shards" and number == 1:
        die()

def half_write_table(table, path):
    if moment == "inside a shard" and path.name == "part-00001.parquet":
        with run.replacing(path) as draft:
            draft.write_bytes(b"PAR1 half a shard")
            die()
    write_table(table, path)

run.RunDirectory.keep = slow_keep
run.RunDirectory.save_shard = last_save_shard
run.write_table = half_write_table
cli.main()
"""


@pytest.fixture(scope="module")
def builtin():
    return load_dataset("builtin")


@pytest.fixture(scope="module")
def small():
    return generate_network(40, 100, 3)


@pytest.fixture(scope="module")
def unbroken(builtin, tmp_path_factory):
    """The scores of a run in small shards that nothing happened to."""
    out = tmp_path_factory.mktemp("unbroken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "_SMALLEST_SHARD", SMALL_SHARD)
        detect(builtin, Origin("builtin"), EgoScore(**QUICK), out)
    return (out / "scores.parquet").read_bytes()


def start(tmp_path, moment, out, shard_size=2**30):
    (tmp_path / "driver.py").write_text(DRIVER)
    command = [sys.executable, tmp_path / "driver.py", moment, str(shard_size)]
    return subprocess.Popen([*command, "detect", "builtin", "--out", out, *OPTIONS])


def finish(process):
    try:
        return process.wait(timeout=300)
    finally:
        if process.poll() is None:
            process.kill()


def wait_for(condition, process):
    while not condition():
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)


def contents(folder):
    """Every file with its content and the time it was written."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def drafts(folder):
    return [path for path in Path(folder).rglob("*") if path.name.startswith(UNFINISHED)]


def call(monkeypatch, capsys, *arguments):
    """Exit code, output and errors of the command line, without the price of a new process."""
    monkeypatch.setattr(sys, "argv", ["egoscore", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, *capsys.readouterr()


def no_work(monkeypatch):
    """From now on nothing may be trained or measured."""

    def work(*_):
        raise AssertionError("this was done before")

    monkeypatch.setattr(TRAINING, "_accumulate_gradients", work)
    monkeypatch.setattr(measure, "measure", work)


class TestKilled:
    def test_in_training_it_continues_where_it_was(self, tmp_path, builtin):
        out = tmp_path / "run"
        checkpoint = out / "training" / "checkpoint.safetensors"
        process = start(tmp_path, "training", out)
        wait_for(checkpoint.exists, process)
        process.kill()
        assert finish(process) == -signal.SIGKILL
        epoch = json.loads(load_tensors(checkpoint)[1]["egoscore"])["epoch"]
        assert 1 <= epoch < 5
        assert not (out / "scores.parquet").exists()

        command = [sys.executable, "-m", "egoscore", "detect", "builtin", "--out", out, *OPTIONS]
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (again.returncode, again.stderr) == (0, "")
        detector = EgoScore(**QUICK, contamination="auto", verbose=1)
        detect(builtin, Origin("builtin"), detector, tmp_path / "unbroken")
        for name in ("scores.parquet", "model.safetensors"):
            assert (out / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes(), name

    @pytest.mark.parametrize(
        ("moment", "finished"), [("between shards", [0, 1]), ("inside a shard", [0])]
    )
    def test_in_scoring_it_keeps_what_is_finished(
        self, tmp_path, builtin, unbroken, monkeypatch, moment, finished
    ):
        out = tmp_path / "run"
        assert finish(start(tmp_path, moment, out, SMALL_SHARD)) == -signal.SIGKILL
        parts = [f"part-{number:05d}.parquet" for number in range(4)]
        kept = contents(out / "components")
        assert [name for name in parts if (out / "components" / name).exists()] == [
            parts[number] for number in finished
        ]
        assert len(drafts(out)) == (moment == "inside a shard")

        monkeypatch.setattr(measure, "_SMALLEST_SHARD", SMALL_SHARD)
        monkeypatch.setattr(TRAINING, "_accumulate_gradients", None)
        detect(builtin, Origin("builtin"), EgoScore(**QUICK), out)
        assert not drafts(out)
        for number in finished:
            part = out / "components" / parts[number]
            assert contents(part.parent)[part] == kept[part]
        assert (out / "scores.parquet").read_bytes() == unbroken


class TestContinued:
    """The same within one process, where it costs little to die anywhere."""

    @pytest.mark.parametrize("epoch", [1, 2, 4])
    @pytest.mark.parametrize("changes", [{}, {"use_ema": True, "batch_size": 15}])
    def test_training_broken_off_anywhere_ends_the_same(
        self, tmp_path, small, monkeypatch, epoch, changes
    ):
        monkeypatch.setattr(run, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        detector = EgoScore(**QUICK, **changes)
        detect(small, Origin("small"), detector, tmp_path / "unbroken")
        keep = run.RunDirectory.keep

        def power_cut(self, state, finished):
            keep(self, state, finished)
            if state.epoch == epoch:
                raise RuntimeError("power cut")

        with monkeypatch.context() as until_then:
            until_then.setattr(run.RunDirectory, "keep", power_cut)
            with pytest.raises(RuntimeError, match="power cut"):
                detect(small, Origin("small"), EgoScore(**QUICK, **changes), tmp_path / "run")
        restored, restore = [], TrainingState.restore

        def recording(self, tensors, epoch, history):
            restored.append(epoch)
            restore(self, tensors, epoch, history)

        monkeypatch.setattr(TrainingState, "restore", recording)
        found = detect(small, Origin("small"), EgoScore(**QUICK, **changes), tmp_path / "run")
        assert restored == [epoch]
        np.testing.assert_array_equal(found.detector.loss_history_, detector.loss_history_)
        for name in ("scores.parquet", "model.safetensors", "report.html", "config.json"):
            expected = (tmp_path / "unbroken" / name).read_bytes()
            assert (tmp_path / "run" / name).read_bytes() == expected, name

    def test_checkpoints_are_not_written_all_the_time(self, tmp_path, small, monkeypatch):
        written, save = [], run.save_tensors

        def recording(path, tensors, metadata):
            written.append(metadata["epoch"])
            save(path, tensors, metadata)

        monkeypatch.setattr(run, "save_tensors", recording)
        monkeypatch.setattr(run, "_SECONDS_BETWEEN_CHECKPOINTS", 1e9)
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path / "run")
        assert written == [5]

    def test_drafts_of_the_dead_are_cleaned_away(self, tmp_path, small):
        out = tmp_path / "run"
        detect(small, Origin("small"), EgoScore(**QUICK), out)
        for folder in FOLDERS:
            (out / folder / f"{UNFINISHED}something").write_text("half")
        detect(small, Origin("small"), EgoScore(**QUICK), out)
        assert not drafts(out)

    def test_a_run_that_died_before_its_first_file_is_no_foreign_directory(self, tmp_path, small):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / f"{UNFINISHED}config.json").write_text("{")
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path / "run")
        assert not drafts(tmp_path / "run")

    def test_a_finished_run_given_again_does_nothing_again(self, tmp_path, small, monkeypatch):
        out = tmp_path / "run"
        detect(small, Origin("small"), EgoScore(**QUICK), out)
        before = {path: content for path, (content, _) in contents(out).items()}
        no_work(monkeypatch)
        detect(small, Origin("small"), EgoScore(**QUICK), out)
        assert {path: content for path, (content, _) in contents(out).items()} == before

    @pytest.mark.parametrize(
        "change", [{"alpha": 0.9}, {"weighting": "none"}, {"dissimilarity": "energy"}]
    )
    def test_how_components_are_combined_may_change_for_nothing(
        self, tmp_path, small, monkeypatch, change
    ):
        out = tmp_path / "run"
        before = detect(small, Origin("small"), EgoScore(**QUICK), out).ranking["score"]
        fresh = EgoScore(**QUICK, **change).fit(small).decision_score_.numpy()
        no_work(monkeypatch)
        detect(small, Origin("small"), EgoScore(**QUICK, **change), out)
        scores = pq.read_table(out / "scores.parquet")
        np.testing.assert_array_equal(np.sort(scores["score"])[::-1], np.sort(fresh)[::-1])
        assert scores["score"] != before
        name, value = next(iter(change.items()))
        assert json.loads((out / "config.json").read_text())["settings"][name] == value
        assert EgoScore.load(out).settings() == EgoScore(**QUICK, **change).settings()

    def test_contamination_and_labels_may_change_too(self, tmp_path, small, monkeypatch):
        out = tmp_path / "run"
        detect(small, Origin("small"), EgoScore(**QUICK), out)
        no_work(monkeypatch)
        relabelled = replace(small, labels=1 - small.labels)
        found = detect(relabelled, Origin("small"), EgoScore(**QUICK, contamination=0.5), out)
        assert int(found.detector.label_.sum()) == 20
        assert found.evaluation.num_outliers == 40 - int(small.labels.sum())


class TestFiles:
    def test_a_run_holds_these_files_and_no_others(self, tmp_path, small):
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path / "deep" / "run")
        root = tmp_path / "deep" / "run"
        assert sorted(str(path.relative_to(root)) for path in contents(root)) == [
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

    def test_nothing_in_it_is_a_pickle(self, tmp_path, small):
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)
        starts = {path.name: content[:4] for path, (content, _) in contents(tmp_path).items()}
        for name, begins in starts.items():
            # a pickle begins with 0x80 and its protocol; a safetensors file with any number
            is_pickle = begins[:1] == b"\x80" and begins[1] <= pickle.HIGHEST_PROTOCOL
            assert not is_pickle, name
            assert not begins.startswith(b"PK"), name

    def test_the_configuration_says_everything(self, tmp_path, small):
        detector = EgoScore(**QUICK, seed=7, contamination=0.2)
        detect(small, Origin("somewhere"), detector, tmp_path)
        config = json.loads((tmp_path / "config.json").read_text())
        assert config["settings"] == asdict(detector.settings())
        assert (config["seed"], config["preset"], config["contamination"]) == (7, "paper", 0.2)
        assert config["source"] == "somewhere"
        assert config["fingerprint"] == small.fingerprint()
        assert config["network"]["nodes"] == 40
        assert set(config["versions"]) == {
            *("python", "egoscore", "numba", "numpy", "scipy", "torch")
        }
        assert config["versions"]["torch"].split("+")[0] == torch.__version__.split("+")[0]

    def test_the_configuration_is_plain_also_with_numpys_numbers(self, small):
        detector = EgoScore(
            preset="paper", epochs=np.int64(3), seed=np.int32(2), contamination=np.float32(0.25)
        )
        config = json.loads(json.dumps(describe(small, Origin("small"), detector)))
        assert (config["settings"]["epochs"], config["seed"]) == (3, 2)
        assert config["contamination"] == 0.25

    def test_the_model_in_it_scores_as_the_run_did(self, tmp_path, small):
        found = detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)
        loaded = EgoScore.load(tmp_path)
        assert torch.equal(loaded.decision_function(small), found.detector.decision_score_)
        assert torch.equal(loaded.predict(), found.detector.label_)

    def test_shards_come_back_as_they_were(self, tmp_path, small):
        table = EgoScore(**QUICK).fit(small).components_
        with run.RunDirectory.open(
            tmp_path, describe(small, Origin("small"), EgoScore(**QUICK))
        ) as kept:
            kept.save_shard(3, table)
            loaded = kept.load_shard(3, table.node)
            assert kept.load_shard(4, table.node) is None
        for name in ("node", "ego_size", "energy", "values"):
            expected = getattr(table, name)
            np.testing.assert_array_equal(getattr(loaded, name), expected)
            assert getattr(loaded, name).dtype == expected.dtype
        assert (loaded.taus, loaded.num_samples) == (table.taus, table.num_samples)

    @pytest.mark.parametrize("num_levels", [1, 7, 999])
    def test_levels_keep_their_names_apart(self, tmp_path, num_levels):
        tiny = generate_network(3, 2, 1)
        config = {**QUICK, "num_levels": num_levels, "steps": 1, "epochs": 1}
        table = EgoScore(**config).fit(tiny).components_
        assert len(table.columns()) == 3 + 6 * num_levels
        with run.RunDirectory.open(
            tmp_path, describe(tiny, Origin("tiny"), EgoScore(**config))
        ) as kept:
            kept.save_shard(0, table)
            np.testing.assert_array_equal(kept.load_shard(0, table.node).values, table.values)


class TestRefused:
    @pytest.fixture
    def finished(self, tmp_path, builtin):
        """A run as the command line makes it; only its configuration is looked at here."""
        config = describe(builtin, Origin("builtin"), EgoScore(**QUICK))
        with run.RunDirectory.open(tmp_path / "run", config):
            return tmp_path / "run"

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            (["--epochs=6"], "epochs (5, now 6)"),
            (["--seed=1"], "seed (0, now 1)"),
            (["--lr=0.5"], "lr (0.01, now 0.5)"),
            (["--sde=ve"], "sde (vp, now ve)"),
            (["--max-nodes=9"], "max_nodes (None, now 9)"),
            (["--use-ema"], "use_ema (False, now True)"),
        ],
    )
    def test_other_settings_in_the_same_place(self, finished, monkeypatch, capsys, change, name):
        before = contents(finished)
        arguments = ["detect", "builtin", "--out", finished, *OPTIONS, *change]
        code, _, errors = call(monkeypatch, capsys, *arguments)
        assert code == 2
        assert errors.startswith(f"egoscore: {finished} holds a run with another {name}")
        assert errors.count("\n") == 1
        assert contents(finished) == before

    def test_other_data_in_the_same_place(self, finished, small):
        before = contents(finished)
        with pytest.raises(RunError, match="another network than builtin is now: the data"):
            detect(small, Origin("builtin"), EgoScore(**QUICK), finished)
        assert contents(finished) == before

    def test_a_directory_of_somebody_else(self, tmp_path, monkeypatch, capsys):
        (tmp_path / "thesis.tex").write_text("all my work")
        before = contents(tmp_path)
        arguments = ["detect", "builtin", "--out", tmp_path, *OPTIONS]
        code, _, errors = call(monkeypatch, capsys, *arguments)
        assert code == 2
        assert f"{tmp_path} is not empty and holds no run of egoscore" in errors
        assert errors.count("\n") == 1
        assert contents(tmp_path) == before
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]

    def test_a_file_in_its_place(self, tmp_path, monkeypatch, capsys):
        path = tmp_path / "results"
        path.write_text("all my work")
        code, _, errors = call(monkeypatch, capsys, "detect", "builtin", "--out", path, *OPTIONS)
        assert code == 2
        assert errors == f"egoscore: {path} is a file; a run needs a directory of its own.\n"
        assert path.read_text() == "all my work"

    def test_a_place_below_a_file(self, tmp_path, monkeypatch, capsys):
        (tmp_path / "file").touch()
        out = tmp_path / "file" / "run"
        code, _, errors = call(monkeypatch, capsys, "detect", "builtin", "--out", out, *OPTIONS)
        assert code == 2
        assert errors == f"egoscore: Cannot use {out} for a run: Not a directory.\n"

    def test_a_place_that_may_not_be_written(self, tmp_path, monkeypatch, capsys):
        def forbidden(*_, **__):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(Path, "mkdir", forbidden)
        out = tmp_path / "run"
        code, _, errors = call(monkeypatch, capsys, "detect", "builtin", "--out", out, *OPTIONS)
        assert code == 2
        assert errors == f"egoscore: Cannot use {out} for a run: Permission denied.\n"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_place_that_truly_may_not_be_written(self, tmp_path, small):
        tmp_path.chmod(0o500)
        with pytest.raises(RunError, match="Permission denied"):
            detect(small, Origin("small"), EgoScore(**QUICK), tmp_path / "run")

    @pytest.mark.filterwarnings("ignore::ResourceWarning")  # that is the next test's matter
    def test_a_place_where_another_process_is_at_work(self, finished, monkeypatch, capsys):
        before = (finished / "config.json").stat()
        with (finished / ".lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            arguments = ["detect", "builtin", "--out", finished, *OPTIONS]
            code, _, errors = call(monkeypatch, capsys, *arguments)
        gc.collect()
        assert code == 2
        assert f"Another process is at work in {finished}" in errors
        assert errors.count("\n") == 1
        assert (finished / "config.json").stat().st_mtime_ns == before.st_mtime_ns

    def test_a_refusal_leaves_no_file_open(self, finished, builtin):
        config = describe(builtin, Origin("builtin"), EgoScore(**QUICK))
        with (
            warnings.catch_warnings(record=True) as caught,
            run.RunDirectory.open(finished, config),
        ):
            warnings.simplefilter("always")
            with pytest.raises(RunError, match="Another process"):
                run.RunDirectory.open(finished, config)
            gc.collect()
        assert [str(warning.message) for warning in caught] == []

    def test_a_damaged_configuration(self, finished, builtin):
        (finished / "config.json").write_text('{"seed": 0')
        with pytest.raises(RunError, match=r"config\.json is damaged or not that of a run"):
            detect(builtin, Origin("builtin"), EgoScore(**QUICK), finished)

    def test_a_configuration_that_is_no_object(self, finished, builtin):
        (finished / "config.json").write_text("[]")
        with pytest.raises(RunError):
            detect(builtin, Origin("builtin"), EgoScore(**QUICK), finished)


class TestDamaged:
    @pytest.fixture
    def broken(self, tmp_path, small):
        """A run whose last steps are still to be done."""
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)
        (tmp_path / "scores.parquet").unlink()
        return tmp_path

    def again(self, path, small):
        return detect(small, Origin("small"), EgoScore(**QUICK), path)

    def test_half_a_checkpoint_is_told(self, broken, small):
        path = broken / "training" / "checkpoint.safetensors"
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(RunError, match="not a complete safetensors file"):
            self.again(broken, small)

    def test_a_checkpoint_of_others_is_told(self, broken, small):
        save_file({"a": torch.zeros(1)}, broken / "training" / "checkpoint.safetensors")
        with pytest.raises(RunError):
            self.again(broken, small)

    def test_half_a_shard_is_measured_again(self, broken, small):
        path = broken / "components" / "part-00000.parquet"
        whole = path.read_bytes()
        path.write_bytes(whole[:-20])
        self.again(broken, small)
        assert path.read_bytes() == whole

    def test_a_shard_of_other_nodes_is_not_taken(self, broken, small, monkeypatch):
        part = broken / "components" / "part-00000.parquet"
        shutil.copy(part, part.with_name("part-00001.parquet"))
        monkeypatch.setattr(measure, "_SMALLEST_SHARD", 2000)
        assert self.again(broken, small).ranking.num_rows == 40

    def test_a_full_disk_is_told(self, broken, small, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
        with pytest.raises(RunError, match="No space left on device"):
            self.again(broken, small)


def test_a_folder_that_cannot_be_made_leaves_no_file_open(tmp_path, small):
    detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)
    shutil.rmtree(tmp_path / "components")
    (tmp_path / "components").write_text("a file")
    with pytest.raises(RunError, match="Cannot use"):
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)
    gc.collect()


def test_a_run_killed_in_its_first_moment_can_be_started_again(tmp_path, small, monkeypatch):
    make = Path.mkdir

    def die(self, *options, **named):
        if self.name == "training":
            raise KeyboardInterrupt
        make(self, *options, **named)

    monkeypatch.setattr(Path, "mkdir", die)
    with pytest.raises(KeyboardInterrupt):
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path / "run")
    monkeypatch.undo()
    assert (
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path / "run").ranking.num_rows == 40
    )


def test_a_run_of_another_version_is_refused(tmp_path, small):
    detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)
    config = tmp_path / "config.json"
    found = json.loads(config.read_text())
    found["versions"]["egoscore"] = "0.0.1"
    config.write_text(json.dumps(found))
    with pytest.raises(RunError, match="another egoscore version"):
        detect(small, Origin("small"), EgoScore(**QUICK), tmp_path)


def test_an_interruption_ends_the_processes_too_and_the_run_continues(tmp_path):
    driver = (
        "import sys\n"
        "from egoscore import cli\n"
        "from egoscore.engine import measure\n"
        "measure._SMALLEST_SHARD = 5000\n"
        "if __name__ == '__main__':\n"
        "    sys.argv[0] = 'egoscore'\n"
        "    cli.main()\n"
    )
    (tmp_path / "driver.py").write_text(driver)
    arguments = ["detect", "builtin", f"--out={tmp_path / 'run'}", "--preset=paper"]
    arguments += ["--epochs=1", "--hidden-size=8"]
    command = [sys.executable, tmp_path / "driver.py", *arguments, "--num-workers=2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("run/components/part-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command continues the run" in errors
    finished = len(list(tmp_path.glob("run/components/part-*")))
    assert 0 < finished < 20
