"""Cells that hold nothing, and patterns that all cells match."""

import pyarrow as pa

from egoscore.read.cells import MISSING, all_match, any_match, bare_cells


def test_cells_that_hold_nothing():
    cells = pa.array([*(f" {word.upper()} " for word in MISSING), None, " 1 "])
    held, is_missing = bare_cells(cells)
    assert is_missing.tolist() == [True] * (len(MISSING) + 1) + [False]
    assert held.to_pylist() == ["1"]


def test_many_cells_are_the_same_as_few(monkeypatch):
    cells = pa.array(["1", " 2", "na", "3", "4", "5", None, "6"])
    expected, missing = bare_cells(cells)
    monkeypatch.setattr("egoscore.read.cells._AT_ONCE", 2)
    found, is_missing = bare_cells(cells)
    assert found.to_pylist() == expected.to_pylist() == ["1", "2", "3", "4", "5", "6"]
    assert is_missing.tolist() == missing.tolist()


def test_cells_that_need_no_change_are_not_copied():
    cells = pa.array(["1", "2"])
    assert bare_cells(cells)[0] is cells
    assert bare_cells(cells.slice(0, 0))[0].to_pylist() == []


def test_patterns():
    text = pa.array(["1"] * 200 + ["x"])
    assert not all_match(text, r"^\d$")
    assert all_match(text.slice(0, 200), r"^\d$")
    assert any_match(text, "x")
    assert not any_match(text, "y")
    assert not all_match(text.slice(0, 0), "x")
