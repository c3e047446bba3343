"""Missing cells, and the format that all or most of the others share."""

import numpy as np
import pyarrow as pa
import pytest

from egoscore.load.cell_formats import (
    MISSING,
    Format,
    all_match,
    any_match,
    matches,
    parse,
    parse_most,
    present_cells,
    read_where,
)


def test_cells_that_hold_nothing():
    cells = pa.array([*(f" {word.upper()} " for word in MISSING), None, " 1 "])
    held, is_missing = present_cells(cells)
    assert is_missing.tolist() == [True] * (len(MISSING) + 1) + [False]
    assert held.to_pylist() == ["1"]


def test_many_cells_are_the_same_as_few(monkeypatch):
    cells = pa.array(["1", " 2", "na", "3", "4", "5", None, "6"])
    expected, missing = present_cells(cells)
    monkeypatch.setattr("egoscore.load.cell_formats._BATCH", 2)
    found, is_missing = present_cells(cells)
    assert found.to_pylist() == expected.to_pylist() == ["1", "2", "3", "4", "5", "6"]
    assert is_missing.tolist() == missing.tolist()


def test_cells_that_need_no_change_are_not_copied():
    cells = pa.array(["1", "2"])
    assert present_cells(cells)[0] is cells
    assert present_cells(cells.slice(0, 0))[0].to_pylist() == []


def test_patterns():
    text = pa.array(["1"] * 200 + ["x"])
    assert not all_match(text, r"^\d$")
    assert all_match(text.slice(0, 200), r"^\d$")
    assert any_match(text, "x")
    assert not any_match(text, "y")
    assert not all_match(text.slice(0, 0), "x")


def form(pattern, *traits, read=lambda text: np.array([float(cell.as_py()[0]) for cell in text])):
    return Format(lambda text: read_where(matches(text, pattern), text, read), traits)


def strictly(cells, *forms):
    return parse(pa.array(cells, pa.string()), lambda _: forms)


def mostly(cells, counts, *forms, least=0):
    return parse_most(pa.array(cells, pa.string()), np.array(counts), least, 0.9, lambda _: forms)


def test_the_first_way_that_fits_every_cell_is_taken():
    numbers, traits = strictly(
        ["1a", " 2a", "NA"], form("b$", "b"), form("a$", "a"), form("", "any")
    )
    np.testing.assert_array_equal(numbers, [1, 2, np.nan])
    assert traits == ("a",)


def test_no_way_no_numbers():
    assert strictly(["1a"] * 200 + ["2b"], form("a$")) is None
    assert strictly(["1"], form("", read=lambda text: np.full(len(text), np.nan))) is None
    assert strictly(["", None], form("")) is None


@pytest.mark.parametrize(("good", "taken"), [(90, True), (89, False)])
def test_nine_of_ten_occurrences_are_nearly_all(good, taken):
    found = mostly(["1a", "2b", "?"], [good, 100 - good, 10**6], form("a$"))
    assert (found is not None) == taken
    if found is not None:
        np.testing.assert_array_equal(found[0], [1, np.nan, np.nan])


def test_the_way_that_fits_most_is_taken_and_of_equals_the_first():
    cells, counts = ["1ab", "2a", "3x"], [96, 2, 2]
    assert mostly(cells, counts, form("b", "b"), form("a", "a"), form("1|2", "c"))[1] == ("a",)


def test_more_than_so_many_different_cells_must_fit():
    cells = ["1a", "2a", "3x"]
    assert mostly(cells, [50, 50, 1], form("a"), least=1) is not None
    assert mostly(cells, [50, 50, 1], form("a"), least=2) is None


def test_text_is_not_looked_at_any_further():
    def formats(_):
        raise AssertionError

    assert parse(pa.array(["word", "1"]), formats) is None
    assert parse_most(pa.array(["word", "1"]), np.array([11, 89]), 0, 0.9, formats) is None
