"""The reasons of the default detector in words: each as a clause, and in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from egoscore.detectors.conditional.channels import channels_of
from egoscore.explain.deviations import far_off
from egoscore.explain.explainer import shortened
from egoscore.explain.explanation import Component, Deviation, Reasons, Tie
from egoscore.explain.sentences import clause, multiple, off

_HIGH_PERCENTILE = 95.0


def _once(deviations: Sequence[Deviation]) -> list[Deviation]:
    """Without repetitions: two features show that a value is missing."""
    found: dict[tuple[str, str], Deviation] = {}
    for one in deviations:
        found.setdefault((one.name, one.observed), one)
    return list(found.values())


def _far(deviations: Sequence[Deviation]) -> list[Deviation]:
    """Those large enough to be mentioned, each once."""
    return far_off(_once(deviations))


def _about_features(reasons: Reasons) -> str:
    far = _far(reasons.features)
    if not far:
        return (
            "its features are an unusual combination, although none is unusual by itself; the "
            f"largest deviation: {clause(reasons.features[0])}"
        )
    facts = " and ".join(clause(deviation) for deviation in far[:2])
    return f"{facts}, given its neighbours and its other features"


def _features_in_short(reasons: Reasons) -> str:
    far = _far(reasons.features)
    return off(far[0]) if far else "unusual combination"


def least_similar_channel(components: Sequence[Component]) -> str:
    """The channel with the most unusual difference between a node and its neighbours."""
    measured = {part.name: part.percentile for part in components}
    return max(channels_of("company"), key=lambda name: measured[name])


def _company(reasons: Reasons) -> tuple[str, str]:
    """How a node differs from its neighbours, as a clause and in a few words."""
    if reasons.ego_size == 1:
        return "it has no neighbours, although similar nodes have some", "no neighbours"
    facts = " and ".join(
        f"{one.name} is {one.observed}, typically {one.expected} for them" for one in reasons.unlike
    )
    where = f" ({facts})" if facts else ""
    mostly = f" in {reasons.unlike[0].name}" if reasons.unlike else ""
    if least_similar_channel(reasons.components) == "mismatch_two_steps":
        return (
            f"it differs from the neighbours of its neighbours{where}",
            f"differs from its neighbours' neighbours{mostly}",
        )
    measured = {part.name: part.percentile for part in reasons.components}
    clause, short = "it differs from its neighbours", f"differs from its neighbours{mostly}"
    if measured["dirichlet_energy"] >= _HIGH_PERCENTILE:
        more = multiple(reasons.energy_before, reasons.energy_after)
        if more:
            clause += f" {more} times as much as expected"
            short = f"differs {more} times as much from its neighbours as expected"
            short += f", mostly{mostly}" if mostly else ""
    strangers = reasons.surprising[:2]
    clause += where
    return clause + (f", most of all from {_listed(strangers)}" if strangers else ""), short


def _about_place(reasons: Reasons) -> str:
    first = reasons.structure[0]
    if _far(reasons.structure):
        return f"its position in the graph is unusual: {clause(first)}"
    return (
        "its position in the graph is unusual as a whole, although no single quantity is; the "
        f"largest deviation: {clause(first)}"
    )


def _place_in_short(reasons: Reasons) -> str:
    far = _far(reasons.structure)
    return off(far[0]) if far else "unusual as a whole"


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
