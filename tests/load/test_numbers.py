"""Numbers in text: taken when there is one way to read them, text otherwise."""

import io
import re
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.load.cell_formats import around_numbers, parse_most, unit_of
from egoscore.load.numbers import (
    Notation,
    are_padded,
    number_formats,
    parse_numbers,
    shows_decimal_commas,
)

BEHIND = "minus-behind"
LETTERS = "magnitude-letters"
THOUSANDS, DECIMAL = "thousands-commas", "decimal-comma"
SPACES_AND_COMMA = "thousands-spaces decimal-comma"


def parse(*cells, separator="", has_decimal_commas=False):
    notation = Notation(separator, has_decimal_commas)
    return parse_numbers(pa.array(cells, pa.string()), notation)


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@settings(deadline=None)
def test_what_python_writes_is_read(values):
    numbers, traits = parse(*map(repr, values))
    np.testing.assert_array_equal(numbers, values)
    assert traits == ()


@pytest.mark.parametrize(
    ("cells", "values", "how"),
    [
        ((" 1 ", "+2", "1e3", ".5"), (1, 2, 1000, 0.5), ""),
        (("1,234.5", "7"), (1234.5, 7), "thousands-commas"),
        (("1,234,567", "89"), (1234567, 89), "thousands-commas"),
        (("-1,234,567.25",), (-1234567.25,), "thousands-commas"),
        (("12,5", "7"), (12.5, 7), "decimal-comma"),
        (("1.234,5", "12"), (1234.5, 12), "decimal-comma"),
        (("1.234.567,25",), (1234567.25,), "decimal-comma"),
        (("0,1234",), (0.1234,), "decimal-comma"),
        (("0,123", "7"), (0.123, 7), "decimal-comma"),
        (("1234,567",), (1234.567,), "decimal-comma"),
        (("1,5", "6,68E-05", "-2e3"), (1.5, 6.68e-5, -2000), "decimal-comma"),
        (("12,500", "6,125e-05"), (12.5, 6.125e-5), "decimal-comma"),
        (("1.234.567", "10.300", "7"), (1234567, 10300, 7), "thousands-dots"),
        (("-1.234.567.890",), (-1234567890,), "thousands-dots"),
        (("1.234.567", "12,345"), (1234567, 12.345), "decimal-comma"),
        (("5.000.000%", "7.000%"), (5e6, 7000), "unit:% thousands-dots"),
        (("1 234", "12"), (1234, 12), "thousands-spaces"),
        (("1 234 567.5", "-2"), (1234567.5, -2), "thousands-spaces"),
        (("1\u00a0234,5", "2\u202f000"), (1234.5, 2000), SPACES_AND_COMMA),
        (("1 234", "12,345"), (1234, 12.345), SPACES_AND_COMMA),
        (("45%", "7.5 %", "-3%"), (45, 7.5, -3), "unit:%"),
        (("$5", "-$7.5", "$ -2", "+$1"), (5, -7.5, -2, 1), "unit:$"),
        (("\u20ac 12", "12 \u20ac", "3\u00a0\u20ac"), (12, 12, 3), "unit:\u20ac"),
        (("$1,234.50", "$7"), (1234.5, 7), "unit:$ thousands-commas"),
        (("1'234.50", "7"), (1234.5, 7), "thousands-apostrophes"),
        (("1.2K", "-3.4M", "2bn", "750", "5 k"), (1200, -3.4e6, 2e9, 750, 5000), LETTERS),
        (("$1.5M", "$20K"), (1.5e6, 20e3), f"unit:$ {LETTERS}"),
        (("5.0K-", "12", "800-"), (-5000, 12, -800), f"{BEHIND} {LETTERS}"),
        (("1,5 Mio", "7"), (1.5e6, 7), f"{LETTERS} decimal-comma"),
        (("-1\u2019234\u2019567", "8"), (-1234567, 8), "thousands-apostrophes"),
        (("1'234,5",), (1234.5,), "thousands-apostrophes decimal-comma"),
        (("(1,234.5)", "12"), (-1234.5, 12), f"minus-parentheses {THOUSANDS}"),
        (("( 5 )", "6", "-7"), (-5, 6, -7), "minus-parentheses"),
        (("$(5)", "($7)", "$1"), (-5, -7, 1), "minus-parentheses unit:$"),
        (("12-", "7", "-3"), (-12, 7, -3), BEHIND),
        (("1,234.50-", "12.00"), (-1234.5, 12), f"{BEHIND} {THOUSANDS}"),
        (("$5-", "$1"), (-5, 1), f"{BEHIND} unit:$"),
        (("5.5- EUR", "1 EUR"), (-5.5, 1), f"{BEHIND} unit:EUR"),
        (("EUR 1,234.5", "EUR 7"), (1234.5, 7), f"unit:EUR {THOUSANDS}"),
        (("1,234.5 USD", "-5 USD"), (1234.5, -5), f"unit:USD {THOUSANDS}"),
        (("CHF1'234", "12CHF"), (1234, 12), "unit:CHF thousands-apostrophes"),
        (("-EUR 5", "EUR -0.5", "EUR 0"), (-5, -0.5, 0), "unit:EUR"),
        (
            ("(EUR 1,234.5)", "EUR (7)", "(8) EUR", "EUR 9"),
            (-1234.5, -7, -8, 9),
            f"minus-parentheses unit:EUR {THOUSANDS}",
        ),
        (("12,50 \u20ac", "1.234,00 \u20ac"), (12.5, 1234), "unit:\u20ac decimal-comma"),
    ],
)
def test_ways_to_write_a_number(cells, values, how):
    numbers, found = parse(*cells)
    np.testing.assert_array_equal(numbers, values)
    assert " ".join(found) == how


