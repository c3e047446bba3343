"""Cells that hold nothing, and patterns that all cells match."""

import pyarrow as pa

from egoscore.read.cells import MISSING, all_match, any_match, bare_cells


def test_cells_that_hold_nothing():
    cells = pa.array([*(f" {word.upper()} " for word in MISSING), None, " 1 "])
    trimmed, is_missing = bare_cells(cells)
    assert is_missing.tolist() == [True] * (len(MISSING) + 1) + [False]
    assert trimmed[-1].as_py() == "1"


def test_patterns():
    text = pa.array(["1"] * 200 + ["x"])
    assert not all_match(text, r"^\d$")
    assert all_match(text.slice(0, 200), r"^\d$")
    assert any_match(text, "x")
    assert not any_match(text, "y")
    assert not all_match(text.slice(0, 0), "x")
