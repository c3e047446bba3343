"""The careful reading of zip archives, which `npz_file` and `pyg_file` share.

A file may come from anywhere: nothing in it is run, nothing is unpacked to disk, and no size it
declares is believed before it has been checked and held to.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from egoscore.errors import DatasetError, InputError

# DGraph-Fin, the largest file of the field, unpacks to less than 1 GiB, and real features shrink
# less than 100-fold; deflate itself stops at about 1000-fold.
_MOST_BYTES = 4 * 2**30
_MOST_GROWTH = 200
_ANY_GROWTH_BELOW = 64 * 2**20
_PIECE = 2**20
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with the content of `path` into one DatasetError that names it."""
    try:
        yield
    except DatasetError:
        raise
    except InputError as error:
        raise DatasetError(f"The network in the file {path} cannot be used: {error}") from error
    except MemoryError as error:
        raise DatasetError(f"The file {path} does not fit into memory.") from error
    except Exception as error:
        # On damaged bytes zipfile, zlib, numpy and torch fail in a dozen different ways.
        if isinstance(error, OSError) and error.filename is not None:
            raise DatasetError(f"The file {path} cannot be read: {error.strerror}.") from error
        raise DatasetError(
            f"The file {path} is damaged or incomplete; get a fresh copy of it."
        ) from error


def open_archive(source: BinaryIO, path: Path) -> zipfile.ZipFile:
    """The zip archive in `source`, refused if it would unpack to more than is plausible.

    Refused is more than 4 GiB altogether, and more than 200 times the size of the archive once
    above 64 MiB. Members may be stored or deflated, the two ways that unpack piece by piece.
    `path` is only the name for messages: `source` may itself be a member of that file.
    """
    size = source.seek(0, io.SEEK_END)
    if size == 0:
        raise DatasetError(f"The file {path} is empty; get a fresh copy of it.")
    if not zipfile.is_zipfile(source):
        raise DatasetError(
            f"The file {path} is not a zip archive, as files of this kind are, or lacks its end; "
            "get a fresh copy of it."
        )
    archive = zipfile.ZipFile(source)
    _check_members(archive.infolist(), size, path)
    return archive


def _check_members(members: list[zipfile.ZipInfo], size: int, path: Path) -> None:
    unpacked = sum(member.file_size for member in members)
    limit = min(_MOST_BYTES, max(_ANY_GROWTH_BELOW, _MOST_GROWTH * size))
    if unpacked > limit:
        raise DatasetError(
            f"The file {path} would unpack to {unpacked:,} bytes, more than the {limit:,} that "
            "are plausible for its size; it is refused."
        )
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise DatasetError(f"The file {path} has two members of the same name; it is refused.")
    for member in members:
        if member.compress_type not in _COMPRESSIONS:
            raise DatasetError(
                f"The file {path} is compressed in an unusual way; pack it again with plain zip."
            )


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> io.BytesIO:
    """The bytes of one member, read piece by piece and never beyond the size that was checked."""
    content = io.BytesIO()
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            content.write(piece)
            if content.tell() > member.file_size:
                break
    if content.tell() != member.file_size:
        raise DatasetError(f"The file {path} is damaged: a member has not the size it declares.")
    content.seek(0)
    return content
