"""What came back different about a node, in words: half a sentence, or a few."""

from __future__ import annotations

from egoscore.explain.explanation import Reasons
from egoscore.explain.features import FAR
from egoscore.numerals import numeral


def _about_features(reasons: Reasons) -> str:
    first = reasons.features[0]
    if abs(first.size) < FAR:
        return (
            "the features in its ego-graph came back different, its own no more than is usual "
            "among nodes of about the same size"
        )
    return (
        f"its features came back different: {first.name} is {first.observed}, came back as "
        f"{first.expected}"
    )


def _features_in_short(reasons: Reasons) -> str:
    first = reasons.features[0]
    name = first.name if abs(first.size) >= FAR else "others in its ego-graph"
    return f"{name} came back different"


def _about_structure(reasons: Reasons) -> str:
    edges = reasons.structure[0]
    if abs(edges.size) < FAR:
        return (
            "the edges around it came back different, their number no more than is usual among "
            "nodes of about the same size"
        )
    return (
        f"the edges around it came back different: {edges.observed} there were, {edges.expected} "
        "came back"
    )


def _structure_in_short(reasons: Reasons) -> str:
    edges = reasons.structure[0]
    if abs(edges.size) < FAR:
        return "edges came back different"
    return f"{'fewer' if edges.size > 0 else 'more'} edges came back"


def _about_energy(reasons: Reasons) -> str:
    before, after = numeral(reasons.energy_before, 3), numeral(reasons.energy_after, 3)
    if before == after:
        return "the energy of its ego-graph came back about the same"
    return f"the energy of its ego-graph was {before} and came back as {after}"


def _energy_in_short(reasons: Reasons) -> str:
    way = "lower" if reasons.energy_after < reasons.energy_before else "higher"
    return f"contrast between neighbours came back {way}"


PHRASES = {"features": _about_features, "structure": _about_structure, "energy": _about_energy}
IN_SHORT = {
    "features": _features_in_short,
    "structure": _structure_in_short,
    "energy": _energy_in_short,
}
