"""What makes a node stand out by itself, whatever all questions together say."""

from __future__ import annotations

from egoscore.explain.explanation import Deviation, Reasons

_COUNTED = "number of neighbours"  # of a place; all else follows from chance more easily
_FAR = 7.0  # usual errors


def far_by_itself(reasons: Reasons) -> Deviation | None:
    """The quantity that is furthest off, if it is absurdly far."""
    features = reasons.features[:1] if "features" in reasons.questions else ()
    place = [one for one in reasons.structure if one.name == _COUNTED]
    furthest = max((*features, *place), key=lambda one: abs(one.size), default=None)
    return furthest if furthest is not None and abs(furthest.size) >= _FAR else None
