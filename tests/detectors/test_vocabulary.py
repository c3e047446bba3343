"""The words of the detectors: complete, and true to what is computed."""

import re

import numpy as np
import pytest

from egoscore.detectors import PRESETS, vocabulary_of
from egoscore.detectors.calibration import BODY
from egoscore.detectors.conditional.channels import CHANNELS, QUESTIONS
from egoscore.detectors.paper.components import LEVEL_COMPONENTS

DEFAULT, PAPER = vocabulary_of("default"), vocabulary_of("paper")


def test_every_component_is_described():
    assert set(DEFAULT.components) == {*CHANNELS, *[f"surprise_{name}" for name in QUESTIONS]}
    assert set(PAPER.components) == set(LEVEL_COMPONENTS)
    for text in (*DEFAULT.components.values(), *PAPER.components.values()):
        assert 20 < len(text) < 120


def test_every_question_is_a_question():
    assert set(DEFAULT.questions) == {channel.question for channel in CHANNELS.values()} - {""}
    assert set(PAPER.questions) == {"features", "structure", "energy"}
    assert all(
        text.endswith("?") for words in (DEFAULT, PAPER) for text in words.questions.values()
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_the_contrast_has_both_values(preset):
    text = vocabulary_of(preset).contrast.format(actual="1.58", expected="0.43")
    assert "1.58" in text
    assert "0.43" in text


@pytest.mark.parametrize(
    "asked", [("features", "similarity", "position"), ("features", "position")]
)
def test_the_meaning_names_the_questions_asked(asked):
    text = DEFAULT.meaning(asked, 12345)
    assert f"{len(asked)} questions" in text
    assert [name for name, question in QUESTIONS.items() if question in text] == list(asked)


def test_without_features_the_score_compares_all_nodes():
    assert "12,345 nodes" in DEFAULT.meaning(("position",), 12345)
    assert "no features" in DEFAULT.meaning(("position",), 12345)


def test_the_meaning_of_the_papers_score_is_not_overstated():
    assert "12,345 nodes" in PAPER.meaning(("features",), 12345)
    assert "cannot be compared between" in PAPER.meaning(("features",), 12345)


@pytest.mark.parametrize("asked", [("features", "similarity", "position"), ("position",)])
def test_the_rarities_in_the_meaning_are_those_of_the_scores(asked):
    named = re.findall(
        r"([\d.]+) (?:means|means that about) 1 in ([\d,]+)", DEFAULT.meaning(asked, 99)
    )
    assert len(named) == 3
    for score, one_in in named:
        assert np.exp(float(score)) == pytest.approx(float(one_in.replace(",", "")), rel=0.1)


def test_the_meaning_says_from_which_rarity_on_scores_are_estimated():
    assert f"Beyond 1 in {1 / (1 - BODY):g} this is an estimate" in DEFAULT.meaning(
        ("position",), 99
    )
