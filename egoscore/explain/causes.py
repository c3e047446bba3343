"""Which questions, or which single quantity, make a node stand out."""

from __future__ import annotations

from collections.abc import Mapping

from egoscore.explain.explanation import Deviation, Reasons
from egoscore.graph.structure import NAMES

HIGH = 3.0  # one in twenty is as surprising
_RARE = 0.05
_EXTREME = 7.0  # usual errors


def by_strength(answers: Mapping[str, float]) -> dict[str, float]:
    """Answers by question, the most surprising first."""
    return dict(sorted(answers.items(), key=lambda item: -item[1]))


def causes_of(answers: Mapping[str, float]) -> tuple[str, ...]:
    """The questions by which a node is among the 5% most surprising, strongest first."""
    return tuple(name for name, answer in by_strength(answers).items() if answer > HIGH)


def is_rare(p_value: float) -> bool:
    """Whether all answers together are among the 5% most surprising."""
    return p_value <= _RARE


def far_by_itself(reasons: Reasons) -> Deviation | None:
    """The quantity with the largest deviation, if that is extreme."""
    features = reasons.features[:1] if "features" in reasons.questions else ()
    place = [one for one in reasons.structure if one.name == NAMES["log_degree"]]
    furthest = max((*features, *place), key=lambda one: abs(one.size), default=None)
    return furthest if furthest is not None and abs(furthest.size) >= _EXTREME else None
