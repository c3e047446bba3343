"""Text of strangers: control characters are spelled out, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egoscore.printable import printable


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
def test_control_characters_are_spelled_out(value, text):
    assert printable(value) == text


@pytest.mark.parametrize(
    "value",
    ["plain", "Äpfel & Birnen", "漢字", 'it\'s "quoted" \\', "🙂", "👩\u200d👩"],
)
def test_other_text_stays_as_it_is(value):
    assert printable(value) == value


@pytest.mark.parametrize(("value", "text"), [(7, "7"), (None, "None"), ((0, "a"), "(0, 'a')")])
def test_other_values_become_text(value, text):
    assert printable(value) == text


@given(st.text())
def test_any_text_becomes_printable(value):
    assert re.sub("[\u200c\u200d]", "", printable(value)).isprintable()
    assert len(printable(value)) >= len(value)
