"""Progress of a whole run: rates and remaining time on a terminal, nothing in a pipe."""

import os
import pty
import re
import subprocess
import sys

import pytest

from egoscore.load import Options, read_tables
from egoscore.load.source import read_source


@pytest.fixture
def tables(tmp_path):
    """Two tables, the names of a few hundred nodes."""
    names = [f"node {number}" for number in range(300)]
    edges = [f"{names[i]},{names[(7 * i + j) % 300]}\n" for i in range(300) for j in range(1, 5)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(edges))
    nodes = [f"{name},{i % 7},{i * i % 11}\n" for i, name in enumerate(names)]
    (tmp_path / "nodes.csv").write_text("id,a,b\n" + "".join(nodes))
    return tmp_path


class Seen:
    """Bars that remember every call."""

    def __init__(self):
        self.bars = []

    def __call__(self, title, total, unit):
        seen = self

        class Bar:
            def __enter__(self):
                self.entry = [title, total, unit, 0]
                seen.bars.append(self.entry)
                return self.advance

            def advance(self, count):
                self.entry[3] += count

            def __exit__(self, *_):
                pass

        return Bar()


def command(*arguments):
    return [sys.executable, "-m", "egoscore", "detect", *map(str, arguments), "--updates", "2"]


def terminal_output(arguments, folder):
    """What a command writes to a terminal of its own."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "150", "LINES": "40"}
    with subprocess.Popen(
        arguments, stdout=follower, stderr=follower, cwd=folder, env=environment
    ) as process:
        os.close(follower)
        pieces = []
        while True:
            try:
                piece = os.read(leader, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
    os.close(leader)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(pieces).decode())


def test_a_terminal_shows_rates_and_the_remaining_time(tables):
    arguments = command("--edges", "edges.csv", "--nodes", "nodes.csv", "--out", "run")
    shown = terminal_output(arguments, tables)
    for title in ("Reading edges.csv", "Reading nodes.csv", "Matching ids", "Building the graph"):
        assert title in shown
    for title in ("Training", "Scoring nodes", "Explaining", "Writing"):
        assert title in shown
    size = (tables / "edges.csv").stat().st_size / 1e6
    assert f"/{size:,.1f} MB" in shown
    for unit in ("ids", "edges", "updates", "nodes", "rows"):
        assert re.search(rf"[\d,.e+]+ {unit}/s", shown), unit
    assert re.search(r"left: +\d:\d\d:\d\d", shown)


def test_a_pipe_gets_nothing(tables):
    arguments = command("--edges", "edges.csv", "--nodes", "nodes.csv", "--out", "run")
    done = subprocess.run(arguments, cwd=tables, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "MB" not in done.stdout


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.zip"])
def test_reading_progress_counts_bytes_of_the_file(tables, ending):
    import bz2
    import gzip
    import io
    import lzma
    import zipfile

    import pyarrow as pa

    text = (tables / "edges.csv").read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.csv", text)
    packed = {
        "csv": text,
        "csv.gz": gzip.compress(text),
        "csv.bz2": bz2.compress(text),
        "csv.xz": lzma.compress(text),
        "csv.zst": pa.compress(text, "zstd", asbytes=True),
        "csv.zip": buffer.getvalue(),
    }[ending]
    path = tables / f"packed.{ending}"
    path.write_bytes(packed)
    seen = Seen()
    read_tables(path, None, Options(), seen)
    assert seen.bars[0] == [f"Reading packed.{ending}", len(packed), "B", len(packed)]


def test_every_bar_reaches_its_end(tables):
    seen = Seen()
    read_tables(tables / "edges.csv", tables / "nodes.csv", Options(), seen)
    structural = Seen()
    read_source(str(tables / "edges.csv"), None, Options(), structural)
    for title, total, _, done in seen.bars + structural.bars:
        assert done == total, title
    assert {"Matching ids", "Building the graph"} <= {bar[0] for bar in seen.bars}
    assert [bar[0] for bar in structural.bars][-2:] == [
        "Building the graph",
        "Looking for triangles",
    ]


def test_parquet_progress_counts_rows(tables):
    from pyarrow import csv
    from pyarrow import parquet as pq

    pq.write_table(csv.read_csv(tables / "edges.csv"), tables / "edges.parquet")
    seen = Seen()
    read_tables(tables / "edges.parquet", None, Options(), seen)
    assert seen.bars[0] == ["Reading edges.parquet", 1200, "rows", 1200]
