"""Ids of any type, comparable between tables."""

import re
import unicodedata
import uuid
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.load.ids import normalized, read_ids, respelled, unify_types

DAY = date(2020, 1, 1)


def ids(values, kind=None, notes=None):
    column = (
        values
        if isinstance(values, pa.ChunkedArray)
        else pa.chunked_array([pa.array(values, kind)])
    )
    return read_ids(column, "c", "t", [] if notes is None else notes)


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        (["b", "a", "b"], None, ["b", "a"]),
        (["b", "a", "b"], pa.large_string(), ["b", "a"]),
        (["b", "a", "b"], pa.string_view(), ["b", "a"]),
        ([7, 3, 7], pa.uint8(), [7, 3]),
        ([2**64 - 1, 1, 2**64 - 1], pa.uint64(), [str(2**64 - 1), "1"]),
        ([1.0, 2.0, 1.0], None, [1, 2]),
        ([0.5, 2.0, 0.5], None, ["0.5", "2"]),
        ([True, False, True], None, ["true", "false"]),
        (
            [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)],
            None,
            ["2020-01-01", "2020-01-02"],
        ),
    ],
)
def test_every_type(values, kind, found):
    column = ids(values, kind)
    assert column.values.to_pylist() == found
    assert column.codes.tolist() == [0, 1, 0]


def test_coded_columns_have_no_ids_that_no_row_has():
    for frame in (
        pd.DataFrame({"c": pd.Categorical(["b", "a"], categories=["z", "a", "b"])}),
        pl.DataFrame({"c": pl.Series(["b", "a"], dtype=pl.Enum(["z", "a", "b"]))}),
    ):
        column = ids(pa.table(frame)["c"])
        back = np.array(column.values.to_pylist(), dtype=object)[column.codes]
        assert back.tolist() == ["b", "a"]
        assert len(column.values) == 2
    odd = pa.DictionaryArray.from_arrays([1, 0], ["x", "b", "z"])
    assert ids(pa.chunked_array([odd, odd])).values.to_pylist() == ["x", "b"]


def test_chunks_with_dictionaries_of_their_own():
    chunks = [pa.array(list("ab")).dictionary_encode(), pa.array(list("ca")).dictionary_encode()]
    column = ids(pa.chunked_array(chunks))
    assert [column.values[code].as_py() for code in column.codes] == list("abca")


@pytest.mark.parametrize("values", [["a", None, ""], [1, None, None], [1.0, None, float("nan")]])
def test_empty_cells_are_no_ids(values):
    column = ids(values)
    assert column.codes.tolist() == [0, -1, -1]
    assert column.first_missing() == 1
    assert len(column.values) == 1
    assert ids(["a"]).first_missing() is None


def test_types_that_are_no_ids_are_refused(refusal):
    for values in ([[1]], [{"a": 1}], [uuid.uuid4().bytes]):
        assert "turn them into text or whole numbers" in refusal(ids, values)


def test_decimals_by_type_are_told():
    notes = []
    ids([1.0, 2.0], notes=notes)
    assert [note.code for note in notes] == ["ids-whole-decimals"]


def settled(*columns, has_table=False):
    notes = []
    read = [read_ids(pa.chunked_array([pa.array(column)]), "c", "t", []) for column in columns]
    found = unify_types(read, has_table, notes)
    back = [np.array(c.values.to_pylist(), dtype=object)[c.codes].tolist() for c in found]
    return back, notes


def test_whole_numbers_become_numbers_only_if_all_are():
    assert settled(["1", "2"], ["2", "-3"], ["0", "10"], has_table=True)[0] == [
        [1, 2],
        [2, -3],
        [0, 10],
    ]
    for odd in ("007", "+1", "1.5", "x", "-0", " 9", "1" * 19, "\u0661"):
        back, _ = settled(["1"], ["2"], [odd], has_table=True)
        assert back == [["1"], ["2"], [odd]]


def test_numbers_meet_text_as_text():
    assert settled([1, 2], ["1", "x"])[0] == [["1", "2"], ["1", "x"]]
    assert settled([1, 2], ["1", "2"])[0] == [[1, 2], [1, 2]]


def test_point_zero_goes_where_a_whole_column_has_it_and_another_has_not():
    back, notes = settled(["1.0", "2.0"], ["1", "2"])
    assert back == [[1, 2], [1, 2]]
    assert [note.code for note in notes] == ["ids-point-zero"]
    assert settled(["1.0", "2"], ["1", "2"])[0][0] == ["1.0", "2"]
    assert settled(["1.0"], ["2.0"]) == ([["1.0"], ["2.0"]], [])
    assert settled(["1.0"], ["a"]) == ([["1.0"], ["a"]], [])


def test_space_goes_only_if_ids_match_without_it():
    back, notes = settled(["1", "2"], [" 2", " 1"])
    assert back == [[1, 2], [2, 1]]
    assert [note.code for note in notes] == ["ids-trimmed"]
    assert settled(["a", "a "], ["b", "a"]) == ([["a", "a "], ["b", "a"]], [])
    assert settled(["a"], [" b"]) == ([["a"], [" b"]], [])


def test_space_and_a_table():
    back, notes = settled(["a ", "b"], ["b", "b"], ["a", "b "], has_table=True)
    assert back == [["a", "b"], ["b", "b"], ["a", "b"]]
    assert [note.code for note in notes] == ["ids-trimmed"]
    # ids that differ by nothing but space stay apart
    kept = (["a ", "c "], ["a", "a"], ["a", "a ", "c"])
    assert settled(*kept, has_table=True) == ([list(column) for column in kept], [])
    matching = (["a "], ["b"], ["a ", "b"])
    assert settled(*matching, has_table=True) == ([list(column) for column in matching], [])


IDS = st.lists(st.text("aAbBéÉ01 -", max_size=4), max_size=12, unique=True)


def plainly(text):
    folded = unicodedata.normalize("NFC", text).strip().lower()
    return re.sub(r"^0+([0-9]+)$", r"\1", folded)


def column(texts):
    return pa.array(texts, pa.string())


@given(IDS)
@settings(max_examples=200, deadline=None)
def test_what_is_left_of_an_id(texts):
    assert normalized(column(texts)).to_pylist() == [plainly(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "left"), [("000", "0"), ("0x1F", "0x1f"), ("-07", "-07"), ("1e05", "1e05"), ("", "")]
)
def test_only_zeros_before_digits_are_left_out(text, left):
    assert normalized(column([text])).to_pylist() == [left]


@given(IDS, IDS)
@settings(max_examples=200, deadline=None)
def test_each_is_found_where_it_is_the_only_one(ids, known):
    keys = [plainly(text) for text in known]
    found = respelled(column(ids), column(known)).tolist()
    if len(set(keys)) < len(keys):
        assert found == [-1] * len(ids)
    else:
        places = {key: place for place, key in enumerate(keys)}
        assert found == [places.get(plainly(text), -1) for text in ids]


def test_numbers_have_one_writing():
    np.testing.assert_array_equal(respelled(pa.array([1, 2]), pa.array([1, 2])), [-1, -1])
