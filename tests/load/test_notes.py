"""Every note on loading has a sentence, and every sentence a note."""

import ast
from pathlib import Path

import pytest

from egoscore import load
from egoscore.load.numbers import Notation, parse_numbers
from egoscore.notes import Note
from egoscore.report.loading_notes import LOADING
from egoscore.report.notes import render

MODULES = [ast.parse(path.read_text()) for path in Path(load.__file__).parent.glob("*.py")]


def made(tree):
    """The codes that are written where notes are made."""
    for node in ast.walk(tree):
        is_made = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if (
            is_made
            and node.func.attr in ("info", "warning")
            and isinstance(node.args[0], ast.Constant)
        ):
            yield node.args[0].value


def literals(tree):
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_every_code_has_a_sentence():
    codes = {code for tree in MODULES for code in made(tree)}
    assert codes <= set(LOADING)


def test_every_sentence_has_a_code():
    assert set(LOADING) <= {text for tree in MODULES for text in literals(tree)}


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["$1,234.5", "$7"], "'$' removed and commas between thousands"),
        (["1.234.567", "12,345"], "a decimal comma"),
        (["5.0K-", "12"], "the minus sign after the number and K for thousands"),
    ],
)
def test_formats_are_rendered(cells, words):
    import pyarrow as pa

    traits = list(parse_numbers(pa.array(cells), Notation())[1])
    fields = {"table": "t.csv", "column": "c", "kind": "number", "traits": traits}
    assert words in render(Note.info("column-format", **fields))
