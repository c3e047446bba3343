"""Files are opened by their content, and within plausible sizes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from egoscore.errors import DatasetError, InputError
from egoscore.load import read_tables, unpack
from egoscore.load.unpack import (
    first_bytes,
    naming,
    open_archive,
    open_stream,
    parsing,
    plain_ending,
    read_member,
    require_file,
)

MIB = 2**20


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED, name: str = "x.npy") -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(name, content)
    return buffer


def test_bomb_is_refused_before_it_unpacks() -> None:
    source = zipped(bytes(65 * MIB))
    tracemalloc.start()
    with pytest.raises(DatasetError, match=r"bomb\.npz would expand to 68,157,440 bytes"):
        open_archive(source, Path("bomb.npz"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MIB


def test_well_compressed_content_below_64_mib_is_not_a_bomb() -> None:
    source = zipped(bytes(60 * MIB))
    with open_archive(source, Path("zeros")) as archive:
        content = read_member(archive, archive.infolist()[0], Path("zeros"))
    assert content.getbuffer().nbytes == 60 * MIB


def test_total_size_has_a_limit_however_badly_it_compresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unpack, "_MAX_BYTES", 1000)
    source = zipped(os.urandom(1001), zipfile.ZIP_STORED)
    with pytest.raises(DatasetError, match="more than the 1,000 that are plausible"):
        open_archive(source, Path("large"))


@pytest.mark.parametrize("declared", [10, 10 * MIB + 1])
def test_a_declared_size_that_lies_is_found_out(declared: int) -> None:
    honest = zipped(bytes(10 * MIB)).getvalue()
    lying = honest.replace(struct.pack("<I", 10 * MIB), struct.pack("<I", declared))
    assert lying != honest
    with open_archive(io.BytesIO(lying), Path("liar")) as archive:
        tracemalloc.start()
        with pytest.raises(DatasetError, match="liar is damaged"):
            read_member(archive, archive.infolist()[0], Path("liar"))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 4 * declared + 4 * MIB


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_unpack_in_one_go_are_refused(method: int) -> None:
    with pytest.raises(DatasetError, match="unusual compression"):
        open_archive(zipped(b"content", method), Path("f"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_the_same_name_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.npy", b"1")
        archive.writestr("x.npy", b"2")
    with pytest.raises(DatasetError, match="two members of the same name"):
        open_archive(buffer, Path("f"))


def test_what_goes_wrong_with_a_file_names_it_in_one_sentence() -> None:
    path = Path("somewhere.npz")
    for cause, words in (
        (MemoryError(), "does not fit into memory"),
        (zipfile.BadZipFile("bad magic"), "is damaged or incomplete"),
        (PermissionError(13, "Permission denied", str(path)), "cannot be read: Permission denied"),
        (OSError("unnamed"), "is damaged or incomplete"),
    ):
        with (
            pytest.raises(DatasetError, match=words) as caught,
            parsing(path, (zipfile.BadZipFile, OSError)),
        ):
            raise cause
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(DatasetError, match="cannot be used: Features must be finite"), naming(path):
        raise InputError("Features must be finite.")


@pytest.mark.parametrize("bug", [TypeError("ours"), AttributeError("ours"), KeyError("ours")])
def test_other_errors_are_bugs_and_surface_as_themselves(bug: Exception) -> None:
    with pytest.raises(type(bug)) as caught, parsing(Path("f"), (zipfile.BadZipFile, OSError)):
        raise bug
    assert caught.value is bug


def test_what_a_library_raises_has_to_be_said() -> None:
    with pytest.raises(TypeError, match="errors"):
        parsing(Path("f"))  # type: ignore[call-arg]


def test_an_error_that_already_names_the_file_passes_unchanged() -> None:
    error = DatasetError("The file f has no 'x'.")
    with pytest.raises(DatasetError) as caught, parsing(Path("f"), (OSError,)), naming(Path("f")):
        raise error
    assert caught.value is error


def test_a_wrong_checksum_is_damage() -> None:
    content = bytearray(zipped(b"content" * 10, zipfile.ZIP_STORED).getvalue())
    content[content.index(b"content")] ^= 1
    archive = open_archive(io.BytesIO(bytes(content)), Path("f"))
    with pytest.raises(DatasetError, match="f is damaged"), archive:
        read_member(archive, archive.infolist()[0], Path("f"))


def test_encrypted_members_are_refused() -> None:
    content = bytearray(zipped(b"content").getvalue())
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(header) + place] |= 1
    with pytest.raises(DatasetError, match="is encrypted"):
        open_archive(io.BytesIO(bytes(content)), Path("f"))


TEXT = b"source,target\na,b\n" * 1000


def zip_of(*names):
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
    "zip": zip_of("edges.csv"),
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
        nothing: f"{nothing} does not exist; check the name and the folder.",
        empty: f"{empty} is empty; a table needs a header and rows below it.",
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
        open_stream, write("two.zip", zip_of("a.csv", "b.csv"))
    )
    assert "exactly one file (found 0)" in refusal(
        open_stream, write("mac.zip", zip_of("__MACOSX/a"))
    )
    excel = write("book.csv", zip_of("xl/workbook.xml", "[Content_Types].xml"))
    assert "is a spreadsheet, which cannot be read; save its sheets as CSV" in refusal(
        open_stream, excel
    )


def test_a_zip_file_that_would_fill_the_disk_is_refused(write, refusal):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.csv", b"1,2\n" * (1 << 25))
    assert "more than" in refusal(open_stream, write("bomb.csv.zip", buffer.getvalue()))


@pytest.mark.parametrize("packer", [gzip, bz2, lzma])
def test_what_unpacks_to_more_than_tables_do_is_refused(tmp_path, monkeypatch, packer):
    monkeypatch.setattr(unpack, "_SMALL_STREAM", 2**20)
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
    monkeypatch.setattr(unpack, "_SMALL_STREAM", 2**20)
    path = tmp_path / "network.gexf.gz"
    path.write_bytes(gzip.compress(b" " * 2**26))
    with open_stream(path) as stream, pytest.raises(InputError, match="more than 200 times"):
        stream.read()
    assert unpack._CHUNK <= 2**20
