"""A deviation in words: it has the user's values, units and categories."""

from dataclasses import replace

import pytest

from egoscore.explain.explanation import Deviation
from egoscore.explain.sentences import clause, multiple, off


def amount(observed, expected, kind="number"):
    shown = (f"${value:,.0f}" for value in (observed, expected))
    return Deviation("price", *shown, 5.0, kind, "$", observed, expected, is_amount=True)


@pytest.mark.parametrize(
    ("value", "of", "found"),
    [(1200, 100, "12"), (150, 100, "1.5"), (140, 100, ""), (45, 100, ""), (5, 0, ""), (1e9, 1, "")],
)
def test_a_multiple_is_stated_where_it_helps(value, of, found):
    assert multiple(value, of) == found


@pytest.mark.parametrize("kind", ["number", "weight", "structure"])
@pytest.mark.parametrize(
    ("observed", "expected", "shown"),
    [
        (1200.0, 100.0, ["12 times"]),
        (150.0, 100.0, ["1.5 times"]),
        (140.0, 100.0, ["$140", "$100"]),
        (45.0, 100.0, ["45%"]),
        (90.0, 100.0, ["$90", "$100"]),
        (-5.0, 100.0, ["$-5", "$100"]),
        (5.0, 0.0, ["$5", "$0"]),
        (1e9, 1.0, ["$1,000,000,000", "$1"]),
        (1.0, 1e9, ["$1", "$1,000,000,000"]),
    ],
)
def test_amounts_are_compared_by_their_ratio_where_it_helps(observed, expected, shown, kind):
    text = off(amount(observed, expected, kind))
    assert "price" in text
    assert all(part in text for part in shown)


def test_values_that_may_be_negative_have_no_ratio():
    """30 degrees are not 15 times 2 degrees."""
    text = off(replace(amount(30.0, 2.0), is_amount=False))
    assert "times" not in text
    assert "$30" in text
    assert "$2" in text


@pytest.mark.parametrize("say", [clause, off])
def test_dates_are_shown_as_dates(say):
    days = 20_000.0, 10_000.0
    text = say(Deviation("opened", "2024-10-04", "1997-05-19", 3.0, "date", "", *days))
    assert all(part in text for part in ("opened", "2024-10-04", "1997-05-19"))


@pytest.mark.parametrize("say", [clause, off])
@pytest.mark.parametrize(("observed", "reads"), [("yes", "is NZ"), ("no", "is not NZ")])
def test_categories_read_as_column_is_value(say, observed, reads):
    one = Deviation("country = NZ", observed, "4% yes", 3.0, "category", "", 1.0, 0.04)
    assert say(one).startswith(f"country {reads}, ")


@pytest.mark.parametrize("kind", ["yes/no", "missing"])
def test_yes_and_no_are_shown(kind):
    assert off(Deviation("member", "yes", "4% yes", 3.0, kind, "", 1.0, 0.04)).startswith(
        "member: yes"
    )


@pytest.mark.parametrize("say", [clause, off])
def test_missing_values_are_called_missing(say):
    text = say(Deviation("age", "missing", "40", 3.0, expected_value=40.0))
    assert text.startswith("age is missing")
