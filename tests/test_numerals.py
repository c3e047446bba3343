"""Numbers as people write them: one style, and the right noun behind."""

import pytest

from egoscore.numerals import are, counted, numeral, times


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0.0, "0"), (-0.0, "0"), (8, "8"), (0.12344, "0.1234"), (-0.5, "-0.5")],
        *[(999.96, "1,000"), (1234, "1,234"), (1234.0, "1,234"), (9999.2, "9,999")],
        *[(9999.7, "10,000"), (12345.678, "12,346"), (1e9, "1,000,000,000")],
        *[(1e-9, "1e-09"), (1e15, "1e+15")],
    ],
)
def test_numbers_have_four_digits_or_are_whole(value, text):
    assert numeral(value) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.43219, 3, "0.432"), (1234.5, 3, "1,234"), (31000.25, 6, "31,000.2")],
)
def test_they_may_have_more_or_fewer(value, digits, text):
    assert numeral(value, digits) == text


@pytest.mark.parametrize(("ratio", "text"), [(1.54, "1.5"), (9.94, "9.9"), (9.96, "10"), (1234.5, "1,234")])  # fmt: skip # noqa: E501
def test_times_are_told_without_exponents(ratio, text):
    assert times(ratio) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes"), (1234, "1,234 nodes")]
)
def test_things_are_counted_as_people_do(count, text):
    assert counted(count, "node") == text


def test_the_verb_goes_with_the_number():
    assert [are(count) for count in (0, 1, 2)] == ["are", "is", "are"]
