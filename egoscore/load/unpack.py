"""Files as plain bytes: decompressed as they are read, and refused if they expand too much.

A file may come from anywhere: nothing in it is executed, nothing is unpacked to disk, and no size
it declares is trusted. Everything that can expand has a limit, see `archive_limit` and
`stream_limit`.
"""

from __future__ import annotations

import io
import lzma
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from egoscore.errors import DatasetError, EgoScoreError, InputError
from egoscore.text import option

# The first bytes identify the compression: names lie more often.
_CODECS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_XZ, _ZIP = b"\xfd7zXZ\x00", b"PK\x03\x04"
_PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1

# DGraph-Fin, the largest public file, unpacks to less than 1 GiB, and real features shrink less
# than 100-fold; deflate itself stops at about 1000-fold.
_MAX_BYTES = 4 * 2**30
_MAX_GROWTH = 200
_SMALL_ARCHIVE, _SMALL_STREAM = 2**26, 2**28  # however small the file
_CHUNK = 2**20

# What decompressors, pyarrow and the system raise on damaged bytes.
STREAM_ERRORS = (OSError, EOFError, lzma.LZMAError, pa.ArrowException)
# For libraries that raise whatever they stumble over.
ANY_ERROR = (Exception,)


def archive_limit(size: int) -> int:
    """The most bytes an archive or matrix file of that size may expand to in memory.

    200 times its size, or 64 MiB if that is more, and never above 4 GiB.
    """
    return min(_MAX_BYTES, max(_SMALL_ARCHIVE, _MAX_GROWTH * size))


def stream_limit(size: int) -> int:
    """The most bytes a table of that size may expand to: 200 times as many, at least 256 MiB."""
    return max(_SMALL_STREAM, _MAX_GROWTH * size)


