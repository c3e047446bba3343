"""A run that is killed at any moment: nothing is mixed up, and the same command completes it."""

import json
import os
import signal
import sys
from multiprocessing import forkserver, get_context

import pytest
from run import samples
from run.samples import drafts, files, make, no_work, stamped

from egoscore.cli import main
from egoscore.errors import RunError
from egoscore.report.html import write_report
from egoscore.run.directory import CONFIG_FILE, FINDINGS_FILE, RESULT_FILES, RunDirectory
from egoscore.run.files import load_tensors
from egoscore.run.reader import Run

SAME_COMMAND = "run the same `egoscore detect` command again"
RESULTS = (CONFIG_FILE, FINDINGS_FILE, *RESULT_FILES)


@pytest.fixture(scope="module")
def child():
    """Runs a function in a process of its own: whether it was killed.

    All children are forked from one process that has imported everything.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["run.samples"])
    with pytest.MonkeyPatch.context() as patch:  # before Python 3.13 it ignores our sys.path
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()

    def run(function, *arguments):
        process = context.Process(target=function, args=arguments)
        process.start()
        process.join(300)
        assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
        return process.exitcode != 0

    return run


@pytest.fixture(autouse=True)
def shards(monkeypatch):
    monkeypatch.setattr("egoscore.detectors.paper.shards._SMALLEST_SHARD", samples.SMALL_SHARD)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Runs that nothing happened to, by their changed settings."""
    made = {}

    def run(**settings):
        key = tuple(settings.items())
        if key not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(samples.shards, "_SMALLEST_SHARD", samples.SMALL_SHARD)
                made[key] = make(tmp_path_factory.mktemp("finished"), **settings).path
        return files(made[key])

    return run


class TestFirstRun:
    @pytest.mark.parametrize("number", [1, 3])
    def test_training_continues_at_the_last_checkpoint(self, tmp_path, child, finished, number):
        assert child(samples.make_until_saved, "save", number, tmp_path, {})
        _, facts = load_tensors(tmp_path / "training" / "checkpoint.safetensors")
        assert facts["epoch"] == number
        make(tmp_path)
        assert files(tmp_path) == finished()

    @pytest.mark.parametrize("half", [False, True])
    def test_finished_shards_are_kept(self, tmp_path, child, finished, monkeypatch, half):
        if half:
            assert child(samples.make_half_a_shard, tmp_path)
        else:
            assert child(samples.make_until_saved, "save_shard", 2, tmp_path, {})
        parts = tmp_path / "components"
        kept = {path: when for path, when in stamped(parts).items() if "part" in path.name}
        assert len(kept) == (1 if half else 2)
        assert len(drafts(tmp_path)) == half
        monkeypatch.setattr(RunDirectory, "save", None)  # not trained again
        make(tmp_path)
        assert files(tmp_path) == finished()
        assert {path: stamped(parts)[path] for path in kept} == kept

    @pytest.mark.parametrize("number", [0, 1, 2, 3])
    def test_a_run_killed_at_its_very_start_is_not_taken_for_a_foreign_directory(
        self, tmp_path, child, finished, number
    ):
        assert child(samples.make_until, number, tmp_path / "run", {})
        make(tmp_path / "run")
        assert files(tmp_path / "run") == finished()

    def test_until_it_is_finished_a_run_is_refused_with_advice(self, tmp_path, child):
        assert child(samples.make_until_saved, "save_shard", 1, tmp_path, {})
        with pytest.raises(RunError, match=SAME_COMMAND):
            Run.open(tmp_path)


class TestOtherSettings:
    """A finished run is run again with other settings that need no new training."""

    CHANGES = ({"alpha": 0.9}, {"dissimilarity": "energy"}, {"contamination": 0.3})

    @pytest.mark.parametrize("number", [0, 1, 2, 5, 8, 11, 14, 16, 18, 20, 22, 24])
    def test_results_and_settings_never_mix(
        self, tmp_path, child, finished, monkeypatch, capsys, number
    ):
        change = self.CHANGES[number % 3]
        old, new = finished(), finished(**change)
        for name, content in old.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(content)
        first = number_of_first_change(tmp_path)
        assert child(samples.make_until, first + number, tmp_path, change)
        found = {name: content for name, content in files(tmp_path).items() if name in RESULTS}
        whole = [{name: run[name] for name in RESULTS} for run in (old, new)]
        if FINDINGS_FILE in found:
            assert found in whole
            assert Run.open(tmp_path).ranking.num_rows == 40
        else:
            settings = next(run for run in whole if run[CONFIG_FILE] == found[CONFIG_FILE])
            assert found.items() <= settings.items()
            with pytest.raises(RunError, match=SAME_COMMAND):
                write_report(tmp_path)
            monkeypatch.setattr(sys, "argv", ["egoscore", "report", str(tmp_path)])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == 2
            assert SAME_COMMAND in capsys.readouterr().err
        no_work(monkeypatch)
        make(tmp_path, **change)
        assert files(tmp_path) == new

    def test_every_moment_of_publishing(self, tmp_path, child):
        """The same for all changes of the file system, with results of one word."""
        names = (FINDINGS_FILE, *RESULT_FILES)
        old, new = (samples.config(contamination=share) for share in (0.1, 0.2))
        states = set()
        for number in range(100):
            out = tmp_path / str(number)
            with RunDirectory.open(out, old) as run, run.publish(old) as folder:
                samples.write_results(folder, names, old)
            was_killed = child(samples.publish_until, number, out, old, new, names)
            share = str(json.loads((out / CONFIG_FILE).read_text())["contamination"])
            found = {name for name in names if (out / name).exists()}
            assert all((out / name).read_text() == share for name in found)
            assert FINDINGS_FILE not in found or len(found) == len(names)
            states.add((share, len(found)))
            with RunDirectory.open(out, new):
                assert not drafts(out)
            if not was_killed:
                break
        assert not was_killed
        assert {("0.1", 7), ("0.1", 0), ("0.2", 0), ("0.2", 3), ("0.2", 7)} <= states


def number_of_first_change(out):
    """How many changes of the file system come before those of `publish`."""
    with pytest.MonkeyPatch.context() as patch:
        for name in samples.CHANGES:
            patch.setattr(os, name, getattr(os, name))  # so that it is restored
        count = samples.kill_before(-1)
        with RunDirectory.open(out, samples.config()):
            return count()
