"""Columns are known by their names."""

import pyarrow as pa
import pytest

from egoscore.load.column_names import find, is_date, known_pair
from egoscore.load.table import ArrowTable


def table(*names):
    return ArrowTable("t", pa.table([[1]] * len(names), names=list(names)))


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


def test_refusals(refusal):
    message = refusal(find, "weight", "amount", table("a", "b"))
    assert "`weight=` names the column 'amount'" in message
    assert "it has 'a', 'b'" in message
    assert "does not have" in refusal(find, "id", "ID", table("id", "Id"))
    assert find("id", "Id", table("id", "Id")) == "Id"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *((name, True) for name in ("date", "Opening Date", "birthDate", "day", "paid_on", "DOB")),
        *((name, False) for name in ("update", "days", "amount", "candidate", "monday", "id")),
    ],
)
def test_names_that_say_that_a_column_holds_days(name, is_one):
    assert is_date(name) is is_one
