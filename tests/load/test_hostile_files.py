"""Whatever the input, the result is a graph or one sentence: no other exception, no warning."""

import gzip
import io
import random
import struct
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy import sparse

from egoscore.errors import EgoScoreError
from egoscore.load import Options, read_network_file, read_tables
from egoscore.load.source import read_source

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
    "json of nothing but brackets": b"[" * 200_000,
    "xml of nothing but tags": b"<graphml>" + b"<graph><node id='a'>" * 20_000,
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
    "zip with a wrong checksum": zipped(TABLE).replace(b"a,b", b"a,c", 1),
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
    "utf-16 of the other order": "source,target\na,b\n".encode("utf-16-be"),
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


def is_refused(make, *args):
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
    is_refused(read_tables, write(f"edges.{ending}", RUBBISH[name]))


@pytest.mark.parametrize("name", RUBBISH)
@pytest.mark.parametrize("ending", NETWORKS)
def test_no_rubbish_is_a_network(write, name, ending):
    is_refused(read_network_file, write(f"net.{ending}", RUBBISH[name]))


@pytest.mark.parametrize("name", RUBBISH)
def test_no_rubbish_is_a_table_of_nodes(write, name):
    edges = write("edges.csv", "source,target\nann,bob\nbob,eve\n")
    is_refused(read_tables, edges, write("nodes.csv", RUBBISH[name]))


@pytest.mark.parametrize("ending", [*TABLES, *NETWORKS])
@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_refused(write, ending, seed):
    is_refused(read_source, str(write(f"edges.{ending}", random.Random(seed).randbytes(3000))))


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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-7", "shift_jis", "hz"])
@pytest.mark.parametrize("name", ["jpeg", "utf-16 without a mark", "zeros", "a nul late", "quotes"])
def test_any_encoding_may_be_named_for_any_file(write, name, encoding):
    with suppress(EgoScoreError):
        read_tables(write("edges.csv", RUBBISH[name]), options=Options(encoding=encoding))


MIB = 2**20


@pytest.fixture
def frugal():
    """Fails a test that takes much memory."""
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    yield
    assert pa.total_allocated_bytes() - before < 64 * MIB
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * MIB


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


EXPANDS = "more than the"


def test_parquet_of_more_rows_than_plausible_is_refused(tmp_path, refusal, frugal):
    path = tmp_path / "edges.parquet"
    rows = pa.table({name: np.zeros(1 << 20, np.int8) for name in ("source", "target")})
    with pq.ParquetWriter(path, rows.schema) as writer:
        for _ in range(20):
            writer.write_table(rows)
    assert path.stat().st_size < 2**18
    assert EXPANDS in refusal(read_tables, path)


def test_parquet_of_longer_text_than_plausible_is_refused(tmp_path, refusal, frugal):
    path = tmp_path / "edges.parquet"
    long = pa.DictionaryArray.from_arrays(np.zeros(4000, np.int32), ["x" * MIB])
    short = pa.DictionaryArray.from_arrays(np.zeros(4000, np.int32), ["y"])
    table = pa.table({"source": short, "target": long})
    schema = pa.schema([("source", pa.string()), ("target", pa.string())])
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 2**16
    assert pq.read_schema(path) == schema
    assert EXPANDS in refusal(read_tables, path)


def test_a_mat_file_of_zeros_is_refused(tmp_path, refusal, frugal):
    from scipy.io import savemat

    path = tmp_path / "net.mat"
    sizes = {"Network": np.zeros((2000, 4000))} | {f"A{i}": np.zeros((1, 1)) for i in range(3)}
    tracemalloc.stop()
    savemat(path, sizes | {"B": np.zeros((2000, 4000))}, do_compression=True)
    tracemalloc.start()
    assert path.stat().st_size < MIB
    assert EXPANDS in refusal(read_network_file, path)


def test_cells_of_a_mat_file_are_not_read(tmp_path, refusal, frugal):
    from scipy.io import savemat

    path = tmp_path / "net.mat"
    savemat(path, {"Network": np.array([[1, "a", 2.0]], dtype=object)})
    content = path.read_bytes()
    declared = struct.pack("<ii", 1, 3)
    assert content.count(declared) == 1
    path.write_bytes(content.replace(declared, struct.pack("<ii", 30_000, 30_000)))
    assert "has no graph" in refusal(read_network_file, path)


FAR = np.array([[0], [10**9]])
WIDE = sparse.csr_array(([1.0], ([0], [10**9])), shape=(2, 10**9 + 1))
WIDE_PARTS = {name: getattr(WIDE, name) for name in ("data", "indices", "indptr", "shape")}


@pytest.mark.parametrize(
    "arrays",
    [
        {"edge_index": FAR},
        {"row": FAR[0], "col": FAR[1], "data": [1.0], "shape": [10**10] * 2, "format": b"coo"},
        {"edge_index": FAR * 0, **{f"attr_{name}": part for name, part in WIDE_PARTS.items()}},
    ],
    ids=["edges", "coo", "features"],
)
def test_arrays_that_imply_many_nodes_are_refused(write, refusal, frugal, arrays):
    assert EXPANDS in refusal(read_network_file, write("net.npz", npz(**arrays)))


@pytest.mark.parametrize("fields", [{"num_nodes": 10**12}, {"edge_index": torch.tensor(FAR)}])
def test_a_pyg_file_that_implies_many_nodes_is_refused(tmp_path, refusal, frugal, fields):
    torch.save({"edge_index": torch.tensor([[0], [1]]), **fields}, tmp_path / "net.pt")
    assert EXPANDS in refusal(read_network_file, tmp_path / "net.pt")


def pyg():
    buffer = io.BytesIO()
    torch.save({"x": torch.ones(2, 2), "edge_index": torch.tensor([[0], [1]])}, buffer)
    return buffer.getvalue()


def graphml():
    return XML + b"<node id='b'/><edge source='a' target='b'/></graph></graphml>"


@pytest.mark.parametrize("bug", [TypeError, AttributeError, ValueError, KeyError])
@pytest.mark.parametrize(
    ("name", "content", "function"),
    [
        ("net.npz", npz(edge_index=[[0], [1]]), "matrix_files._edges"),
        ("net.npz", npz(edge_index=[[0], [1]]), "matrix_files._assemble_sparse"),
        ("net.pt", pyg(), "pyg_files._contents"),
        ("net.pt", pyg(), "pyg_files._repacked"),
        ("net.pt", pyg(), "unpack._check_members"),
        ("net.graphml", graphml(), "graph_files._fill_in_defaults"),
        ("edges.csv", TABLE, "csv.collect"),
        ("edges.csv.zip", zipped(TABLE), "unpack._check_members"),
        ("edges.parquet", parquet(), "parquet.collect"),
    ],
)
def test_a_bug_of_our_own_is_no_damaged_file(write, monkeypatch, bug, name, content, function):
    def broken(*args, **kwargs):
        raise bug("ours")

    monkeypatch.setattr(f"egoscore.load.{function}", broken)
    with pytest.raises(bug, match="ours"):
        read_source(str(write(name, content)))
