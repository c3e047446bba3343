"""Text as codes: the same as Arrow's, however it comes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.read import text_codes
from egoscore.read.text_codes import CodedColumn, TextCodes, in_order


def coded(*blocks, kind=None):
    [column] = coded_together([(pa.array(block, kind or pa.string()),) for block in blocks])
    return column


def coded_together(batches):
    texts = TextCodes()
    columns = [CodedColumn(texts) for _ in batches[0]]
    for batch in batches:
        for column, block in zip(columns, batch, strict=True):
            column.add(block)
    return in_order(texts, columns)


@given(st.lists(st.lists(st.text("ab\u00e9", max_size=4), max_size=30), min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_any_text_in_any_blocks_is_coded_as_arrow_codes_it(blocks):
    found = coded(*blocks).combine_chunks()
    expected = pa.array(
        [text for block in blocks for text in block], pa.string()
    ).dictionary_encode()
    assert found.dictionary.to_pylist() == expected.dictionary.to_pylist()
    assert found.indices.to_pylist() == expected.indices.to_pylist()


@given(
    st.lists(
        st.lists(st.tuples(st.text("abc", max_size=2), st.text("bcd", max_size=2)), max_size=20),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=80, deadline=None)
def test_columns_share_their_texts_in_an_order_that_no_block_changes(blocks):
    rows = [row for block in blocks for row in block]
    batches = [
        tuple(pa.array([row[i] for row in block], pa.string()) for i in (0, 1)) for block in blocks
    ]
    found = coded_together(batches)
    for i, column in enumerate(found):
        assert column.to_pylist() == [row[i] for row in rows]
    first, both = (column.chunk(0).dictionary.to_pylist() for column in found)
    assert first == list(dict.fromkeys(row[0] for row in rows))
    assert both == list(dict.fromkeys([*first, *(row[1] for row in rows)]))


def test_it_grows(monkeypatch):
    monkeypatch.setattr(text_codes, "_MOST_ROWS", 1000)
    numbers = np.random.default_rng(0).integers(0, 30_000, 100_000)
    text = [f"node {number}" for number in numbers]
    found = coded(text[:70_000], text[70_000:])
    assert found.to_pylist() == text
    assert found.num_chunks == 1
    assert len(found.chunk(0).dictionary) == len(set(text))


def test_texts_of_one_hash_stay_apart(monkeypatch):
    def collide(letters, ends, hashes):
        hashes[:] = 7

    monkeypatch.setattr(text_codes, "_hash", collide)
    text = ["a", "b", "ab", "", "b", "a", "abc"] * 3
    assert coded(text, text).to_pylist() == text * 2


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_what_is_missing_is_empty(kind):
    assert coded(["a", None, "", "b"], kind=kind).to_pylist() == ["a", "", "", "b"]


def test_a_part_of_an_array():
    [column] = coded_together([(pa.array(["x", "a", "b", "y"]).slice(1, 2),)])
    assert column.to_pylist() == ["a", "b"]


def test_more_texts_than_codes_are_refused(refusal, monkeypatch):
    monkeypatch.setattr(text_codes, "_MOST_CODES", 2)
    assert "At most 2 different ids" in refusal(coded, ["a", "b", "c"])
