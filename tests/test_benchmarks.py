"""Benchmarks are not run by the tests, but what they import must be there."""

import ast
import importlib
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).resolve().parents[1] / "benchmarks").glob("*.py"))


def imported(path):
    """(module, name) of everything that a file imports from the package, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("egoscore"):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_benchmark_imports_is_there(path):
    for module, name in imported(path):
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.import_module(f"{module}.{name}"), (module, name)


def test_there_are_benchmarks():
    assert len(FILES) > 8
