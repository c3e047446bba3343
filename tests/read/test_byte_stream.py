"""Bytes on their way: the same text in UTF-8, however they are cut."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.read import byte_stream
from egoscore.read.byte_stream import ByteStream


def everything(stream, size=7):
    pieces = []
    while piece := stream.read(size):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "latin-1"])
def test_any_encoding_becomes_utf8(encoding, monkeypatch):
    monkeypatch.setattr(byte_stream, "_PIECE", 3)  # characters are cut in the middle
    text = "caf\u00e9,b\n1,2\n"
    stream = ByteStream(io.BytesIO(text.encode(encoding)), encoding, False)
    assert everything(stream) == text.encode()


@given(st.text("ab \t\n", max_size=40), st.integers(1, 9))
@settings(deadline=None)
def test_spaces_are_joined_as_split_joins_them_wherever_the_text_is_cut(text, piece):
    before = byte_stream._PIECE
    byte_stream._PIECE = piece
    try:
        found = everything(ByteStream(io.BytesIO(text.encode()), "utf-8", True))
    finally:
        byte_stream._PIECE = before
    rows = [line.split("\t") for line in found.decode().split("\n") if line]
    assert rows == [line.split() for line in text.split("\n") if line.split()]


def test_what_came_by_is_known():
    stream = ByteStream(io.BytesIO(b'a,"b"\n"\x00c\n\n'), "utf-8", False)
    everything(stream)
    assert stream.quotes == 3
    assert stream.has_nul
    assert stream.last_byte == b"c"


def test_it_closes_what_it_was_given():
    raw = io.BytesIO(b"a")
    with ByteStream(raw, "utf-8", False) as stream:
        assert stream.read() == b"a"
    assert raw.closed
