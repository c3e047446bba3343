"""Blocks of whole rows: together the file, and every row in one of them."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.read import row_blocks as module
from egoscore.read.byte_stream import ByteStream
from egoscore.read.row_blocks import LongRowError, row_blocks

MARK = b"\xef\xbb\xbf"


def blocks(text, skip=0, most=1000, usual=10):
    before = module._USUAL
    module._USUAL = usual
    try:
        stream = ByteStream(io.BytesIO(text), "utf-8", False)
        return list(row_blocks(stream, ",", skip, most))
    finally:
        module._USUAL = before


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