@pytest.mark.parametrize(
    "cells",
    [
        ("1,234.5", "12,5"),
        ("45%", "0.3"),  # 0.3 or 30%
        ("$5", "\u20ac5"),
        ("$5", "5"),
        ("1$2",),
        ("$$5",),
        ("$5$",),
        ("$",),
        ("%", "$"),
        ("1 23", "4"),
        ("12 34 567",),
        ("0 123", "4"),
        ("1 234,567.8",),
        ("EUR 5", "USD 5"),
        ("EUR 5", "5"),
        ("EUR5EUR",),
        ("eur 5",),
        ("ABC 5",),
        ("ACC001", "ACC002"),
        ("EUR001", "EUR002"),  # names of something
        ("CAD-100", "CAD-101"),
        ("CHF100", "CHF101"),
        ("TOP 10", "TOP 20"),
        ("(1)", "(2)"),
        ("(-5)", "6"),
        ("(5", "6"),
        ("((5))", "6"),
        ("(555) 1234", "6"),
        ("()", "6"),
        ("1'23", "4"),
        ("12'34'567",),
        ("0'123", "4"),
        ("1'234,567.8",),
        ("5'", "6"),
        ("1_000",),
        ("0x10",),
        ("one",),
        ("1", "2", "x"),
        ("NA", ""),
        ("1,2,3",),
        ("1.234.567", "0.5"),
        ("192.168.100.101", "192.168.178.200"),
        (),
    ],
)
def test_what_is_not_clear_stays_text(cells):
    assert parse(*cells) is None


@pytest.mark.parametrize(
    ("cells", "separator", "values", "taken", "other"),
    [
        (("1,234", "5,678"), "", (1234, 5678), THOUSANDS, DECIMAL),
        (("1,234", "5,678"), "\t", (1234, 5678), THOUSANDS, DECIMAL),
        (("1,234", "5,678"), ";", (1.234, 5.678), DECIMAL, THOUSANDS),
        (("1,234", "567"), ";", (1234, 567), THOUSANDS, DECIMAL),
        (("1,234", "5678"), ";", (1.234, 5678), DECIMAL, THOUSANDS),
    ],
)
@pytest.mark.parametrize(("form", "words"), [("{}", ""), ("EUR {}", "unit:EUR ")])
def test_a_comma_that_may_be_either_is_taken_by_a_rule_and_told(
    cells, separator, values, taken, other, form, words
):
    numbers, traits = parse(*map(form.format, cells), separator=separator)
    np.testing.assert_array_equal(numbers, values)
    assert " ".join(traits) == f"{words}{taken} or:{other}"


@pytest.mark.parametrize(
    ("cells", "separator", "value", "how"),
    [
        (("1,234", "5,67"), ";", 1.234, DECIMAL),
        (("1,234", "1,234,567"), ";", 1234, THOUSANDS),
        (("1,234", "5,67"), "", 1.234, DECIMAL),
        (("1,234", "1,234.5"), "", 1234, THOUSANDS),
        (("1,234", "0.5"), ";", 1234, THOUSANDS),
        (("1,234", "12.3456"), "\t", 1234, THOUSANDS),
        (("1,234", "-.25"), "", 1234, THOUSANDS),
        (("1,234", "1.234.567"), ";", 1.234, DECIMAL),
    ],
)
def test_what_the_column_shows_counts_more_than_the_separator(cells, separator, value, how):
    numbers, found = parse(*cells, separator=separator)
    assert (numbers[0], found) == (value, (how,))


