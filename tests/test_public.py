"""The public surface: exactly these names, typed, and quick to import."""

import importlib
import importlib.metadata
import inspect
from importlib.resources import files

import pytest

import egoscore
from egoscore import errors

NAMES = [
    "AttributedGraph",
    "EgoScore",
    "EgoScoreError",
    "Explanation",
    "generate_network",
    "load_dataset",
]


def test_these_are_the_public_names():
    assert egoscore.__all__ == NAMES
    assert set(egoscore._HOMES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_and_is_the_one_of_its_home(name):
    value = getattr(egoscore, name)
    assert value is getattr(importlib.import_module(egoscore._HOMES[name]), name)
    assert value.__name__ == name
    assert inspect.getdoc(value)
    assert name in dir(egoscore)


def test_a_star_import_brings_exactly_them():
    names = {}
    exec("from egoscore import *", names)
    assert set(names) - {"__builtins__"} == set(NAMES)


def test_other_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="'egoscore' has no attribute 'Egoscore'"):
        _ = egoscore.Egoscore
    assert not hasattr(egoscore, "nothing")


def test_the_package_is_typed():
    assert (files("egoscore") / "py.typed").is_file()


def test_the_version_is_that_of_the_installation():
    assert egoscore.__version__ == importlib.metadata.version("egoscore")


def test_every_error_of_ours_is_an_egoscore_error():
    found = [value for value in vars(errors).values() if inspect.isclass(value)]
    assert len(found) >= 7
    for error in found:
        assert issubclass(error, egoscore.EgoScoreError)
        assert inspect.getdoc(error)


@pytest.mark.parametrize(
    "folder",
    [
        "graph",
        "load",
        "explain",
        "run",
        "engine",
        "report",
        "bench",
        "bench.rivals",
        "load.families",
        "cli",
        "detectors",
    ],
)
def test_every_stage_says_what_comes_in_what_goes_out_and_what_does_not_belong(folder):
    text = inspect.getdoc(importlib.import_module(f"egoscore.{folder}"))
    assert "In: " in text
    assert "Out: " in text
    assert "Not here: " in text
