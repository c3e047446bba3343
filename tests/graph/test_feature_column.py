"""What a feature is to the user: its title, and its values as the user would write them."""

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.graph.feature_column import (
    KINDS,
    LOGARITHM,
    FeatureColumn,
    narrowed,
    with_unique_titles,
)
from egoscore.graph.number_form import CODE, WHOLE, YEAR


class TestTitle:
    @pytest.mark.parametrize(
        ("column", "title"),
        [
            (FeatureColumn("age"), "age"),
            (FeatureColumn("member", "yes/no"), "member"),
            (FeatureColumn("since", "date"), "since"),
            (FeatureColumn("country", "category", "NZ"), "country = NZ"),
            (FeatureColumn("country", "missing"), "country is missing"),
            (FeatureColumn("amount", "weight", "total"), "amount (total)"),
            (FeatureColumn("clustering", "structure"), "clustering"),
        ],
    )
    def test_it_says_what_the_feature_is(self, column, title):
        assert column.title == title

    def test_features_of_one_column_have_different_ones(self):
        parts = [
            FeatureColumn("a"),
            FeatureColumn("a", "category", "x"),
            FeatureColumn("a", "category", "y"),
            FeatureColumn("a", "missing"),
            FeatureColumn("a", "weight", "mean"),
            FeatureColumn("a", "weight", "total"),
        ]
        assert len({part.title for part in parts}) == len(parts)


class TestShow:
    @given(st.dates(min_value=date(1900, 1, 1), max_value=date(9999, 12, 31)))
    @settings(max_examples=100, deadline=None)
    def test_days_since_1970_are_a_date(self, day):
        days = (day - date(1970, 1, 1)).days
        assert FeatureColumn("d", "date").show(float(days)) == day.isoformat()

    def test_part_of_a_day_is_still_that_day(self):
        noon = (date(2024, 2, 29) - date(1970, 1, 1)) / timedelta(days=1) + 0.5
        assert FeatureColumn("d", "date").show(noon) == "2024-02-29"

    @pytest.mark.parametrize("days", [1e7, -1e7, 1e300, -1e300])
    def test_days_beyond_any_calendar_are_still_told(self, days):
        assert FeatureColumn("d", "date").show(days) == f"{days:.4g} days after 1970"

    @pytest.mark.parametrize("kind", ["yes/no", "category", "missing"])
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (1.0, "yes"),
            (0.0, "no"),
            (0.25, "25% yes"),
            (0.999, "100% yes"),
            (-0.2, "0% yes"),
            (3.0, "100% yes"),
        ],
    )
    def test_an_expected_yes_is_a_share(self, kind, value, text):
        assert FeatureColumn("x", kind, "y").show(value) == text

    @pytest.mark.parametrize("kind", ["number", "weight"])
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (3.0, "3"),
            (1234.56, "1,235"),
            (-0.5, "-0.5"),
            (9999.2, "9,999"),
            (9999.7, "10,000"),
            (-12345.6, "-12,346"),
            (1e9, "1,000,000,000"),
            (1e15, "1e+15"),
        ],
    )
    def test_numbers_have_four_digits_or_are_whole(self, kind, value, text):
        assert FeatureColumn("x", kind).show(value) == text

    @pytest.mark.parametrize("kind", KINDS)
    @given(st.floats(width=32, allow_nan=False, allow_infinity=False))
    @settings(max_examples=50, deadline=None)
    def test_any_feature_can_be_shown(self, kind, value):
        assert FeatureColumn("x", kind).show(value).isprintable()


class TestTwoValues:
    @pytest.mark.parametrize(
        ("first", "second", "shown"),
        [
            (52.52001, 52.52004, ("52.52001", "52.52004")),
            (1.0, 2.0, ("1", "2")),
            (31_000.25, 31_000.5, ("31,000.2", "31,000.5")),
            (7.0, 7.0, ("7", "7")),
            (1.5, 1.154e-10, ("1.5", "0")),
            (1e12, 1000.0, ("1,000,000,000,000", "1,000")),
            (2e-9, 3e-9, ("2e-09", "3e-09")),
        ],
    )
    def test_they_have_the_digits_that_tell_them_apart(self, first, second, shown):
        assert FeatureColumn("x").show_both(first, second) == shown

    def test_moments_of_one_day_are_told_with_their_time(self):
        column = FeatureColumn("when", "date")
        noon, night = 19_783.5, 19_783.75
        assert column.show_both(noon, night) == ("2024-03-01 12:00:00", "2024-03-01 18:00:00")
        assert column.show_both(noon, noon + 1) == ("2024-03-01", "2024-03-02")

    def test_what_hardly_differs_ends_somewhere(self):
        one, other = FeatureColumn("x").show_both(1.0, 1.0 + 1e-15)
        assert one == other == "1"


def test_what_was_taken_off_is_added_again():
    column = FeatureColumn("seconds", offset=1_700_000_000.0)
    assert column.show(12.0) == "1,700,000,012"
    assert FeatureColumn("when", "date", offset=19_783.0).show(1.0) == "2024-03-02"


def test_a_logarithm_is_told_as_what_was_counted():
    column = FeatureColumn("core number", "structure", LOGARITHM)
    assert column.show(float(np.log1p(11))) == "11"
    assert column.show(-0.3) == "0"


def test_of_structure_nothing_is_below_zero():
    assert FeatureColumn("clustering", "structure").show(-0.02) == "0"
    assert FeatureColumn("clustering", "structure").show(0.25) == "0.25"