@given(
    st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), (" ", "."), ("'", ".")]),
    st.sampled_from(["{}", "${}", "{} \u20ac", "{}%", "EUR {}", "{} USD"]),
)
@settings(deadline=None)
def test_every_amount_in_every_form_as_pandas_reads_it(amounts, marks, form):
    between, point = marks
    exchange = str.maketrans({",": between, ".": point})
    written = [f"{amount:,.2f}".translate(exchange) for amount in amounts]
    found = parse(*(form.format(text) for text in written), separator=";")
    table = io.StringIO("\n".join(["amount", *written]))
    theirs = pd.read_csv(table, sep=";", thousands=between, decimal=point)["amount"]
    assert found is not None
    np.testing.assert_allclose(found[0], theirs, rtol=1e-15)


def test_a_comma_that_separates_cells_is_a_decimal_comma_only_where_most_can_be_nothing_else():
    numbers, traits = parse("12,5", "0,123", "7", "3,500", separator=",")
    assert (numbers.tolist(), traits) == ([12.5, 0.123, 7, 3.5], ("decimal-comma",))
    assert parse("1,23", "1,234", "5,678", separator=",") is None  # a mistake among thousands
    assert parse("1,234.5", separator=",") is not None


@pytest.mark.parametrize(
    "token", ["", " ", "NA", "n/a", "NaN", "null", "None", "-", "k.A.", "unknown", None]
)
def test_cells_that_mean_nothing(token):
    numbers, _ = parse("1", token, "3")
    np.testing.assert_array_equal(numbers, [1, np.nan, 3])


def test_a_comma_in_a_cell_stands_between_thousands_where_commas_separate_cells():
    numbers, traits = parse("1,234", "5,678", "9", separator=",")
    assert numbers.tolist() == [1234, 5678, 9]
    assert traits == ("thousands-commas",)


def test_dots_stand_between_thousands_where_other_columns_have_decimal_commas():
    cells = ("12.364", "4.019", "181")
    numbers, traits = parse(*cells, separator=";", has_decimal_commas=True)
    assert (numbers.tolist(), traits) == ([12364, 4019, 181], ("thousands-dots",))
    numbers, traits = parse(*cells, separator=";")
    assert numbers.tolist() == [12.364, 4.019, 181]
    assert traits == ("decimal-point", "or:thousands-dots")
    assert parse(*cells, separator=",")[1] == ()
    for others in (("12.36", "181"), ("12", "181"), ("0.364", "1.200")):
        numbers, traits = parse(*others, separator=";", has_decimal_commas=True)
        assert (numbers.tolist(), traits) == ([float(cell) for cell in others], ())


@pytest.mark.parametrize(
    ("cells", "shows"),
    [(("0,305", "0,27"), True), (("1,234", "2,345"), False), (("7", "8"), False), (("a",), False)],
)
def test_a_column_may_show_that_commas_are_decimal(cells, shows):
    assert shows_decimal_commas(pa.array(cells), ";") is shows


NUMBER = r"([0-9]{1,4}(\.[0-9]{0,3})?|\.[0-9]|[1-9]([,. '][0-9]{3}){1,2}([.,][0-9])?|[0-9],[0-9])"


def columns_of(mark):
    """Cells that have the same mark, or none, and otherwise any form."""
    space = "[ \u00a0]?"
    sign = re.escape(mark)
    forms = (rf"[+-]?{space}{sign}{space}[+-]?{NUMBER}", rf"[+-]?{NUMBER}{space}{sign}")
    forms = forms if mark else (f"[+-]?{NUMBER}",)
    forms = (*forms, rf"\({sign}{space}{NUMBER}\)")
    cells = (st.from_regex(rf"\A{form}\Z") for form in forms)
    return st.lists(st.one_of(*cells), min_size=1, max_size=4)


@given(st.sampled_from(["", "$", "%", "EUR"]).flatmap(columns_of), st.sampled_from(["", ",", ";"]))
@settings(deadline=None, max_examples=300)
def test_no_column_is_damaged_in_no_cell_and_the_order_of_rows_does_not_matter(cells, separator):
    found, back = (parse(*order, separator=separator) for order in (cells, cells[::-1]))
    ways = partial(number_formats, notation=Notation(separator))
    counts = np.array([50, *[1] * (len(cells) - 1)])
    nearly = parse_most(pa.array(cells), counts, 0, 0.9, ways)
    if found is None:
        assert back is None
        assert nearly is None or np.isnan(nearly[0]).any()
    else:
        assert found[1] == back[1] == nearly[1]
        np.testing.assert_array_equal(found[0], back[0][::-1])
        np.testing.assert_array_equal(found[0], nearly[0])


