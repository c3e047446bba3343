"""A text file in blocks of whole rows, each of which can be read by itself.

pyarrow reads pieces in a thread of its own, which goes on when nobody wants more of them and may
abort a program that ends meanwhile. And what it does in one go takes several times the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from egoscore.keyed import compiled
from egoscore.read.byte_stream import ByteStream

_USUAL = 1 << 21
_PIECE = 1 << 20
_LINE_END = re.compile(rb"\r\n|\n|\r")
_MARK = b"\xef\xbb\xbf"  # which pyarrow takes away from the beginning of whatever it reads
_QUOTE, _NEW_LINE, _RETURN = b'"\n\r'


class LongRowError(Exception):
    """A row has more bytes than any may have."""


def row_blocks(stream: ByteStream, separator: str, skip: int, most: int) -> Iterator[bytes]:
    """The rows below the first `skip` lines; none may have more than `most` bytes."""
    rest = _below(stream, skip)
    while True:
        wanted = min(max(_USUAL, 2 * len(rest)), most)
        block, is_last = _filled(stream, rest, wanted)
        end = len(block) if is_last else _end_of_rows(block, separator)
        if end:
            yield _MARK + block[:end] if block.startswith(_MARK) else block[:end]
        elif len(block) == most:
            raise LongRowError
        if is_last:
            return
        rest = block[end:]


def _below(stream: ByteStream, skip: int) -> bytes:
    """What comes first below `skip` lines."""
    held, place = stream.read(len(_MARK)).removeprefix(_MARK), 0
    for _ in range(skip):
        found = _LINE_END.search(held, place)
        while found is None or found.end() == len(held):  # the line goes on, or its end does
            piece = stream.read(_PIECE)
            if not piece:
                return b"" if found is None else held[found.end() :]
            held, place = held[place:] + piece, 0
            found = _LINE_END.search(held, place)
        place = found.end()
    return held[place:]


def _filled(stream: ByteStream, start: bytes, size: int) -> tuple[bytes, bool]:
    """What begins with `start`, up to `size` bytes, and whether that is all."""
    pieces, missing = [start], size - len(start)
    while missing > 0:
        piece = stream.read(min(missing, _PIECE))
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
    """The same where cells may be quoted, by pyarrow's rules: a quote counts where a cell begins.

    Whether a return ends a line is known from what comes next.
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
