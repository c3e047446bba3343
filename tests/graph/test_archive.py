"""Zip archives from anywhere: sizes are held to, oddities refused."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from egoscore.errors import DatasetError, InputError
from egoscore.graph import archive as archive_module
from egoscore.graph.archive import open_archive, read_member, reading

MIB = 2**20


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED, name: str = "x.npy") -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(name, content)
    return buffer


def test_bomb_is_refused_before_it_unpacks() -> None:
    source = zipped(bytes(65 * MIB))
    tracemalloc.start()
    with pytest.raises(DatasetError, match=r"bomb\.npz would unpack to 68,157,440 bytes"):
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
    monkeypatch.setattr(archive_module, "_MOST_BYTES", 1000)
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
        with pytest.raises(DatasetError, match="liar is damaged"), reading(Path("liar")):
            read_member(archive, archive.infolist()[0], Path("liar"))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 4 * declared + 4 * MIB


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_unpack_in_one_go_are_refused(method: int) -> None:
    with pytest.raises(DatasetError, match="compressed in an unusual way"):
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
    for cause, says in (
        (InputError("Features must be finite."), "cannot be used: Features must be finite"),
        (MemoryError(), "does not fit into memory"),
        (zipfile.BadZipFile("bad magic"), "is damaged or incomplete"),
        (PermissionError(13, "Permission denied", str(path)), "cannot be read: Permission denied"),
        (OSError("unnamed"), "is damaged or incomplete"),
    ):
        with pytest.raises(DatasetError, match=says) as caught, reading(path):
            raise cause
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_an_error_that_already_names_the_file_passes_unchanged() -> None:
    error = DatasetError("The file f has no 'x'.")
    with pytest.raises(DatasetError) as caught, reading(Path("f")):
        raise error
    assert caught.value is error
