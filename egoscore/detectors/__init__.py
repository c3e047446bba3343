"""Detectors: ways to score the nodes of a graph, behind one interface (`base.py`).

In: an `AttributedGraph`. Out: a fitted detector, its component table, scores and explanations.
Not here: files, processes, the command line, anything that reads labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egoscore.detectors.base import Detector, Vocabulary

# A preset and where its detector is: a package with the modules `settings` (class NameSettings),
# `detector` (class NameDetector) and `vocabulary` (VOCABULARY). Adding a detector adds one line.
PRESETS = {
    "default": ("egoscore.detectors.conditional", "Conditional"),
    "paper": ("egoscore.detectors.paper", "Paper"),
}


def settings_of(preset: str) -> type[Any]:
    """The settings class of a preset; importing it is cheap."""
    package, name = PRESETS[preset]
    kind: type[Any] = getattr(import_module(f"{package}.settings"), f"{name}Settings")
    return kind


def detector_of(preset: str) -> type[Detector]:
    """The detector class of a preset."""
    package, name = PRESETS[preset]
    kind: type[Detector] = getattr(import_module(f"{package}.detector"), f"{name}Detector")
    return kind


def vocabulary_of(preset: str) -> Vocabulary:
    """The words of a preset."""
    words: Vocabulary = import_module(f"{PRESETS[preset][0]}.vocabulary").VOCABULARY
    return words


def label_of(question: str) -> str:
    """The short label of a question, for tables and sentences; detectors share names and labels."""
    labels = (vocabulary_of(preset).labels for preset in PRESETS)
    return next((one[question] for one in labels if question in one), question)


def main_question(answers: Mapping[str, float]) -> str:
    """The question with the highest answer; one that counts by itself comes first if it counts."""
    alone = {vocabulary_of(preset).alone for preset in PRESETS}
    first = (question for question, answer in answers.items() if question in alone and answer > 0)
    return next(first, None) or max(answers, key=lambda question: answers[question])


def foreign_settings(preset: str, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Those of `names` that are settings of other presets only, with these presets."""
    known = setting_names() if preset in PRESETS else {}
    others = {name: known[name] for name in names if name in known}
    return {n: presets for n, presets in others.items() if preset not in presets}


def rescoring_settings(preset: str) -> tuple[str, ...]:
    """The settings with which a finished run may be scored again, without measuring again."""
    kept = fields(settings_of(preset))
    return tuple(one.name for one in kept if one.metadata["rescores"])


def setting_names() -> dict[str, tuple[str, ...]]:
    """The name of every setting, with the presets that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for preset in PRESETS:
        for one in fields(settings_of(preset)):
            found[one.name] = (*found.get(one.name, ()), preset)
    return found
