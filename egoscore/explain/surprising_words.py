"""What the default recipe finds surprising about a node, in words: half a sentence, or a few."""

from __future__ import annotations

from collections.abc import Sequence

from egoscore.explain.explanation import Component, Deviation, Reasons, Tie
from egoscore.explain.features import far_off
from egoscore.explain.reasons import shortened
from egoscore.explain.short import multiple, off, says
from egoscore.surprise.model import QUESTIONS

_HIGH_PERCENTILE = 95.0


def _once(deviations: Sequence[Deviation]) -> list[Deviation]:
    """The first of those that say the same: two features tell that a value is missing."""
    found: dict[tuple[str, str], Deviation] = {}
    for one in deviations:
        found.setdefault((one.name, one.observed), one)
    return list(found.values())


def _far(deviations: Sequence[Deviation]) -> list[Deviation]:
    """Those that are worth a word."""
    return far_off(_once(deviations))


def _about_features(reasons: Reasons) -> str:
    far = _far(reasons.features)
    if not far:
        return (
            "its features together, though none by itself, are not what its surroundings and "
            f"each other let one expect; furthest off: {says(reasons.features[0])}"
        )
    facts = " and ".join(says(deviation) for deviation in far[:2])
    return f"{facts}, given its surroundings and its other features"


def _features_in_short(reasons: Reasons) -> str:
    far = _far(reasons.features)
    return off(far[0]) if far else "none by itself, all together"


def fits_least(components: Sequence[Component]) -> str:
    """The channel by which a node's company is most unusual."""
    measured = {part.name: part.percentile for part in components}
    return max(QUESTIONS["company"], key=lambda name: measured[name])


def _company(reasons: Reasons) -> tuple[str, str]:
    """How it does not fit, as half a sentence and in a few words."""
    if reasons.ego_size == 1:
        return "it has no neighbours, where others have some like them", "no neighbours"
    facts = " and ".join(
        f"{one.name} is {one.observed}, theirs typically {one.expected}" for one in reasons.unlike
    )
    where = f" ({facts})" if facts else ""
    most_in = f" in {reasons.unlike[0].name}" if reasons.unlike else ""
    if fits_least(reasons.components) == "mismatch_two_steps":
        return (
            f"it does not fit the neighbours of its neighbours{where}",
            f"unlike its neighbours' neighbours{most_in}",
        )
    measured = {part.name: part.percentile for part in reasons.components}
    sentence, short = "it does not fit its neighbours", f"unlike its neighbours{most_in}"
    if measured["dirichlet_energy"] >= _HIGH_PERCENTILE:
        more = multiple(reasons.energy_before, reasons.energy_after)
        sentence = "it differs from its neighbours"
        if more:
            sentence += f" {more} times as much as is expected"
            short = f"{more}x as unlike its neighbours as expected"
            short += f", most{most_in}" if most_in else ""
    strangers = reasons.surprising[:2]
    sentence += where
    return sentence + (f", least like it {_listed(strangers)}" if strangers else ""), short


def _about_place(reasons: Reasons) -> str:
    first = reasons.structure[0]
    if _far(reasons.structure):
        return f"its place in the network is unusual: {says(first)}"
    return (
        "its place in the network is unusual in all respects together, though in none by itself; "
        f"furthest off: {says(first)}"
    )


def _place_in_short(reasons: Reasons) -> str:
    far = _far(reasons.structure)
    return off(far[0]) if far else "in no respect by itself, in all together"


def _listed(ties: Sequence[Tie]) -> str:
    return " and ".join(shortened(tie.node) for tie in ties)


PHRASES = {
    "features": _about_features,
    "company": lambda reasons: _company(reasons)[0],
    "place": _about_place,
}
IN_SHORT = {
    "features": _features_in_short,
    "company": lambda reasons: _company(reasons)[1],
    "place": _place_in_short,
}
