"""Which questions a score comes from."""

from __future__ import annotations

from collections.abc import Mapping

HIGH = 3.0  # one in twenty is as surprising
_RARE = 0.05
# preset "paper": by which part of the score a question is answered
RETURNED = {"features": "feature_error", "structure": "structure_error", "energy": "energy_shift"}


def by_strength(answers: Mapping[str, float]) -> dict[str, float]:
    """Answers by question, the most surprising first."""
    return dict(sorted(answers.items(), key=lambda item: -item[1]))


def causes_of(answers: Mapping[str, float]) -> tuple[str, ...]:
    """The questions by which a node is among the 5% most surprising, strongest first."""
    return tuple(name for name, answer in by_strength(answers).items() if answer > HIGH)


def is_rare(p_value: float) -> bool:
    """Whether all answers together are among the 5% most surprising."""
    return p_value <= _RARE
