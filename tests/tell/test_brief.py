"""Short text: harmless, never longer than it may be, and both ends of it kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoscore.tell.brief import brief, label, number, percent, shown, signed


@given(st.text(), st.integers(3, 50))
def test_nothing_is_longer_than_it_may_be_or_unprintable(text, limit):
    assert len(brief(text, limit)) <= limit
    assert brief(text, limit).isprintable()


def test_the_middle_of_long_text_is_left_out():
    text = "begin" + "x" * 10_000 + "end"
    assert brief(text, 20).startswith("beginxxx")
    assert brief(text, 20).endswith("xxxend")
    assert "…" in brief(text, 20)
    assert brief("short") == "short"
    assert brief("x" * 60) == "x" * 60


def test_labels_of_wide_letters_are_shorter():
    assert label("abcdefghij", 10) == "abcdefghij"
    assert len(label("漢字漢字漢字漢字", 10)) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0.0, "0"), (8.0, "8"), (0.12344, "0.1234"), (1234, "1,234"), (12345.678, "12,346")],
        *[(1234.0, "1,234"), (1234.4, "1,234")],
        *[(1e-9, "1e-09"), (1e20, "1e+20"), (math.nan, "–"), (None, "–")],  # noqa: RUF001
        *[(math.inf, "∞"), (-math.inf, "−∞")],  # noqa: RUF001
    ],
)
def test_numbers_have_four_digits(value, text):
    assert number(value) == text


def test_signs_are_told():
    assert [signed(value) for value in (2.5, -2.5, 0.0)] == ["+2.5", "-2.5", "0"]


def test_percentiles_are_never_rounded_up_to_all():
    shares = [50.4, 98.99, 99.87, 99.999, 100.0, math.nan]
    told = ["50", "98", "99.8", "99.9", "100.0", "–"]  # noqa: RUF001
    assert [percent(share) for share in shares] == told


def test_values_of_the_user_are_not_rounded():
    assert shown(1000001.5) == "1000001.5"
    assert shown(12345678901) == "12345678901"
    assert shown(None) == "–"  # noqa: RUF001


def test_digits_that_only_single_precision_made_are_not_shown():
    assert shown(float(np.float32(0.3))) == "0.3"
    assert [shown(value) for value in (0.3, 2.0, 1e300)] == ["0.3", "2", "1e+300"]