@pytest.mark.parametrize(
    ("before", "after", "value", "text"),
    [
        ("$", "", 1234.5, "$1,234"),
        ("$", "", -12.0, "-$12"),
        ("", " €", 0.5, "0.5 €"),
        ("", "%", 45.0, "45%"),
    ],
)
def test_a_number_has_its_sign_again(before, after, value, text):
    column = FeatureColumn("amount", before=before, after=after)
    assert column.show(value) == text
    assert column.unit == text.strip("-1,2345.0 ")


class TestValue:
    @pytest.mark.parametrize("value", [0.3, 16_777_215.0, 123456.79, -2.5, 0.0])
    def test_it_has_no_digits_that_only_rounding_made(self, value):
        assert FeatureColumn("x").value(float(np.float32(value))) == value

    def test_what_was_taken_off_is_added_again(self):
        assert FeatureColumn("lat", offset=52.52).value(float(np.float32(1e-5))) == 52.52001

    def test_a_logarithm_is_what_was_counted(self):
        column = FeatureColumn("core number", "structure", LOGARITHM)
        assert column.value(float(np.log1p(8))) == 8.0


def test_two_values_have_no_digits_beyond_single_precision():
    """0.3 is 0.30000001192… there, which nobody wrote."""
    single = float(np.float32(0.3))
    assert FeatureColumn("x").show_both(single, 0.3) == ("0.3", "0.3")


class TestForm:
    @pytest.mark.parametrize("form", [YEAR, CODE])
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (1997.0, "1997"),
            (12_000.0, "12000"),
            (2017.1, "2017"),
            (-12_345.0, "-12345"),
            (7.0, "7"),
        ],
    )
    def test_years_and_codes_are_whole_and_have_no_separators(self, form, value, text):
        column = FeatureColumn("founded", form=form)
        assert column.show(value) == text
        assert column.show_both(value, value) == (text, text)
        assert column.value(value) == float(text)

    @pytest.mark.parametrize(
        ("value", "text"), [(1.385e-4, "0"), (-1e-10, "0"), (0.434, "0.43"), (12_345.6, "12,346")]
    )
    def test_beside_whole_numbers_two_decimals_are_enough(self, value, text):
        column = FeatureColumn("a", form=WHOLE)
        assert column.show(value) == column.show_both(1.0, value)[1] == text
        assert column.value(value) == pytest.approx(round(value, 2), abs=0.01)

    def test_ids_with_an_offset_have_all_their_digits(self):
        column = FeatureColumn("page_id", offset=145_647_315_578_475.0, form=CODE)
        assert column.show(7.0) == "145647315578482"
        assert column.value(7.0) == 145_647_315_578_482.0


def test_of_what_single_precision_does_not_hold_seven_digits_are_told():
    stored = float(np.float32(55_141_315))
    assert stored != 55_141_315
    column = FeatureColumn("salary", before="$")
    assert column.show(stored) == "$55,141,320"
    assert column.value(stored) == 55_141_320
    assert FeatureColumn("n").show(16_777_215.0) == "16,777,215"


NUMBERS = st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=20)


@given(NUMBERS)
@settings(deadline=None)
def test_what_is_kept_is_within_a_hair_of_what_was_given(numbers):
    values = np.array(numbers)
    narrow, offset = narrowed(values)
    assert narrow.dtype == np.float32
    error = np.abs(narrow.astype(np.float64) + offset - values)
    assert (error <= 2e-7 * np.abs(values - offset) + 1e-15 * np.abs(values) + 1e-38).all()


@pytest.mark.parametrize(
    ("numbers", "offset"),
    [
        ([0.1, 0.2, 0.3], 0.0),
        ([16_777_216, 16_777_218, 33_554_432], 0.0),  # float32 holds them
        ([16_777_216, 16_777_217, 16_777_218], 16_777_217.0),
        ([1000.1, 1000.2, 1000.3], 1000.2),
        ([0.0, 1e9, 1e9 + 1], 0.0),  # two become one, which is nothing in such a spread
        ([np.nan, 1.7e9, 1.7e9 + 1, 1.7e9 + 3], 1.7e9 + 1),
    ],
)
def test_when_there_is_an_offset(numbers, offset):
    values = np.array(numbers)
    narrow, found = narrowed(values)
    assert found == offset
    np.testing.assert_array_equal(np.isnan(narrow), np.isnan(values))


def test_constant_stays_constant():
    narrow, _ = narrowed(np.full(1000, 1_700_000_000.1))
    assert np.ptp(narrow) == 0


def test_titles_are_made_different():
    columns = (
        FeatureColumn("a = b"),
        FeatureColumn("a", "category", "b"),
        FeatureColumn("a", "category", "b"),
    )
    titles = [column.title for column in with_unique_titles(columns)]
    assert titles == ["a = b", "a #2 = b", "a #3 = b"]


@pytest.mark.parametrize(
    ("kind", "stored", "text", "value"),
    [
        ("frequency", float(np.log(0.25)), "25%", 25.0),
        ("frequency", 0.5, "100%", 100.0),  # what a line expects may be beyond all
        ("agreement", 0.5, "50%", 50.0),
        ("agreement", -0.25, "0%", 0.0),
    ],
)
def test_shares_are_percents(kind, stored, text, value):
    column = FeatureColumn("country", kind, "detail", after="%")
    assert column.show(stored) == text
    assert column.value(stored) == pytest.approx(value)
    assert column.title == "country (detail)"
