"""The reasons of the default detector in words: each as a clause, and in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from egoscore.detectors.conditional.channels import channels_of
from egoscore.explain.deviations import far_off
from egoscore.explain.explainer import shortened
from egoscore.explain.explanation import Component, Deviation, Extreme, Reasons, Tie
from egoscore.explain.sentences import by_column, clause, multiple, off
from egoscore.text import counted

_HIGH_PERCENTILE = 95.0
_MOST_EXTREMES = 2  # that are named
_SHARES = ("yes/no", "category")  # of the neighbours, where a node has yes or no


def _far(deviations: Sequence[Deviation]) -> list[Deviation]:
    """Those large enough to be mentioned, one per column."""
    return far_off(by_column(deviations))


def _source(reasons: Reasons) -> str:
    """What the expected features follow from."""
    return "its neighbours" if reasons.ego_size > 1 else "its other features"


def _about_features(reasons: Reasons) -> str:
    """The largest deviations, but for columns whose value is extreme: these come first anyway."""
    far, source = _far(reasons.features), _source(reasons)
    extreme = {one.name for one in reasons.extremes[:_MOST_EXTREMES]}
    rest = [one for one in far if not {one.name, one.name.partition(" = ")[0]} & extreme]
    if far and not rest:
        return ""
    if not rest:
        return (
            "its features are an unusual combination, although no single one is unusual; most of "
            f"all, its {clause(reasons.features[0], source)}"
        )
    return " and ".join(f"its {clause(deviation, source)}" for deviation in rest[:2])


def _features_in_short(reasons: Reasons) -> str:
    far = _far(reasons.features)
    return off(far[0], _source(reasons)) if far else "unusual combination"


def least_similar_channel(components: Sequence[Component]) -> str:
    """The channel with the most unusual difference between a node and its neighbours."""
    measured = {part.name: part.percentile for part in components}
    return max(channels_of("similarity"), key=lambda name: measured[name])


def _similarity(reasons: Reasons) -> tuple[str, str]:
    """How a node differs from its neighbours, as a clause and in a few words."""
    if reasons.ego_size == 1:
        return "it has no neighbours, although similar nodes have some", "no neighbours"
    facts = "; ".join(map(_contrast, reasons.unlike))
    where = f" ({facts})" if facts else ""
    mostly = f" in {reasons.unlike[0].name.partition(' = ')[0]}" if reasons.unlike else ""
    if least_similar_channel(reasons.components) == "mismatch_two_steps":
        return (
            f"it differs from the neighbours of its neighbours{where}",
            f"differs from its neighbours' neighbours{mostly}",
        )
    measured = {part.name: part.percentile for part in reasons.components}
    clause, short = "it differs from its neighbours", f"differs from its neighbours{mostly}"
    if measured["dirichlet_energy"] >= _HIGH_PERCENTILE:
        more = multiple(reasons.energy_actual, reasons.energy_expected)
        if more and not _is_beside_zero(reasons.unlike):
            clause += f" {more} times as much as expected"
            short = f"differs {more} times as much from its neighbours as expected"
            short += f", mostly{mostly}" if mostly else ""
    strangers = reasons.surprising[:2]
    clause += where
    return clause + (f", most of all from {_listed(strangers)}" if strangers else ""), short


def _is_beside_zero(unlike: Sequence[Deviation]) -> bool:
    """Whether the neighbours have zero where a node differs most: that is no measure of more."""
    return bool(unlike) and unlike[0].expected_value == 0.0 and unlike[0].kind not in _SHARES


def _contrast(one: Deviation) -> str:
    """The value of a node next to those of its neighbours."""
    if one.kind not in _SHARES or one.expected_value is None:
        return f"{one.name} is {one.observed}, typically {one.expected} among them"
    is_yes = one.observed == "yes"
    share = one.expected_value if is_yes else 1.0 - one.expected_value
    column, is_category, value = one.name.partition(" = ")
    fact = f"{'' if is_yes else 'not '}{value}" if is_category else one.observed
    return f"{column} is {fact}, as for {100.0 * share:.0f}% of them"


def _about_position(reasons: Reasons) -> str:
    first = reasons.structure[0]
    if _far(reasons.structure):
        return f"its position in the graph is unusual: {clause(first)}"
    return (
        "its position in the graph is unusual as a whole, although no single quantity is; most of "
        f"all, {clause(first)}"
    )


def _position_in_short(reasons: Reasons) -> str:
    far = _far(reasons.structure)
    return off(far[0]) if far else "unusual as a whole"


def _about_extremes(reasons: Reasons) -> str:
    return "; ".join(_fact(one) for one in reasons.extremes[:_MOST_EXTREMES])


def _fact(one: Extreme) -> str:
    """A quantity that stands out by itself, next to those of the other nodes."""
    nodes = counted(one.num_nodes, "node")
    if one.kind in ("above", "below"):
        own = f"its {one.name} is {one.observed}"
        if one.count == 1:
            return f"{own}; the next {_SIDE[one.kind]} of {nodes} is {one.other}"
        return f"{own}; only {one.count:,} of {nodes} have {_AS_FAR[one.kind]}"
    if one.kind in ("more", "less"):
        return (
            f"its {one.name} is {one.observed}; its neighbours and its other columns suggest "
            f"{one.other}"
        )
    if one.kind == "category":
        return f"its {one.name} is {one.observed}; {_others_have(one)}"
    if one.kind in _LINKED:
        return _many_links(one, nodes)
    if one.kind == "strangers":
        some = one.observed.replace(" of ", " of its ")
        return (
            f"{some} neighbours are linked to none of its other neighbours (expected: {one.other})"
        )
    if one.kind == "bridge":
        return f"it alone joins {one.observed} nodes to the rest of the graph"
    return (
        f"it is one of {one.observed} nodes that are nearly all linked to each other and hardly "
        "share other neighbours"
    )


def _many_links(one: Extreme, nodes: str) -> str:
    own, next_highest = _LINKED[one.kind]
    if one.count == 1:
        compared = next_highest.format(nodes=nodes, count=one.other)
    else:
        compared = f"only {one.count:,} of {nodes} have as many"
    return f"{own.format(count=one.observed)}; {compared}"


def _others_have(one: Extreme) -> str:
    """What most neighbours have instead, or what suggests another category."""
    if 2 * one.agree > one.voters:
        return f"{one.agree:,} of its {one.voters:,} neighbours have {one.other}"
    if one.voters:
        return f"its neighbours and its other columns suggest {one.other}"
    return f"its other columns suggest {one.other}"


def _extreme_in_short(reasons: Reasons) -> str:
    one = reasons.extremes[0]
    if one.kind in ("above", "below"):
        beside = f"next {_SIDE[one.kind]}: {one.other}" if one.count == 1 else f"{one.count:,} such"
        return f"{one.name} is {one.observed} ({beside})"
    if one.kind in ("more", "less"):
        return f"{one.name} is {one.observed} (expected: {one.other})"
    if one.kind == "category":
        return f"{one.name} is {one.observed}; {_others_have(one)}"
    if one.kind in _LINKED:
        own, _ = _LINKED[one.kind]
        return own.format(count=one.observed).removeprefix("it ").removeprefix("has ")
    if one.kind == "strangers":
        return f"{one.observed} neighbours linked to none of the others"
    if one.kind == "bridge":
        return f"alone joins {one.observed} nodes to the rest"
    return f"in a closed clique of {one.observed} nodes"


_LINKED = {  # by the kind of an extreme: what a node has, and the next one
    "degree": ("it has {count} neighbours", "the next highest of {nodes} has {count}"),
    "sent": ("it links to {count} nodes", "the next highest of {nodes} links to {count}"),
    "received": ("{count} nodes link to it", "the next highest of {nodes} is linked to by {count}"),
}
_SIDE = {"above": "highest", "below": "lowest"}
_AS_FAR = {"above": "as much or more", "below": "as little or less"}


def _listed(ties: Sequence[Tie]) -> str:
    return " and ".join(shortened(tie.shown) for tie in ties)


PHRASES = {
    "features": _about_features,
    "similarity": lambda reasons: _similarity(reasons)[0],
    "position": _about_position,
    "extremes": _about_extremes,
}
IN_SHORT = {
    "features": _features_in_short,
    "similarity": lambda reasons: _similarity(reasons)[1],
    "position": _position_in_short,
    "extremes": _extreme_in_short,
}
