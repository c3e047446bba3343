"""Ids of one type on both sides."""

import numpy as np
import pyarrow as pa

from egoscore.read.id_types import settle
from egoscore.read.ids import read_ids


def settled(*columns, has_table=False):
    notes = []
    read = [read_ids(pa.chunked_array([pa.array(column)]), "c", "t", []) for column in columns]
    found = settle(read, has_table, notes)
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
    assert len(notes) == 1
    assert "end in .0" in notes[0]
    assert settled(["1.0", "2"], ["1", "2"])[0][0] == ["1.0", "2"]
    assert settled(["1.0"], ["2.0"]) == ([["1.0"], ["2.0"]], [])
    assert settled(["1.0"], ["a"]) == ([["1.0"], ["a"]], [])


def test_space_goes_only_if_ids_match_without_it():
    back, notes = settled(["1", "2"], [" 2", " 1"])
    assert back == [[1, 2], [2, 1]]
    assert "space" in notes[0]
    assert settled(["a", "a "], ["b", "a"]) == ([["a", "a "], ["b", "a"]], [])
    assert settled(["a"], [" b"]) == ([["a"], [" b"]], [])


def test_space_and_a_table():
    back, notes = settled(["a ", "b"], ["b", "b"], ["a", "b "], has_table=True)
    assert back == [["a", "b"], ["b", "b"], ["a", "b"]]
    assert "space" in notes[0]
    # ids that differ by nothing but space stay apart
    kept = (["a ", "c "], ["a", "a"], ["a", "a ", "c"])
    assert settled(*kept, has_table=True) == ([list(column) for column in kept], [])
    matching = (["a "], ["b"], ["a ", "b"])
    assert settled(*matching, has_table=True) == ([list(column) for column in matching], [])
