"""Columns are found by their names, or by their place, which is said."""

import pyarrow as pa
import pytest

from egoscore.read import Choices
from egoscore.read.csv_file import CsvTable
from egoscore.read.names import PAIRS, find, find_ends, known_pair
from egoscore.read.table import INDEX, ArrowTable


def table(*names):
    return ArrowTable("t", pa.table([[1]] * len(names), names=list(names)))


@pytest.mark.parametrize("pair", PAIRS)
def test_every_pair_is_found_wherever_it_stands(pair):
    first, second = pair[0].upper(), f" {pair[1]} "
    notes = []
    assert find_ends(table("when", second, "x", first), Choices(), notes) == (first, second)
    assert notes == []


@pytest.mark.parametrize(
    ("columns", "pair"),
    [
        (["tx_id", "from_account", "to_account", "eur"], ("from_account", "to_account")),
        (["date", "From Acct", "To Acct"], ("From Acct", "To Acct")),
        (["fromAddress", "toAddress", "value"], ("fromAddress", "toAddress")),
        (["when", "account_from", "account_to"], ("account_from", "account_to")),
        (["n", "sender-iban", "recipient-iban"], ("sender-iban", "recipient-iban")),
        (["a", "b", "from_date", "to_date"], None),
        (["from_account", "to_customer"], None),
    ],
)
def test_what_two_names_have_in_common_does_not_hide_that_they_are_a_pair(columns, pair):
    assert known_pair(columns) == pair


def test_half_a_pair_says_nothing():
    notes = []
    assert find_ends(table("a", "from", "b"), Choices(), notes) == ("a", "from")
    assert "'a' to column 'from', taken by their place" in notes[0]


def test_a_nameless_index_is_not_an_end(write):
    assert find_ends(table(INDEX, "a", "b"), Choices(), []) == ("a", "b")
    path = write("t.csv", ",a,b\n0,x,y\n")
    assert find_ends(CsvTable(path), Choices(), []) == ("a", "b")


@pytest.mark.parametrize(
    ("choices", "ends"),
    [
        (Choices(source="B", target="a"), ("b", "a")),
        (Choices(source="b"), ("b", "a")),
        (Choices(target="a"), ("b", "a")),
        (Choices(source="source"), ("source", "target")),
        (Choices(target="target"), ("source", "target")),
    ],
)
def test_what_is_given_counts(choices, ends):
    names = ("source", "target") if "source" in ends else ("a", "b")
    assert find_ends(table(*names), choices, []) == ends


def test_refusals(refusal):
    assert "needs two columns" in refusal(find_ends, table("a"), Choices(), [])
    both = Choices(source="a", target="a")
    assert "both name the column 'a'" in refusal(find_ends, table("a", "b"), both, [])
    message = refusal(find, "weight", "amount", table("a", "b"))
    assert "--weight names the column 'amount'" in message
    assert "it has 'a', 'b'" in message
    assert "does not have" in refusal(find, "id", "ID", table("id", "Id"))
    assert find("id", "Id", table("id", "Id")) == "Id"
