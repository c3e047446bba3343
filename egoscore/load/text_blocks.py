"""A text file as blocks of whole rows in UTF-8, each of which can be parsed by itself.

pyarrow's own streaming reader uses a thread that may abort a program that ends meanwhile, and
parsing a file in one go takes several times its size.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from egoscore.jit import compiled

_RUN = re.compile(rb"[ \t]+")
_AROUND_LINES = re.compile(rb"[ \t]*(\r\n|\n|\r)[ \t]*")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_CHUNK = 1 << 20
_BLOCK = 1 << 21  # the usual size of a block
_BOM = b"\xef\xbb\xbf"  # pyarrow removes it from the beginning of every block
_QUOTE, _NEW_LINE, _RETURN = b'"\n\r'


class LongRowError(Exception):
    """A row is too long."""


class ByteStream:
    """The text of a file in UTF-8, with a tab for every run of spaces if `joins_spaces`.

    Attributes, of what has been read so far: `quotes`, how many; `has_nul`, whether any byte was
    zero, as in no text; `last_byte` that does not end a line. Each read of the file is within a
    `guard`, which translates errors.
    """

    def __init__(
        self,
        raw: Any,
        encoding: str,
        joins_spaces: bool,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._raw, self._guard = raw, guard
        plain = encoding == "utf-8"  # pyarrow itself checks it and skips the byte order mark
        self._decoder = None if plain else codecs.getincrementaldecoder(encoding)()
        self._joins_spaces = joins_spaces
        self._held, self._left, self._is_first = b"", b"", True
        self.quotes, self.has_nul, self.last_byte = 0, False, b""

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end."""
        while not self._left:
            with self._guard():
                piece = self._raw.read(_CHUNK)
            self._left = self._decode(piece)
            if not piece:
                break
        size = len(self._left) if size < 0 else size
        given, self._left = self._left[:size], self._left[size:]
        return given

    def _decode(self, piece: bytes) -> bytes:
        if self._decoder is not None:
            piece = self._decoder.decode(piece, not piece).encode()
        self.quotes += piece.count(b'"')
        self.has_nul = self.has_nul or b"\x00" in piece
        self.last_byte = piece.rstrip(b"\r\n")[-1:] or self.last_byte
        return self._join_spaces(piece) if self._joins_spaces else piece

    def _join_spaces(self, piece: bytes) -> bytes:
        """The piece with one tab for every run of spaces; a run may continue in the next piece."""
        whole = self._held + piece
        kept = whole.rstrip(b" \t\r\n")
        self._held = whole[len(kept) :] if piece else b""
        if self._is_first and kept:
            kept, self._is_first = kept.lstrip(b" \t"), False
        return _RUN.sub(b"\t", _AROUND_LINES.sub(rb"\1", kept))

    def tell(self) -> int:
        """The position in the file itself."""
        position: int = self._raw.tell()
        return position

    def lines(self) -> Iterator[str]:
        """The text line by line."""
        rest = b""
        while piece := self.read(_CHUNK):
            *whole, rest = (rest + piece).split(b"\n")
            yield from (f"{line.decode(errors='replace')}\n" for line in whole)
        yield rest.decode(errors="replace")

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()


def row_blocks(stream: ByteStream, separator: str, skip: int, most: int) -> Iterator[bytes]:
    """The rows below the first `skip` lines; none may be longer than `most` bytes."""
    rest = _after_lines(stream, skip)
    while True:
        wanted = min(max(_BLOCK, 2 * len(rest)), most)
        block, is_last = _fill(stream, rest, wanted)
        end = len(block) if is_last else _end_of_rows(block, separator)
        if end:
            yield _BOM + block[:end] if block.startswith(_BOM) else block[:end]
        elif len(block) == most:
            raise LongRowError
        if is_last:
            return
        rest = block[end:]


def _after_lines(stream: ByteStream, skip: int) -> bytes:
    """The first bytes after `skip` lines."""
    held, place = stream.read(len(_BOM)).removeprefix(_BOM), 0
    for _ in range(skip):
        found = _LINE_END.search(held, place)
        while found is None or found.end() == len(held):  # the line goes on, or its end does
            piece = stream.read(_CHUNK)
            if not piece:
                return b"" if found is None else held[found.end() :]
            held, place = held[place:] + piece, 0
            found = _LINE_END.search(held, place)
        place = found.end()
    return held[place:]


def _fill(stream: ByteStream, start: bytes, size: int) -> tuple[bytes, bool]:
    """A block that begins with `start`, up to `size` bytes, and whether it is the last."""
    pieces, missing = [start], size - len(start)
    while missing > 0:
        piece = stream.read(min(missing, _CHUNK))
        if not piece:
            return b"".join(pieces), True
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces), False


def _end_of_rows(block: bytes, separator: str) -> int:
    """Where the last whole row ends, zero if none does."""
    if b'"' in block:
        return int(_unquoted_end(np.frombuffer(block, dtype=np.uint8), ord(separator)))
    return block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, len(block) - 1) + 1


@compiled
def _unquoted_end(letters, separator):  # type: ignore[no-untyped-def]
    """The same with quoted cells, by pyarrow's rules: a quote counts where a cell begins.

    Whether a carriage return ends a line depends on the next byte.
    """
    end = 0
    begins, quoted, closed = True, False, False
    for place, letter in enumerate(letters):
        if quoted:
            quoted, closed = letter != _QUOTE, letter == _QUOTE
        elif letter == _QUOTE and (begins or closed):
            begins, quoted, closed = False, True, False
        else:
            begins, closed = letter in (separator, _NEW_LINE, _RETURN), False
            is_alone = place + 1 < len(letters) and letters[place + 1] != _NEW_LINE
            if letter == _NEW_LINE or (letter == _RETURN and is_alone):
                end = place + 1
    return end
