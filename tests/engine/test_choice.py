"""Which engine runs the work, and that no rule of the type checker is switched off for our code."""

import tomllib
from pathlib import Path

import pytest

from egoscore.engine import choose_engine
from egoscore.engine.base import Inline
from egoscore.engine.processes import Processes


@pytest.mark.parametrize(("num_workers", "kind"), [(1, Inline), (2, Processes), (8, Processes)])
def test_several_workers_need_processes(num_workers, kind):
    assert type(choose_engine(num_workers)) is kind


def test_strict_types_hold_for_all_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    named = [name for rule in project["tool"]["mypy"]["overrides"] for name in rule["module"]]
    assert [name for name in named if name.startswith("egoscore")] == []