@contextmanager
def parsing(path: str | Path, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Report these `errors`, which a parsing library raises, as damage of the file.

    Only the call of that library belongs inside, so that bugs of our own surface as themselves.
    """
    try:
        yield
    except EgoScoreError:
        raise
    except MemoryError as error:
        raise DatasetError(f"The file {path} does not fit into memory.") from error
    except errors as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise DatasetError(f"The file {path} cannot be read: {error.strerror}.") from error
        raise damaged(path) from error


def damaged(path: str | Path) -> DatasetError:
    """The error for a file that cannot be parsed."""
    return DatasetError(f"The file {path} is damaged or incomplete; get a fresh copy of it.")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file when the graph in it is refused."""
    try:
        yield
    except InputError as error:
        raise DatasetError(f"The graph in the file {path} cannot be used: {error}") from error


@contextmanager
def open_archive_file(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip archive in a file, checked as by `open_archive`."""
    with parsing(path, (OSError,)):
        source = path.open("rb")
    with source, open_archive(source, path) as archive:
        yield archive


def open_archive(source: BinaryIO, path: Path) -> zipfile.ZipFile:
    """The zip archive in `source`, refused if it would unpack to more than `archive_limit`.

    Members may be stored or deflated, the two compressions that unpack piece by piece. `path` is
    only the name for messages: `source` may itself be a member of that file.
    """
    with parsing(path, STREAM_ERRORS):
        size = source.seek(0, io.SEEK_END)
        is_archive = zipfile.is_zipfile(source)
    if size == 0:
        raise DatasetError(f"The file {path} is empty; get a fresh copy of it.")
    if not is_archive:
        raise DatasetError(
            f"The file {path} is not a zip archive, as files of this kind are, or is cut short; "
            "get a fresh copy of it."
        )
    with parsing(path, ANY_ERROR):
        archive = zipfile.ZipFile(source)
    _check_members(archive.infolist(), size, path)
    return archive


def _check_members(members: list[zipfile.ZipInfo], size: int, path: Path) -> None:
    check_growth(sum(member.file_size for member in members), archive_limit(size), path)
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise DatasetError(f"The file {path} has two members of the same name; it is refused.")
    for member in members:
        if member.flag_bits & _ENCRYPTED:
            raise DatasetError(f"The file {path} is encrypted; unpack it with its password first.")
        if member.compress_type not in _COMPRESSIONS:
            raise DatasetError(
                f"The file {path} uses an unusual compression; pack it again with plain zip."
            )


def check_growth(expanded: int, limit: int, path: str | Path) -> None:
    """Refuse a file that would expand to more than its limit."""
    if expanded > limit:
        raise DatasetError(
            f"The file {path} would expand to {expanded:,} bytes, more than the {limit:,} that are "
            "plausible for its size; it is refused."
        )


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> io.BytesIO:
    """The bytes of one member, read piece by piece and never beyond its checked size."""
    content = io.BytesIO()
    with parsing(path, ANY_ERROR):
        stream = archive.open(member)
    with stream:
        written = 1
        while content.tell() <= member.file_size and written:
            with parsing(path, ANY_ERROR):
                written = content.write(stream.read(_CHUNK))
    if content.tell() != member.file_size:
        raise DatasetError(f"The file {path} is damaged: a member differs from its declared size.")
    content.seek(0)
    return content


def require_file(path: str | Path) -> Path:
    """The path, refused if it is not a file that can be read."""
    path = expand_home(path)
    try:
        is_folder = path.is_dir()
        is_empty = not is_folder and not _first_byte(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name and the folder.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}.") from error
    if is_folder:
        raise InputError(f"{path} is a folder; a file is needed here.")
    if is_empty:
        raise empty(path)
    return path


def expand_home(path: str | Path) -> Path:
    """The path with ~ replaced by the user's folder, if there is such a user."""
    return Path(os.path.expanduser(path))


def empty(name: str | Path) -> InputError:
    """The error for an empty file."""
    return InputError(f"{name} is empty; a table needs a header and rows below it.")


def spreadsheet(name: str | Path) -> InputError:
    """The error for a workbook."""
    return InputError(
        f"{name} is a spreadsheet, which cannot be read; save its sheets as CSV and pass those as "
        f"{option('edges')} and {option('nodes')}."
    )


def _first_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1)


def plain_ending(path: Path) -> str:
    """The file extension below that of the compression: .csv for edges.CSV.gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in _PACKED_ENDINGS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def first_bytes(path: Path, count: int, name: str | None = None) -> bytes:
    """At most the first `count` unpacked bytes of a file."""
    with open_stream(path, name) as stream:
        pieces, left = [], count
        while left and (piece := stream.read(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


def open_stream(path: Path, name: str | None = None) -> Any:
    """The content of a file, unpacked as it is read; `name` replaces the path in messages.

    Its `tell` is the position in the file itself.
    """
    name = name or str(path)
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(_XZ):  # the one compression that pyarrow does not know
        file = path.open("rb")
        return _Unpacked(lzma.open(file), file.tell, path, name, file)
    if start.startswith(_ZIP):
        return _open_only_member(path, name)
    codec = next((known for magic, known in _CODECS.items() if start.startswith(magic)), None)
    plain = pa.OSFile(str(path))
    if codec is None:
        return plain
    return _Unpacked(pa.CompressedInputStream(plain, codec), plain.tell, path, name)


class _Unpacked:
    """A compressed file as it unpacks, refused once it exceeds `stream_limit`."""

    def __init__(
        self, stream: Any, tell: Callable[[], int], path: Path, name: str, file: Any = None
    ) -> None:
        self._stream, self._file, self._name, self.tell = stream, file, name, tell
        self._room = stream_limit(path.stat().st_size)

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end; all that is left if it is negative."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK), b""))
        piece: bytes = self._stream.read(size)
        self._room -= len(piece)
        if self._room < 0:
            raise InputError(
                f"{self._name} unpacks to more than {_MAX_GROWTH} times its size, as no table "
                "does; unpack it yourself and look at it."
            )
        return piece

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        if self._file is not None:  # which lzma leaves open
            self._file.close()

    def __enter__(self) -> _Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_only_member(path: Path, name: str) -> Any:
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
