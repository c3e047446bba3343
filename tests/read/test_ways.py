"""The way that fits all cells, or nearly all of them."""

import numpy as np
import pyarrow as pa
import pytest

from egoscore.read.cells import matches
from egoscore.read.ways import Way, parse, parse_most


def way(pattern, how=None, read=lambda text: np.array([float(cell.as_py()[0]) for cell in text])):
    return Way(lambda text: matches(text, pattern), read, how)


def strictly(cells, *ways):
    return parse(pa.array(cells, pa.string()), lambda _: ways)


def mostly(cells, counts, *ways, least=0):
    return parse_most(pa.array(cells, pa.string()), np.array(counts), least, 0.9, lambda _: ways)


def test_the_first_way_that_fits_every_cell_is_taken():
    numbers, how = strictly(["1a", " 2a", "NA"], way("b$", "b"), way("a$", "a"), way("", "any"))
    np.testing.assert_array_equal(numbers, [1, 2, np.nan])
    assert how == "a"


def test_no_way_no_numbers():
    assert strictly(["1a"] * 200 + ["2b"], way("a$")) is None
    assert strictly(["1"], way("", read=lambda _: None)) is None
    assert strictly(["", None], way("")) is None


@pytest.mark.parametrize(("good", "taken"), [(90, True), (89, False)])
def test_nine_of_ten_occurrences_are_nearly_all(good, taken):
    found = mostly(["1a", "2b", "?"], [good, 100 - good, 10**6], way("a$"))
    assert (found is not None) == taken
    if found is not None:
        np.testing.assert_array_equal(found[0], [1, np.nan, np.nan])


def test_the_way_that_fits_most_is_taken_and_of_equals_the_first():
    cells, counts = ["1ab", "2a", "3x"], [96, 2, 2]
    assert mostly(cells, counts, way("b", "b"), way("a", "a"), way("1|2", "c"))[1] == "a"


def test_more_than_so_many_different_cells_must_fit():
    cells = ["1a", "2a", "3x"]
    assert mostly(cells, [50, 50, 1], way("a"), least=1) is not None
    assert mostly(cells, [50, 50, 1], way("a"), least=2) is None


def test_text_is_not_looked_at_any_further():
    def ways(_):
        raise AssertionError

    assert parse(pa.array(["word", "1"]), ways) is None
    assert parse_most(pa.array(["word", "1"]), np.array([11, 89]), 0, 0.9, ways) is None
