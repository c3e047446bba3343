"""A deviation in words: it has the user's values, units and categories."""

from dataclasses import replace

import pytest

from egoscore.explain.explanation import Deviation
from egoscore.explain.sentences import by_column, clause, multiple, off


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


@pytest.mark.parametrize(
    ("observed", "is_shown"), [(1.0, True), (9.0, True), (9.5, False), (10.0, False), (0.4, False)]
)
def test_small_counts_are_stated_as_they_are(observed, is_shown):
    core = Deviation("core number", f"{observed:g}", "21", -3.0, "structure", "", observed, 21.0)
    text = off(replace(core, is_amount=True))
    assert (f"core number is {observed:g} (expected 21)" in text) == is_shown
    assert ("%" in text) != is_shown


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


@pytest.mark.parametrize("say", [clause, off])
def test_both_categories_are_named_if_both_are_known(say):
    shares = {"DE": ("yes", 1.0, 0.1), "CH": ("no", 0.0, 0.8), "FR": ("no", 0.0, 0.1)}
    found = [
        Deviation(f"country = {name}", answer, "", 3.0, "category", "", value, share)
        for name, (answer, value, share) in shares.items()
    ]
    for some, names in ((found, ("DE", "CH")), (found[:1], ("DE",)), (found[1:2], ("not CH",))):
        first = by_column(some)[0]
        assert all(name in say(first) for name in names)
        assert "FR" not in say(first)
    assert "its other features suggest CH" in say(by_column(found)[0], "its other features")
    assert len(by_column(found)) == 1


def test_a_column_is_named_once():
    gap = Deviation("age", "missing", "40", 3.0), Deviation("age", "missing", "a value", 2.0)
    assert by_column([*gap, amount(2.0, 1.0)]) == [gap[0], amount(2.0, 1.0)]


def test_yes_and_no_are_shown():
    member = Deviation("member", "yes", "4% yes", 3.0, "yes/no", "", 1.0, 0.04)
    assert off(member).startswith("member is yes")
    gap = Deviation("age is missing", "no", "96% yes", 3.0, "missing", "", 0.0, 0.96)
    assert off(gap).startswith("age is not missing")


@pytest.mark.parametrize("say", [clause, off])
def test_missing_values_are_called_missing(say):
    text = say(Deviation("age", "missing", "40", 3.0, expected_value=40.0))
    assert text.startswith("age is missing")
