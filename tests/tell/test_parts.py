"""The parts of a score: each is told in plain words."""

import pytest

from egoscore.score.table import LEVEL_COMPONENTS
from egoscore.surprise.model import QUESTIONS
from egoscore.tell.parts import PARTS

CHANNELS = [channel for channels in QUESTIONS.values() for channel in channels]


@pytest.mark.parametrize(
    "name", [*CHANNELS, *[f"surprise_{name}" for name in QUESTIONS], *LEVEL_COMPONENTS]
)
def test_every_part_has_its_words(name):
    assert 20 < len(PARTS[name]) < 120


def test_nothing_else_has():
    others = set(PARTS) - {f"surprise_{name}" for name in QUESTIONS}
    assert others == {"feature_norm", *CHANNELS, *LEVEL_COMPONENTS}
