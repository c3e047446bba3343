"""Pipes are read as the files behind them, called by their own names, and leave nothing behind."""

import bz2
import contextlib
import gzip
import os
import subprocess
import sys
import tempfile
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.load import Options, read_tables
from egoscore.load.open_table import copy_pipes, is_pipe
from egoscore.load.source import read_source

EDGES = b"payer,payee,eur\na,b,1\nb,c,2\nc,a,3\n"
NODES = b"id,x\na,1\nb,2\nc,4\n"


@pytest.fixture(autouse=True)
def room(tmp_path, monkeypatch):
    """Where temporary files go, which must be empty in the end."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def pipe(tmp_path):
    """Makes a pipe that gives some bytes."""
    writers = []

    def write(path, content):
        with contextlib.suppress(BrokenPipeError):  # whoever reads may have enough
            path.write_bytes(content)

    def pipe(name, content):
        path = tmp_path / name
        os.mkfifo(path)
        writers.append(threading.Thread(target=write, args=(path, content)))
        writers[-1].start()
        return path

    yield pipe
    for writer in writers:
        writer.join(10)


def parquet():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"payer": list("abc"), "payee": list("bca")}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    "content", [EDGES, gzip.compress(EDGES), bz2.compress(EDGES), parquet()], ids=len
)
def test_whatever_comes_out_of_a_pipe_is_read_as_a_file_is(pipe, pairs, content):
    reading = read_tables(pipe("e", content), str(pipe("n", NODES)))
    assert pairs(reading.graph) == [("a", "b"), ("a", "c"), ("b", "c")]
    nodes_only = content == parquet()
    assert reading.graph.feature_names[:2] == (("x",) if nodes_only else ("x", "eur (total)"))


def test_what_is_said_names_the_pipe(pipe, noted, refusal, room):
    edges = pipe("e", EDGES)
    assert noted(read_tables(edges), "edge-features", columns=["eur"])
    for name, content, words in [
        ("ragged", b"source,target\na,b\nb\n", "Line 3 of"),
        ("empty", b"", "is empty; a table needs"),
        ("cut", gzip.compress(EDGES)[:-9], "is damaged or incomplete"),
        ("page", b"<html>", "is a web page or XML"),
        ("book", b"\xd0\xcf\x11\xe0", "is a spreadsheet"),
        ("cut.parquet", b"PAR1", "is not a complete Parquet file"),
    ]:
        path = pipe(name, content)
        message = refusal(read_tables, path)
        assert words in message
        assert str(path) in message
        assert str(room) not in message


def test_the_copy_is_gone_whatever_happens(pipe, room):
    def interrupted(path):
        with copy_pipes(path):
            assert len(list(room.iterdir())) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(pipe("e", EDGES))


def test_a_disk_that_is_full_is_told(pipe, refusal, monkeypatch, room):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    path = pipe("e", EDGES)
    message = refusal(read_tables, path)
    assert message.startswith(f"{path} is a pipe that cannot be copied to {room} (No space left")


def test_a_pipe_alone_is_told_what_to_do(tmp_path, refusal):
    os.mkfifo(tmp_path / "e")
    assert "is a pipe, whose name does not say" in refusal(read_source, str(tmp_path / "e"))


def test_what_is_no_pipe(tmp_path, write):
    assert not any(map(is_pipe, (tmp_path, write("e", EDGES), tmp_path / "none", "a\0b", None, 5)))


@pytest.mark.parametrize("name", ["/dev/stdin", "-"])
def test_standard_input(name):
    code = (
        "from egoscore.load import read_tables\n"
        f"reading = read_tables({name!r})\n"
        "note = reading.notes[0]\n"
        "print(reading.graph.num_nodes, note.code, note.fields['columns'])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=EDGES, capture_output=True)
    assert done.stdout.startswith(b"3 edge-features ['eur']"), done.stderr


def test_weights_out_of_a_pipe(pipe):
    graph = read_tables(pipe("e", EDGES), options=Options(weight="eur")).graph
    assert graph.features[:, 3].tolist() == [3, 2, 3]


def test_that_the_command_does_not_tell_what_was_in_a_pipe_is_said(pipe, write, noted):
    assert noted(read_tables(pipe("e", EDGES)), "tables-from-pipes")
    assert not noted(read_tables(write("e.csv", EDGES)), "tables-from-pipes")


def test_standard_input_holds_one_table(refusal):
    assert refusal(read_tables, "-", "-").startswith("Standard input holds one table")
