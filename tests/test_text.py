"""Text for people: numbers in one style, the right noun behind them, and nothing harmful."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoscore.text import (
    are,
    brief,
    command_line_options,
    counted,
    label,
    number,
    numeral,
    option,
    percent,
    printable,
    quoted,
    shown,
    signed,
    times,
)

DASH = "\N{EN DASH}"


class TestNumbers:
    NUMERALS = (
        *[(0.0, "0"), (-0.0, "0"), (8, "8"), (0.12344, "0.1234"), (-0.5, "-0.5")],
        *[(999.96, "1,000"), (1234, "1,234"), (1234.4, "1,234"), (9999.2, "9,999")],
        *[(9999.7, "10,000"), (12345.678, "12,346"), (1e9, "1,000,000,000")],
        *[(1e-9, "1e-09"), (1e15, "1e+15"), (1e20, "1e+20")],
    )
    NOT_FINITE = (
        *[(math.nan, DASH), (None, DASH)],
        *[(math.inf, "\N{INFINITY}"), (-math.inf, "\N{MINUS SIGN}\N{INFINITY}")],
    )

    @pytest.mark.parametrize(("value", "text"), NUMERALS)
    def test_numbers_have_four_digits_or_are_whole(self, value, text):
        assert numeral(value) == number(value) == text

    @pytest.mark.parametrize(("value", "text"), NOT_FINITE)
    def test_infinite_and_missing_numbers_are_symbols(self, value, text):
        assert number(value) == text

    @pytest.mark.parametrize(
        ("value", "digits", "text"),
        [(0.43219, 3, "0.432"), (1234.5, 3, "1,234"), (31000.25, 6, "31,000.2")],
    )
    def test_the_number_of_digits_can_be_chosen(self, value, digits, text):
        assert numeral(value, digits) == text

    @pytest.mark.parametrize(
        ("ratio", "text"), [(1.54, "1.5"), (9.94, "9.9"), (9.96, "10"), (1234.5, "1,234")]
    )
    def test_ratios_have_no_exponent(self, ratio, text):
        assert times(ratio) == text

    def test_signed_numbers_show_their_sign(self):
        assert [signed(value) for value in (2.5, -2.5, 0.0)] == ["+2.5", "-2.5", "0"]

    def test_percentiles_are_never_rounded_up(self):
        shares = [50.4, 98.99, 99.87, 99.999, 100.0, math.nan]
        assert [percent(share) for share in shares] == ["50", "98", "99.8", "99.9", "100.0", DASH]

    def test_values_of_the_user_are_not_rounded(self):
        assert shown(1000001.5) == "1000001.5"
        assert shown(12345678901) == "12345678901"
        assert shown(None) == DASH

    def test_single_precision_values_have_no_spurious_digits(self):
        assert shown(float(np.float32(0.3))) == "0.3"
        assert [shown(value) for value in (0.3, 2.0, 1e300)] == ["0.3", "2", "1e+300"]


class TestWords:
    @pytest.mark.parametrize(
        ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1234, "1,234 nodes")]
    )
    def test_one_thing_is_singular(self, count, text):
        assert counted(count, "node") == text

    def test_the_verb_agrees_with_the_number(self):
        assert [are(count) for count in (0, 1, 2)] == ["are", "is", "are"]

    def test_a_few_names_are_all_quoted(self):
        assert quoted(["a", "b"]) == "'a', 'b'"

    def test_of_many_names_the_first_are_quoted_and_the_rest_counted(self):
        assert quoted([str(n) for n in range(20)]).endswith("'11' and 8 more")
        assert quoted(["x" * 200] * 5).endswith("' and 2 more")

    def test_options_are_written_as_the_user_passes_them(self):
        assert (option("impute"), option("impute", "median")) == ("`impute=`", "`impute='median'`")
        with command_line_options():
            assert option("impute") == "--impute"
            assert option("impute", "median") == "--impute median"
            assert option("label", "is fraud") == "--label 'is fraud'"
        assert option("impute") == "`impute=`"


class TestPrintable:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
            ("\x9b31m", r"\x9b31m"),
            ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
            ("two\nlines\r\n", r"two\nlines\r\n"),
            ("tab\tnull\0", r"tab\tnull\x00"),
            ("left\u202eright", r"left\u202eright"),
            ("שלום\u200e", r"שלום\u200e"),
            ("next\u2028line", r"next\u2028line"),
            ("half \ud800", r"half \ud800"),
        ],
    )
    def test_control_characters_are_spelled_out(self, value, text):
        assert printable(value) == text

    @pytest.mark.parametrize(
        "value", ["plain", "Äpfel & Birnen", "漢字", 'it\'s "quoted" \\', "🙂", "👩\u200d👩"]
    )
    def test_other_text_is_unchanged(self, value):
        assert printable(value) == value

    @pytest.mark.parametrize(("value", "text"), [(7, "7"), (None, "None"), ((0, "a"), "(0, 'a')")])
    def test_other_values_become_text(self, value, text):
        assert printable(value) == text

    @given(st.text())
    def test_any_text_becomes_printable(self, value):
        assert re.sub("[\u200c\u200d]", "", printable(value)).isprintable()
        assert len(printable(value)) >= len(value)


class TestBrief:
    @given(st.text(), st.integers(3, 50))
    def test_the_result_is_printable_and_within_the_limit(self, text, limit):
        short = brief(text, limit)
        assert len(short) <= limit
        assert re.sub("[\u200c\u200d]", "", short).isprintable()

    def test_long_text_loses_its_middle(self):
        text = "begin" + "x" * 10_000 + "end"
        assert brief(text, 20).startswith("beginxxx")
        assert brief(text, 20).endswith("xxxend")
        assert "…" in brief(text, 20)
        assert brief("short") == "short"
        assert brief("x" * 60) == "x" * 60

    def test_labels_of_wide_characters_have_fewer(self):
        assert label("abcdefghij", 10) == "abcdefghij"
        assert len(label("漢字漢字漢字漢字", 10)) == 5
