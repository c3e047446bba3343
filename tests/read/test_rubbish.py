"""Whatever is fed in, out comes a network or one sentence: no other exception, no warning."""

import gzip
import io
import random
import zipfile
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from egoscore.errors import EgoScoreError
from egoscore.read import read_network_file, read_tables
from egoscore.read.source import read_source

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + bytes(range(256)) * 4
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))
TABLE = b"source,target\n" + b"a,b\n" * 50
XML = b'<?xml version="1.0"?><graphml><graph edgedefault="undirected"><node id="a"/>'


def parquet():
    buffer = io.BytesIO()
    pq.write_table(pa.table({"source": ["a"] * 50, "target": ["b"] * 50}), buffer)
    return buffer.getvalue()


def zipped(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x", content)
    return buffer.getvalue()


RUBBISH = {
    "jpeg": JPEG,
    "png": PNG,
    "json": b'{"nodes": [1, 2], "edges": [[1, 2]]}',
    "json lines": b'{"a": 1}\n{"a": 2}\n',
    "html": b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n",
    "html without a type": b"  <html><table><tr><td>1</td></tr></table></html>",
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< >>\nendobj\n",
    "only a header": b"source,target\n",
    "only a header, no end of line": b"source,target",
    "one column": b"source\na\nb\n",
    "one cell": b"hello",
    "blank lines": b"\n\n\n\n",
    "spaces": b"     \n    \n",
    "comments": b"# nothing\n% here\n",
    "zeros": bytes(1000),
    "a nul late": TABLE * 2000 + b"a,\x00\n",
    "truncated gz": gzip.compress(TABLE * 100)[:60],
    "gz of nothing": gzip.compress(b""),
    "gz of gz": gzip.compress(gzip.compress(TABLE)),
    "gz of a jpeg": gzip.compress(JPEG),
    "bz2 by name only": b"BZh91AY&SY nothing more",
    "xz by name only": b"\xfd7zXZ\x00 nothing more",
    "zstd by name only": b"\x28\xb5\x2f\xfd nothing more",
    "zip of a jpeg": zipped(JPEG),
    "zip cut": zipped(TABLE)[:40],
    "parquet cut": parquet()[:-10],
    "parquet's beginning": b"PAR1" + bytes(100),
    "parquet's ends": b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1",
    "arrow's beginning": b"ARROW1\x00\x00" + bytes(100),
    "ragged": b"source,target\na,b\na,b,c\n",
    "ragged header": b"source,target,w\na,b\nb,c\n",
    "a quote left open": b'source,target\na,"b\nc,d\n',
    "quotes": b'"' * 999,
    "commas": b",,,,\n,,,,\n",
    "separators": b",;|\t\n,;|\t\n",
    "missing ids": b"source,target\n,\n,\n",
    "same names": b"source,source\na,b\n",
    "utf-16 cut": "source,target\na,b\n".encode("utf-16")[:-1],
    "utf-16 without a mark": "source,target\na,b\n".encode("utf-16-le"),
    "utf-32": "source,target\na,b\n".encode("utf-32"),
    "a mark and nothing": b"\xef\xbb\xbf",
    "a utf-16 mark and nothing": b"\xff\xfe",
    "one long line": b"x" * 300_000,
    "a long cell": b"source,target\n" + b"x" * (10 << 20) + b",b\n",
    "python": b"import os\nos.system('true')\n",
    "a pickle": b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x02os.",
    "xml cut": XML,
    "xml of another kind": b'<?xml version="1.0"?><rss><channel/></rss>',
    "xml with an unknown end": XML + b'<edge source="a" target=',
    "xml without edges": XML + b"</graph></graphml>",
    "npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
    "npz of rubbish": zipped(b"\x93NUMPY\x01\x00"),
    "mat's beginning": b"MATLAB 5.0 MAT-file" + b" " * 105 + b"\x00\x01IM" + bytes(64),
    "hdf5": b"\x89HDF\r\n\x1a\n" + bytes(200),
}
TABLES = [
    "csv",
    "tsv",
    "txt",
    "csv.gz",
    "csv.bz2",
    "csv.xz",
    "csv.zst",
    "zip",
    "parquet",
    "feather",
]
NETWORKS = ["graphml", "graphml.gz", "gexf", "npz", "mat", "pt", "pt.zip"]


def told(make, *args):
    """Whether something is refused in one sentence."""
    with pytest.raises(EgoScoreError) as caught:
        make(*args)
    message = str(caught.value)
    assert message
    assert "\n" not in message, message
    assert message.endswith((".", "?")), message


@pytest.mark.parametrize("name", RUBBISH)
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather"])
def test_no_rubbish_is_a_table_of_edges(write, name, ending):
    told(read_tables, write(f"edges.{ending}", RUBBISH[name]))


@pytest.mark.parametrize("name", RUBBISH)
@pytest.mark.parametrize("ending", NETWORKS)
def test_no_rubbish_is_a_network(write, name, ending):
    told(read_network_file, write(f"net.{ending}", RUBBISH[name]))


@pytest.mark.parametrize("name", RUBBISH)
def test_no_rubbish_is_a_table_of_nodes(write, name):
    edges = write("edges.csv", "source,target\nann,bob\nbob,eve\n")
    told(read_tables, edges, write("nodes.csv", RUBBISH[name]))


@pytest.mark.parametrize("ending", [*TABLES, *NETWORKS])
@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_refused(write, ending, seed):
    told(read_source, str(write(f"edges.{ending}", random.Random(seed).randbytes(3000))))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_tables_are_read_or_refused(write, seed):
    """A byte here and there is changed, or the file is cut: no other exception may come of it."""
    chance = np.random.default_rng(seed)
    whole = [
        b"source,target,w\n" + b"".join(b"u%d,u%d,%d\n" % (i, i + 1, i) for i in range(40)),
        parquet(),
        gzip.compress(TABLE),
        zipped(TABLE),
    ][seed % 4]
    data = bytearray(whole)
    for place in chance.integers(0, len(data), 3):
        data[place] = chance.integers(256)
    path = write("edges.csv", bytes(data[: chance.integers(len(data) // 2, len(data) + 1)]))
    with suppress(EgoScoreError):
        read_tables(path)