@pytest.mark.parametrize(
    "cell", ["%7", "-\u00a0$5", "- \u20ac5", "%-.5", "-\u202f%\u00a07", "EUR -7"]
)
@pytest.mark.parametrize("place", [0, 1, 150])
def test_where_in_the_column_a_cell_stands_does_not_matter(cell, place):
    mark = next(sign for sign in ("%", "$", "\u20ac", "EUR") if sign in cell)
    cells = [f"{number}{mark}" for number in range(150)]
    numbers, traits = parse(*cells[:place], cell, *cells[place:])
    (value,), _ = parse(cell)
    np.testing.assert_array_equal(numbers, np.insert(np.arange(150.0), place, value))
    assert traits == (f"unit:{mark}",)


@pytest.mark.parametrize(("common", "rare"), [("$", "\u20ac"), ("\u20ac", "$")])
def test_the_mark_of_most_rows_counts_not_that_of_most_different_cells(common, rare):
    cells = [*(f"{common}{n}" for n in range(25)), *(f"{rare}{n}" for n in range(30))]
    counts = np.repeat([100, 1], [25, 30])
    numbers, traits = parse_most(
        pa.array(cells), counts, 20, 0.9, partial(number_formats, notation=Notation())
    )
    np.testing.assert_array_equal(numbers, [*range(25), *[np.nan] * 30])
    assert traits == (f"unit:{common}",)


@pytest.mark.parametrize(
    ("cells", "around"),
    [
        (("45%", "7.5 %"), ("", "%")),
        (("$5", "-$7.5"), ("$", "")),
        (("-$5", "$7"), ("$", "")),
        (("$ 5", "$7"), ("$ ", "")),
        ((None, " 12 \u20ac", "3 \u20ac"), ("", " \u20ac")),
        (("$1,234.50", "$7"), ("$", "")),
        (("EUR 12", "EUR 1,234"), ("EUR ", "")),
        (("12 USD", "7 USD"), ("", " USD")),
        (("($1,234)", "$7"), ("$", "")),
        (("1,234.5", "7"), ("", "")),
        (("12", "7"), ("", "")),
    ],
)
def test_what_was_left_off_is_known_and_where_it_stood(cells, around):
    assert around_numbers(pa.array(cells, pa.string())) == around


@pytest.mark.parametrize(
    ("cells", "numbers", "around"),
    [
        (["1.80 m", "1.75 m", "1.6 m"], [1.8, 1.75, 1.6], ("", " m")),
        (["12km", "5km", ""], [12, 5, np.nan], ("", "km")),
        (["1.2M", "3M"], [1.2, 3], ("", "M")),
        (["-3 \u00b0C", "21 \u00b0C"], [-3, 21], ("", " \u00b0C")),
        (["1,200 kWh", "900 kWh"], [1200, 900], ("", " kWh")),
        (["30 km/h", "5 km/h"], [30, 5], ("", " km/h")),
    ],
)
def test_letters_behind_every_number_are_a_unit(cells, numbers, around):
    """Whether 12 m are metres or millions: told as it was written, it is neither wrong."""
    column = pa.array(cells)
    values, traits = parse_numbers(column, Notation(","))
    np.testing.assert_allclose(values, numbers)
    assert traits[0].startswith("unit:")
    assert around_numbers(column) == around


@pytest.mark.parametrize("cells", [["1.2K", "3M"], ["5k", "7"], ["1 m", "2 M"]])
def test_letters_that_differ_are_thousands_and_millions(cells):
    assert "magnitude-letters" in parse_numbers(pa.array(cells), Notation(","))[1]


@pytest.mark.parametrize("cells", [["3 m", "5 kg"], ["12A", "x"], ["A12", "A13"], ["5thousand", "7thousand"]])  # fmt: skip # noqa: E501
def test_what_is_no_unit(cells):
    assert parse_numbers(pa.array(cells), Notation(",")) is None


@pytest.mark.parametrize(
    ("cells", "padded"),
    [
        (["01234", "94110"], True),
        (["007", ""], True),
        (["0", "10"], False),
        (["0.5", "01"], False),
        (["-01", "2"], False),
        ([""], False),
    ],
)
def test_zeros_in_front_of_digits_make_codes(cells, padded):
    assert are_padded(pa.array(cells)) == padded


@pytest.mark.parametrize(
    ("cells", "unit"),
    [
        ([*(f"{n / 10}k" for n in range(10, 70)), "much", "?!"], "k"),
        ([*(f"{n / 10}k" for n in range(10, 70)), "7"], None),
        (["12 EUR/h", "5 EUR/h"], "EUR/h"),
        (["0001A", "0002A"], None),
        ([], None),
    ],
    ids=["mistakes", "a number", "a rate", "codes", "nothing"],
)
def test_what_a_unit_is(cells, unit):
    assert unit_of(pa.array(cells, pa.string())) == unit


def test_a_rate_is_told_as_it_was_written():
    assert around_numbers(pa.array(["12 EUR/h", "5 EUR/h"])) == ("", " EUR/h")
