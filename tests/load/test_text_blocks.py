"""Text as blocks of whole rows in UTF-8, wherever it is cut."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.load import text_blocks
from egoscore.load import text_blocks as module
from egoscore.load.text_blocks import ByteStream, LongRowError, row_blocks


def everything(stream, size=7):
    pieces = []
    while piece := stream.read(size):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "latin-1"])
def test_any_encoding_becomes_utf8(encoding, monkeypatch):
    monkeypatch.setattr(text_blocks, "_CHUNK", 3)  # characters are cut in the middle
    text = "caf\u00e9,b\n1,2\n"
    stream = ByteStream(io.BytesIO(text.encode(encoding)), encoding, False)
    assert everything(stream) == text.encode()


@given(st.text("ab \t\n", max_size=40), st.integers(1, 9))
@settings(deadline=None)
def test_spaces_are_joined_as_split_joins_them_wherever_the_text_is_cut(text, piece):
    before = text_blocks._CHUNK
    text_blocks._CHUNK = piece
    try:
        found = everything(ByteStream(io.BytesIO(text.encode()), "utf-8", True))
    finally:
        text_blocks._CHUNK = before
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


MARK = b"\xef\xbb\xbf"


def blocks(text, skip=0, most=1000, usual=10):
    before = module._BLOCK
    module._BLOCK = usual
    try:
        stream = ByteStream(io.BytesIO(text), "utf-8", False)
        return list(row_blocks(stream, ",", skip, most))
    finally:
        module._BLOCK = before


def rows(text):
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


cells = st.text('ab,"\n\r', max_size=5)
tables = st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=12)


@given(tables, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_every_row_is_in_one_block_however_long_blocks_are(table, ending, usual):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator=ending, quoting=csv.QUOTE_ALL).writerows(table)
    text = buffer.getvalue().encode()
    found = blocks(text, usual=usual)
    assert b"".join(found) == text
    assert [row for block in found for row in rows(block) if row] == table


def test_a_quote_within_a_cell_is_a_character():
    assert blocks(b'5" disk,1\n6" disk,2\n7,3\n', usual=15)[0] == b'5" disk,1\n'


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_lines_above_are_skipped(ending):
    text = ending.join([b'# "', b"", b"#", b"a,b", b"c,d", b""])
    assert b"".join(blocks(text, skip=3)) == ending.join([b"a,b", b"c,d", b""])
    assert b"".join(blocks(text, skip=9)) == b""


def test_an_ending_of_two_bytes_may_come_in_two_pieces():
    """The first three bytes are read by themselves."""
    assert b"".join(blocks(b"ab\r\ncd\r\nef,g\r\n", skip=2)) == b"ef,g\r\n"


def test_long_prefaces_are_skipped():
    text = b"# nothing\n" * 300_000 + b"a,b\n"
    assert blocks(text, skip=300_000, usual=1 << 20) == [b"a,b\n"]


def test_only_the_mark_at_the_beginning_goes():
    text = MARK + b"a,b\n" + MARK + b"c,d\n"
    assert blocks(text, usual=5) == [b"a,b\n", MARK + MARK + b"c,d\n"]


@pytest.mark.parametrize(("most", "fits"), [(20, True), (19, False)])
def test_rows_may_be_as_long_as_said_and_no_longer(most, fits):
    text = b"a,b\n" + b"x" * 17 + b",1\n" + b"c,d\n"
    if fits:
        assert b"".join(blocks(text, most=most)) == text
    else:
        with pytest.raises(LongRowError):
            blocks(text, most=most)
