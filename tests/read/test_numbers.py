"""Numbers in text: taken when there is one way to read them, text otherwise."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.read.numbers import parse_numbers


def parse(*cells, is_comma_free=True):
    return parse_numbers(pa.array(cells, pa.string()), is_comma_free)


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@settings(deadline=None)
def test_what_python_writes_is_read(values):
    numbers, how = parse(*map(repr, values))
    np.testing.assert_array_equal(numbers, values)
    assert how is None


@pytest.mark.parametrize(
    ("cells", "values", "how"),
    [
        ((" 1 ", "+2", "1e3", ".5"), (1, 2, 1000, 0.5), None),
        (("1,234.5", "7"), (1234.5, 7), "commas between thousands"),
        (("1,234,567", "89"), (1234567, 89), "commas between thousands"),
        (("-1,234,567.25",), (-1234567.25,), "commas between thousands"),
        (("12,5", "7"), (12.5, 7), "a decimal comma"),
        (("1.234,5", "12"), (1234.5, 12), "a decimal comma"),
        (("1.234.567,25",), (1234567.25,), "a decimal comma"),
        (("0,1234",), (0.1234,), "a decimal comma"),
    ],
)
def test_ways_to_write_a_number(cells, values, how):
    numbers, found = parse(*cells)
    np.testing.assert_array_equal(numbers, values)
    assert found == how


@pytest.mark.parametrize(
    "cells",
    [
        ("1,234", "5,678"),  # thousands, or three decimals
        ("1,234.5", "12,5"),
        ("45%",),
        ("\u20ac12",),
        ("1_000",),
        ("0x10",),
        ("one",),
        ("1", "2", "x"),
        ("NA", ""),
        ("1,2,3",),
        (),
    ],
)
def test_what_is_not_clear_stays_text(cells):
    assert parse(*cells) is None


def test_a_comma_that_separates_cells_is_no_decimal_comma():
    assert parse("12,5", is_comma_free=False) is None
    assert parse("1,234.5", is_comma_free=False) is not None


@pytest.mark.parametrize("token", ["", " ", "NA", "n/a", "NaN", "null", "None", "-", None])
def test_cells_that_mean_nothing(token):
    numbers, _ = parse("1", token, "3")
    np.testing.assert_array_equal(numbers, [1, np.nan, 3])


def test_a_comma_in_a_cell_stands_between_thousands_where_commas_separate_cells():
    numbers, how = parse("1,234", "5,678", "9", is_comma_free=False)
    assert numbers.tolist() == [1234, 5678, 9]
    assert how == "commas between thousands"
    assert parse("0,123", "4", is_comma_free=False) is None
    assert parse("1,23", "4", is_comma_free=False) is None
