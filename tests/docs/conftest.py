"""Short training, and whatever an example adds to the package removed again."""

from dataclasses import fields

import pytest
from docs.pages import ROOT

from egoscore.detectors import settings_of
from egoscore.detectors.paper.combine import DISSIMILARITIES
from egoscore.detectors.paper.settings import MODELS
from egoscore.detectors.paper.solve import SOLVERS

_SHORT = {"paper": {"epochs": 2, "num_levels": 2, "num_samples": 1, "steps": 10}}
_SHORTER = _SHORT | {"default": {"updates": 5}}


def shorten(monkeypatch, defaults):
    """Replace defaults of settings, by preset."""
    for preset, values in defaults.items():
        for one in fields(settings_of(preset)):
            if one.name in values:
                monkeypatch.setattr(one, "default", values[one.name])


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A directory of one's own with the examples, like a reader's."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def quick(monkeypatch, folder):
    """Short training for the paper's preset only: pages show the lists of the default preset."""
    shorten(monkeypatch, _SHORT)


@pytest.fixture
def quicker(monkeypatch, folder):
    """Both presets with short training."""
    shorten(monkeypatch, _SHORTER)


@pytest.fixture(autouse=True)
def _registries():
    named = (DISSIMILARITIES, MODELS, SOLVERS)
    before = [dict(choices) for choices in named]
    yield
    for choices, kept in zip(named, before, strict=True):
        choices.clear()
        choices.update(kept)
