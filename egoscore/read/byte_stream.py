"""The bytes of a text file on their way to pyarrow: UTF-8, watched, one separator at a time."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

_RUN = re.compile(rb"[ \t]+")
_AROUND_LINES = re.compile(rb"[ \t]*(\r\n|\n|\r)[ \t]*")
_PIECE = 1 << 20


class ByteStream:
    """The text of a file in UTF-8.

    Attributes, of what has come by so far: `quotes`, how many; `has_nul`, whether any byte was
    zero, which no text has; `last_byte` that does not end a line.
    """

    def __init__(self, raw: Any, encoding: str, joins_spaces: bool) -> None:
        self._raw = raw
        plain = encoding == "utf-8"  # pyarrow itself checks it and skips the mark at its beginning
        self._decoder = None if plain else codecs.getincrementaldecoder(encoding)()
        self._joins_spaces = joins_spaces
        self._held, self._left, self._is_first = b"", b"", True
        self.quotes, self.has_nul, self.last_byte = 0, False, b""

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, none at the end."""
        while not self._left:
            piece = self._raw.read(_PIECE)
            self._left = self._prepared(piece)
            if not piece:
                break
        size = len(self._left) if size < 0 else size
        given, self._left = self._left[:size], self._left[size:]
        return given

    def _prepared(self, piece: bytes) -> bytes:
        if self._decoder is not None:
            piece = self._decoder.decode(piece, not piece).encode()
        self.quotes += piece.count(b'"')
        self.has_nul = self.has_nul or b"\x00" in piece
        self.last_byte = piece.rstrip(b"\r\n")[-1:] or self.last_byte
        return self._joined(piece) if self._joins_spaces else piece

    def _joined(self, piece: bytes) -> bytes:
        """With one tab for every run of spaces, none around lines; a run may go on in the next."""
        whole = self._held + piece
        kept = whole.rstrip(b" \t\r\n")
        self._held = whole[len(kept) :] if piece else b""
        if self._is_first and kept:
            kept, self._is_first = kept.lstrip(b" \t"), False
        return _RUN.sub(b"\t", _AROUND_LINES.sub(rb"\1", kept))

    def tell(self) -> int:
        """How far in the file itself that is."""
        position: int = self._raw.tell()
        return position

    def lines(self) -> Iterator[str]:
        """The text line by line, for those who need it slowly."""
        rest = b""
        while piece := self.read(_PIECE):
            *whole, rest = (rest + piece).split(b"\n")
            yield from (f"{line.decode(errors='replace')}\n" for line in whole)
        yield rest.decode(errors="replace")

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._raw.close()
