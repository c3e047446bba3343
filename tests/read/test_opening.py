"""Files are opened by what is in them; what cannot be opened is said."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa
import pytest

from egoscore.errors import InputError
from egoscore.read import opening, read_tables
from egoscore.read.opening import first_bytes, open_stream, plain_ending, require_file

TEXT = b"source,target\na,b\n" * 1000


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, TEXT)
    return buffer.getvalue()


PACKED = {
    "gz": gzip.compress(TEXT),
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zst": pa.compress(TEXT, "zstd", asbytes=True),
    "zip": zipped("edges.csv"),
    "csv": TEXT,
}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("is_told", [True, False])
def test_every_packing_is_known_by_its_bytes(write, name, is_told):
    path = write(f"edges.csv.{name}" if is_told else "edges.csv", PACKED[name])
    with open_stream(path) as stream:
        assert stream.read() == TEXT
    assert first_bytes(path, 10) == TEXT[:10]


def test_the_ending_is_that_below_the_packing(tmp_path):
    for name in ("edges.csv", "EDGES.CSV.GZ", "a.b.csv.zip", "x.csv.gz.bz2"):
        assert plain_ending(tmp_path / name) == ".csv"
    assert plain_ending(tmp_path / "edges") == ""


def test_what_is_no_file_is_told(tmp_path, write, refusal):
    nothing, empty = tmp_path / "nothing.csv", write("empty.csv", b"")
    long = tmp_path / ("x" * 300)
    for path, sentence in {
        tmp_path: f"{tmp_path} is a folder; a file is needed here.",
        nothing: f"{nothing} is not there; check the name and the folder.",
        empty: f"{empty} is empty; a table needs a row of names and rows below.",
        "a\0b": "a\0b cannot be read: embedded null byte.",
        long: f"{long} cannot be read: File name too long.",
    }.items():
        assert refusal(require_file, path) == sentence


def test_no_permission_is_told(write, refusal, monkeypatch):
    path = write("secret.csv", TEXT)
    path.chmod(0)
    try:
        path.open().close()
    except PermissionError:
        pass
    else:  # root may read anything

        def denied(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(type(path), "open", denied)
    assert "cannot be read: Permission denied." in refusal(require_file, path)


def test_a_zip_file_holds_one_file(write, refusal):
    assert "exactly one file (found 2)" in refusal(
        open_stream, write("two.zip", zipped("a.csv", "b.csv"))
    )
    assert "exactly one file (found 0)" in refusal(
        open_stream, write("mac.zip", zipped("__MACOSX/a"))
    )
    excel = write("book.csv", zipped("xl/workbook.xml", "[Content_Types].xml"))
    assert "is a spreadsheet, which is not read here; save its sheets as CSV" in refusal(
        open_stream, excel
    )


def test_a_zip_file_that_would_fill_the_disk_is_refused(write, refusal):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.csv", b"1,2\n" * (1 << 25))
    assert "more than" in refusal(open_stream, write("bomb.csv.zip", buffer.getvalue()))


@pytest.mark.parametrize("packer", [gzip, bz2, lzma])
def test_what_unpacks_to_more_than_tables_do_is_refused(tmp_path, monkeypatch, packer):
    monkeypatch.setattr(opening, "_ANY_GROWTH_BELOW", 2**20)
    path = tmp_path / "edges.csv.packed"
    with packer.open(path, "wb") as file:
        for _ in range(24):
            file.write(b"a,b\n" * 2**18)
    with pytest.raises(InputError, match="more than 200 times its size") as refused:
        read_tables(path)
    assert str(path) in str(refused.value)


def test_a_packed_table_that_grows_as_tables_do_is_read(tmp_path):
    path = tmp_path / "edges.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("source,target\n" + "a,b\n" * 1000)
    assert read_tables(path).graph.num_edges == 1


def test_nothing_is_unpacked_in_one_go(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "_ANY_GROWTH_BELOW", 2**20)
    path = tmp_path / "network.gexf.gz"
    path.write_bytes(gzip.compress(b" " * 2**26))
    with open_stream(path) as stream, pytest.raises(InputError, match="more than 200 times"):
        stream.read()
    assert opening._PIECE <= 2**20
