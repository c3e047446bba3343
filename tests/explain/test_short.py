"""A cause in a few words: which quantity is off, and which way."""

from dataclasses import replace

import pytest

from egoscore.explain.explanation import Deviation
from egoscore.explain.short import off


def number(is_, ought, size, kind="number"):
    return Deviation("amount", str(is_), str(ought), size, kind, "$", is_, ought, is_amount=True)


@pytest.mark.parametrize(
    ("is_", "ought", "size", "words"),
    [
        (1200.0, 100.0, 5.0, "amount 12x what is expected"),
        (150.0, 100.0, 5.0, "amount 1.5x what is expected"),
        (140.0, 100.0, 5.0, "amount 140.0 where 100.0 is expected"),
        (45.0, 100.0, -5.0, "amount 45% of what is expected"),
        (90.0, 100.0, -5.0, "amount 90.0 where 100.0 is expected"),
        (-5.0, 100.0, -5.0, "amount -5.0 where 100.0 is expected"),
        (5.0, 0.0, 5.0, "amount 5.0 where 0.0 is expected"),
        (1e9, 1.0, 5.0, "amount 1000000000.0 where 1.0 is expected"),
        (1.0, 1e9, -5.0, "amount 1.0 where 1000000000.0 is expected"),
    ],
)
@pytest.mark.parametrize("kind", ["number", "weight", "structure"])
def test_numbers_are_told_as_a_multiple_where_that_says_something(kind, is_, ought, size, words):
    assert off(number(is_, ought, size, kind)) == words


def test_of_what_may_be_below_zero_there_is_no_multiple():
    """30 degrees are not 15 times 2 degrees."""
    one = replace(number(30.0, 2.0, 5.0), is_amount=False)
    assert off(one) == "amount 30.0 where 2.0 is expected"


def test_dates_are_told_as_dates():
    days = 20_000.0, 10_000.0
    one = Deviation("opened", "2024-10-04", "1997-05-19", 3.0, "date", "", *days)
    assert off(one) == "opened 2024-10-04 where 1997-05-19 is expected"


@pytest.mark.parametrize("kind", ["yes/no", "category", "missing"])
def test_a_yes_is_not_expected(kind):
    one = Deviation("country = NZ", "yes", "4% yes", 3.0, kind, "", 1.0, 0.04)
    assert off(one) == "country = NZ: yes, not expected"


def test_what_is_missing_is_missing():
    assert off(Deviation("age", "missing", "40", 3.0, expected_value=40.0)) == "age missing"
