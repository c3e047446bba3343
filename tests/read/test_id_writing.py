"""Ids in another writing: against Python's own folding, id by id."""

import re
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.read.id_writing import found_in, unwritten

IDS = st.lists(st.text("aAbBéÉ01 -", max_size=4), max_size=12, unique=True)


def plainly(text):
    folded = unicodedata.normalize("NFC", text).strip().lower()
    return re.sub(r"^0+([0-9]+)$", r"\1", folded)


def column(texts):
    return pa.array(texts, pa.string())


@given(IDS)
@settings(max_examples=200, deadline=None)
def test_what_is_left_of_an_id(texts):
    assert unwritten(column(texts)).to_pylist() == [plainly(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "left"), [("000", "0"), ("0x1F", "0x1f"), ("-07", "-07"), ("1e05", "1e05"), ("", "")]
)
def test_only_zeros_before_digits_are_left_out(text, left):
    assert unwritten(column([text])).to_pylist() == [left]


@given(IDS, IDS)
@settings(max_examples=200, deadline=None)
def test_each_is_found_where_it_is_the_only_one(ids, known):
    keys = [plainly(text) for text in known]
    found = found_in(column(ids), column(known)).tolist()
    if len(set(keys)) < len(keys):
        assert found == [-1] * len(ids)
    else:
        places = {key: place for place, key in enumerate(keys)}
        assert found == [places.get(plainly(text), -1) for text in ids]


def test_numbers_have_one_writing():
    np.testing.assert_array_equal(found_in(pa.array([1, 2]), pa.array([1, 2])), [-1, -1])
