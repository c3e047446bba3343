"""Verdicts on disk: undo, several processes, kills."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from egoscore.errors import RunError
from egoscore.review.store import VerdictStore
from egoscore.review.verdicts import Verdict

WRITER = """
import sys
from egoscore.review.store import VerdictStore
from egoscore.review.verdicts import Verdict
store, name, count = VerdictStore(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    store.add([Verdict(f"{name}{number}", "abnormal"), Verdict(f"{name}{number}b", "normal")])
    print(number, flush=True)
"""


@pytest.fixture
def store(tmp_path):
    return VerdictStore.of_run(tmp_path)


def start(store, name, count):
    command = [sys.executable, "-c", WRITER, str(store.path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kinds(store):
    return {one.node: one.kind for one in store.current()}


def test_nothing_is_written_by_reading(store):
    assert store.current() == []
    assert store.version() == 0
    assert not store.path.exists()


def test_the_last_verdict_counts_and_can_be_undone(store):
    store.add([Verdict("a", "abnormal", "first", "Alder"), Verdict("b", "unsure")])
    store.add([Verdict("a", "normal")])
    assert kinds(store) == {"a": "normal", "b": "unsure"}
    assert [one.kind for one in store.undo()] == ["normal"]
    assert kinds(store) == {"a": "abnormal", "b": "unsure"}
    assert store.current()[0].note == "first"
    assert store.current()[0].time.endswith("+00:00")
    assert [one.node for one in store.undo()] == ["a", "b"]
    assert store.undo() == []
    assert kinds(store) == {}


def test_a_verdict_can_be_forgotten_and_that_undone(store):
    store.add([Verdict("a", "abnormal")])
    store.forget("a")
    assert kinds(store) == {}
    store.undo()
    assert kinds(store) == {"a": "abnormal"}
    assert [one.kind for one in store.history()] == ["abnormal"]


def test_every_change_has_a_version_of_its_own(store):
    seen = [store.version()]
    for change in (
        lambda: store.add([Verdict("a", "abnormal"), Verdict("b", "normal")]),
        lambda: store.add([Verdict("c", "normal")]),
        store.undo,
        lambda: store.add([Verdict("d", "normal")]),
        store.undo,
        store.undo,
    ):
        change()
        seen.append(store.version())
    assert len(set(seen)) == len(seen)


def test_all_or_none(store):
    with pytest.raises(RunError, match="must be one of"):
        store.add([Verdict("a", "abnormal"), Verdict("b", "odd")])
    with pytest.raises(RunError, match=r"10,000 characters \(found 10,001\)"):
        store.add([Verdict("a", "abnormal", "x" * 10_001)])
    assert kinds(store) == {}


def test_two_processes_and_this_one_write_at_once(store):
    writers = [start(store, name, 25) for name in "xy"]
    for number in range(25):
        store.add([Verdict(f"z{number}", "unsure")])
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert len(store.current()) == 2 * 50 + 25


def test_a_killed_process_loses_nothing_it_saved(store):
    writer = start(store, "k", 10_000)
    said = [writer.stdout.readline() for _ in range(20)]
    time.sleep(0.05)
    writer.send_signal(signal.SIGKILL)
    said += writer.communicate()[0].splitlines()
    saved = max(int(line) for line in said if line.strip())
    found = kinds(store)
    assert all(f"k{number}" in found and f"k{number}b" in found for number in range(saved + 1))
    assert len(found) % 2 == 0  # a step is never half written
    store.add([Verdict("after", "normal")])
    with sqlite3.connect(store.path) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    file.close()


def test_a_damaged_file_is_refused_in_one_sentence(store):
    store.path.write_bytes(b"no database" * 100)
    with pytest.raises(RunError, match="move the file away"):
        store.current()


def test_a_symbolic_link_is_not_followed(store, tmp_path):
    os.symlink(tmp_path / "elsewhere", store.path)
    with pytest.raises(RunError, match="symbolic link"):
        store.add([Verdict("a", "abnormal")])
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "hostile", ["'; DROP TABLE log; --", "\x1b[31m", "a\x00b", "\U0001d4b3" * 50]
)
def test_hostile_texts_come_back_unchanged(store, hostile):
    store.add([Verdict(hostile, "abnormal", hostile, hostile)])
    assert store.current()[0].node == hostile
    assert store.current()[0].note == hostile


def test_many_threads_may_open_and_close_a_new_file_at_once(tmp_path):
    """Without patience, about one of a hundred threads found the file locked."""

    def work(store, start, one):
        start.wait()
        for number in range(12):
            store.version()
            if one % 3 == 0:
                store.add([Verdict(f"n{one}-{number}", "normal")])
            store.current()

    for number in range(12):
        store, start = VerdictStore(tmp_path / f"{number}.sqlite"), threading.Barrier(12)
        with ThreadPoolExecutor(12) as pool:
            for done in [pool.submit(work, store, start, one) for one in range(12)]:
                done.result()
        assert len(store.current()) == 4 * 12
