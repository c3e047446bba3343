"""Small runs, and ways to look at and interrupt them."""

import os
import signal
from pathlib import Path

from egoscore import EgoScore, generate_network
from egoscore.detect import Origin, describe, detect
from egoscore.detectors.paper import shards, train
from egoscore.run.directory import RunDirectory
from egoscore.run.files import UNFINISHED

QUICK = {
    "preset": "paper",
    "epochs": 5,
    "num_levels": 2,
    "num_samples": 1,
    "steps": 10,
    "hidden_size": 8,
}
QUICK_DEFAULT = {"updates": 2, "hidden_size": 8}
OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
SMALL = generate_network(40, 100, 3, outlier_fraction=0.1)
SMALL_SHARD = 1000  # entries: several shards
ORIGIN = Origin("small")


def make(out, **settings):
    """A run of the small graph, by default with the paper's detector."""
    return detect(SMALL, ORIGIN, EgoScore(**(QUICK | settings)), out)


def config(graph=SMALL, **settings):
    """The config.json of such a run."""
    return describe(graph, ORIGIN, EgoScore(**(QUICK | settings)))


def files(folder):
    """The content of every file, by relative path."""
    folder = Path(folder)
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def stamped(folder):
    """Every file with the time it was written."""
    return {path: path.stat().st_mtime_ns for path in Path(folder).rglob("*") if path.is_file()}


def drafts(folder):
    """Temporary files and folders."""
    return [path for path in Path(folder).rglob("*") if path.name.startswith(UNFINISHED)]


def no_work(monkeypatch):
    """From now on nothing may be trained or measured again."""

    def fail(*_):
        raise AssertionError("this was done before")

    for name in ("save", "save_losses", "save_shard"):
        monkeypatch.setattr(RunDirectory, name, fail)


def small_shards():
    """Split even the small graph into several shards, and write every checkpoint."""
    shards._SMALLEST_SHARD = SMALL_SHARD
    train._SECONDS_BETWEEN_CHECKPOINTS = 0.0


def kill():
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


CHANGES = ("mkdir", "replace", "rmdir", "unlink")  # functions of `os`


def kill_before(number):
    """Kill this process before its change of the file system with this number, from 0.

    Returns a function that says how many there have been.
    """
    count = 0

    def counting(change):
        def counted(*arguments, **options):
            nonlocal count
            if count == number:
                kill()
            count += 1
            return change(*arguments, **options)

        return counted

    for name in CHANGES:
        setattr(os, name, counting(getattr(os, name)))
    return lambda: count


def make_until(number, out, settings):
    """In a child: `make` with small shards, killed before a change of the file system."""
    small_shards()
    kill_before(number)
    make(out, **settings)


def make_until_saved(what, number, out, settings):
    """In a child: `make` with small shards, killed after a checkpoint or a shard is saved."""
    small_shards()
    method, count = getattr(RunDirectory, what), 0

    def counted(self, *arguments):
        nonlocal count
        method(self, *arguments)
        count += 1
        if count == number:
            kill()

    setattr(RunDirectory, what, counted)
    make(out, **settings)


def make_half_a_shard(out):
    """In a child: killed while a shard is written."""
    small_shards()
    write_table = RunDirectory.save_shard.__globals__["write_table"]

    def half(table, path, facts):
        if path.name == "part-00001.parquet":
            path.with_name(f"{UNFINISHED}half").write_bytes(b"PAR1 half a shard")
            kill()
        write_table(table, path, facts)

    RunDirectory.save_shard.__globals__["write_table"] = half
    make(out)


def publish_until(number, out, old, new, names):
    """In a child: replace results, killed before a change of the file system."""
    with RunDirectory.open(out, old) as run:
        kill_before(number)
        with run.publish(new) as folder:
            write_results(folder, names, new)


def write_results(folder, names, made_with):
    """Results that say which settings they were made with."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(str(made_with["contamination"]))
