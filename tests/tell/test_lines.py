"""Where text may be broken: between words, never within a number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from egoscore.tell.lines import unbroken


def pieces(text, longest=14):
    return [Markup(piece).striptags() for piece in unbroken(text, longest).split("<wbr>")]


@pytest.mark.parametrize("text", ["CUST-000485", "known_label", "contextual", "a b", ""])
def test_what_is_short_is_not_broken(text):
    assert unbroken(text) == f'<span class="whole">{text}</span>'


def test_what_is_longer_is_broken_after_what_separates_words():
    assert pieces("number_of_transactions") == ["number_", "of_", "transactions"]
    assert pieces("paid/total: in euros,yearly") == ["paid/", "total:", "in", "euros,", "yearly"]


@pytest.mark.parametrize("number", ["3.8x", "1,234,567.5", "-0.25", "2024-11-02"])
def test_numbers_stay_in_one_piece(number):
    assert number in pieces(f"neighbours it shares {number} as expected")


def test_only_words_that_are_too_long_may_be_broken_anywhere():
    assert "<span" not in unbroken("x" * 15)
    assert "<span" not in unbroken("漢" * 8)
    assert unbroken(f"{'x' * 15} y") == f'{"x" * 15} <wbr><span class="whole">y</span>'


def test_tags_are_text():
    assert "<b>" not in unbroken("<b>x</b>")
    assert "<b>" not in unbroken("<b>x</b> " * 9)


@given(st.text(), st.integers(1, 20))
def test_nothing_is_lost(text, longest):
    found = unbroken(text, longest)
    for tag in ('<span class="whole">', "</span>", "<wbr>"):
        found = Markup(str(found).replace(tag, ""))
    assert found.unescape() == text
