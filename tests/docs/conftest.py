"""Presets cut short, and what an example adds to the package taken out again."""

from dataclasses import replace

import pytest
from docs.pages import ROOT

from egoscore import settings
from egoscore.learn import MODELS
from egoscore.reverse import SOLVERS
from egoscore.score import DISSIMILARITIES


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """The presets cut short, in a directory of one's own."""
    short = replace(settings.PRESETS["paper"], epochs=2, num_levels=2, num_samples=1, steps=10)
    monkeypatch.setitem(settings.PRESETS, "paper", short)
    default = replace(settings.PRESETS["default"], updates=5)
    monkeypatch.setitem(settings.PRESETS, "default", default)
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # as for a reader in a clone
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _as_it_was():
    named = (DISSIMILARITIES, MODELS, SOLVERS)
    before = [dict(choices) for choices in named]
    yield
    for choices, kept in zip(named, before, strict=True):
        choices.clear()
        choices.update(kept)
