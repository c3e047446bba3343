"""Tables in memory, and what messages say of names."""

import time

import pyarrow as pa
import pytest

from egoscore.errors import InputError
from egoscore.load.table import ArrowTable, decoded
from egoscore.text import quoted


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="t has two columns called 'a'"):
        ArrowTable("t", pa.table([[1], [2]], names=["a", "a"]))


def test_columns_come_as_asked_for():
    table = ArrowTable("t", pa.table({"a": [1], "b": ["x"], "c": [2.5]}))
    assert list(table.read(["c", "a"])) == ["c", "a"]
    assert [table.looks_numeric(name) for name in "abc"] == [True, False, True]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.int64()])
def test_codes_as_values(kind):
    values = [3, 1] if kind == pa.int64() else ["x", "y"]
    codes = pa.array([1, None, 0], pa.int8())
    coded = pa.DictionaryArray.from_arrays(codes, pa.array(values, kind))
    assert decoded(pa.chunked_array([coded])).to_pylist() == [values[1], None, values[0]]


def test_many_names_are_cut_short():
    assert quoted(["a", "b"]) == "'a', 'b'"
    assert quoted(list("abcd"), most=2) == "'a', 'b' and 2 more"


def test_many_columns_in_seconds():
    names = [f"c{i}" for i in range(50_000)]
    table = pa.table([pa.array([1])] * len(names), names=names)
    start = time.perf_counter()
    assert len(ArrowTable("t", table).columns) == len(names)
    assert time.perf_counter() - start < 5
