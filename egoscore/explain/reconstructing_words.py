"""What came back different about a node, in words: half a sentence, or a few."""

from __future__ import annotations

from egoscore.explain.explanation import Reasons
from egoscore.explain.features import far_off
from egoscore.numerals import numeral


def _about_features(reasons: Reasons) -> str:
    far = far_off(reasons.features)
    if not far:
        return (
            "others in its ego-graph came back with other features, its own no further off than is "
            "usual"
        )
    return (
        f"its features came back different: {far[0].name} is {far[0].observed}, came back as "
        f"{far[0].expected}"
    )


def _features_in_short(reasons: Reasons) -> str:
    far = far_off(reasons.features)
    return f"{far[0].name if far else 'others in its ego-graph'} came back different"


def _about_structure(reasons: Reasons) -> str:
    edges = reasons.structure[0]
    if not far_off([edges]):
        return (
            "edges of its ego-graph came back changed: others than before, though not unusually "
            "many or few"
        )
    return (
        f"the edges around it came back different: {edges.observed} there were, {edges.expected} "
        "came back"
    )


def _structure_in_short(reasons: Reasons) -> str:
    edges = reasons.structure[0]
    if not far_off([edges]):
        return "edges came back different"
    return f"{'fewer' if edges.size > 0 else 'more'} edges came back"


def _about_energy(reasons: Reasons) -> str:
    before, after = _energies(reasons)
    if before == after:
        return "the energy of its ego-graph came back different, though on average the same"
    return f"the energy of its ego-graph was {before} and came back as {after}"


def _energy_in_short(reasons: Reasons) -> str:
    way = "lower" if reasons.energy_after < reasons.energy_before else "higher"
    before, after = _energies(reasons)
    return f"contrast between neighbours came back {way if before != after else 'different'}"


def _energies(reasons: Reasons) -> tuple[str, str]:
    """Before and after, as they are told."""
    return numeral(reasons.energy_before, 3), numeral(reasons.energy_after, 3)


PHRASES = {"features": _about_features, "structure": _about_structure, "energy": _about_energy}
IN_SHORT = {
    "features": _features_in_short,
    "structure": _structure_in_short,
    "energy": _energy_in_short,
}
