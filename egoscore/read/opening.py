"""From a path to a stream of plain bytes, whatever the file is packed with."""

from __future__ import annotations

import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from egoscore.errors import InputError
from egoscore.graph.archive import open_archive, read_member

# What a file is packed with is read off its first bytes: names lie more often.
_CODECS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_XZ, _ZIP = b"\xfd7zXZ\x00", b"PK\x03\x04"
_PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")

_MOST_GROWTH = 200
_ANY_GROWTH_BELOW = 2**28
_PIECE = 2**20

# How decompressors, pyarrow and the system fail on damaged bytes.
DAMAGE = (OSError, EOFError, lzma.LZMAError, pa.ArrowException)


def require_file(path: str | Path) -> Path:
    """The path, refused in one sentence if it is not a file that can be read."""
    path = at_home(path)
    try:
        is_folder = path.is_dir()
        is_empty = not is_folder and not _first_byte(path)
    except FileNotFoundError:
        raise InputError(f"{path} is not there; check the name and the folder.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}.") from error
    if is_folder:
        raise InputError(f"{path} is a folder; a file is needed here.")
    if is_empty:
        raise empty(path)
    return path


def at_home(path: str | Path) -> Path:
    """The path with ~ for the user's folder, where there is such a user."""
    return Path(os.path.expanduser(path))


def empty(name: str | Path) -> InputError:
    """The refusal of a file without anything in it."""
    return InputError(f"{name} is empty; a table needs a row of names and rows below.")


def spreadsheet(name: str | Path) -> InputError:
    """The refusal of a workbook."""
    return InputError(
        f"{name} is a spreadsheet, which is not read here; save its sheets as CSV and give those "
        "with --edges and --nodes."
    )


def _first_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1)


def plain_ending(path: Path) -> str:
    """The ending of the name without that of the packing: .csv for edges.CSV.gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in _PACKED_ENDINGS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def first_bytes(path: Path, count: int, name: str | None = None) -> bytes:
    """At most `count` bytes of what is in the file, unpacked."""
    with open_stream(path, name) as stream:
        pieces, left = [], count
        while left and (piece := stream.read(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


def open_stream(path: Path, name: str | None = None) -> Any:
    """What is in the file, unpacked as it is read; messages call it by its path or this name.

    Its `tell` says how far in the file itself that is.
    """
    name = name or str(path)
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(_XZ):  # the one packing that pyarrow does not know
        file = path.open("rb")
        return _Unpacked(lzma.open(file), file.tell, path, name, file)
    if start.startswith(_ZIP):
        return _only_member(path, name)
    codec = next((known for magic, known in _CODECS.items() if start.startswith(magic)), None)
    plain = pa.OSFile(str(path))
    if codec is None:
        return plain
    return _Unpacked(pa.CompressedInputStream(plain, codec), plain.tell, path, name)


class _Unpacked:
    """A packed file as it unpacks, refused once it has grown beyond what tables and XML do."""

    def __init__(
        self, stream: Any, tell: Callable[[], int], path: Path, name: str, file: Any = None
    ) -> None:
        self._stream, self._file, self._name, self.tell = stream, file, name, tell
        self._room = max(_ANY_GROWTH_BELOW, _MOST_GROWTH * path.stat().st_size)

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end; all that is left if it is negative."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        piece: bytes = self._stream.read(size)
        self._room -= len(piece)
        if self._room < 0:
            raise InputError(
                f"{self._name} unpacks to more than {_MOST_GROWTH} times its size, as no "
                "table does; unpack it yourself and look at it."
            )
        return piece

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()
        if self._file is not None:  # which this stream leaves open
            self._file.close()

    def __enter__(self) -> _Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _only_member(path: Path, name: str) -> Any:
    with path.open("rb") as file, open_archive(file, Path(name)) as archive:
        if any(member.startswith("xl/") for member in archive.namelist()):
            raise spreadsheet(name)
        # macOS adds a hidden companion for every file it zips
        members = [
            member
            for member in archive.infolist()
            if not member.is_dir() and not member.filename.startswith("__MACOSX/")
        ]
        if len(members) != 1:
            raise InputError(
                f"{name} must hold exactly one file (found {len(members)}); unpack it first."
            )
        member = read_member(archive, members[0], Path(name))
        packed, unpacked = path.stat().st_size, max(members[0].file_size, 1)
        return _Unpacked(member, lambda: packed * member.tell() // unpacked, path, name)
