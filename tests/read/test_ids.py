"""Ids of any type: as written, each different one once."""

import uuid
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from egoscore.read.ids import read_ids

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
    assert "whole numbers kept as decimals" in notes[0]
