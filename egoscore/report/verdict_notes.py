"""What was learned from verdicts, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from egoscore.text import counted, numeral, quoted

_COUNT = "number of "


def quantity_phrase(quantity: str, kind: str, part: str, is_high: bool) -> str:
    """One input in a few words: "many neighbours", "low account age", "neighbours with ..."."""
    if part == "extreme":
        return f"{'unusual' if is_high else 'ordinary'} {quantity}"
    own = _own(quantity, kind, is_high)
    return own if part == "value" else f"neighbours with {own}"


def _own(quantity: str, kind: str, is_high: bool) -> str:
    if kind == "yes/no":
        return quantity if is_high else f"not {quantity}"
    if quantity.startswith(_COUNT):
        return f"{'many' if is_high else 'few'} {quantity.removeprefix(_COUNT)}"
    return f"{'high' if is_high else 'low'} {quantity}"


def contribution_phrase(quantity: str, kind: str, part: str, is_high: bool, size: float) -> str:
    """What an input adds to the score of a node: "many neighbours (+1.2)"."""
    sign = "+" if size >= 0 else "-"
    return f"{quantity_phrase(quantity, kind, part, is_high)} ({sign}{numeral(abs(size), 2)})"


def _point_to(towards: Sequence[Mapping[str, Any]]) -> str:
    phrases = [
        quantity_phrase(one["quantity"], one["kind"], one["part"], one["is_high"])
        for one in towards
    ]
    if not phrases:
        return "The verdicts point nowhere yet."
    return f"The verdicts point to: {', '.join(phrases)}."


def _counted(abnormal: int, normal: int, unsure: int) -> str:
    total = counted(abnormal + normal + unsure, "verdict")
    return f"{total}: {abnormal:,} abnormal, {normal:,} normal, {unsure:,} unsure."


def _one_kind(abnormal: int, normal: int, unsure: int) -> str:
    if not abnormal + normal:
        return "No node is known to be abnormal or normal, so the ranking is unchanged."
    kind, other = ("abnormal", "normal") if abnormal else ("normal", "abnormal")
    return (
        f"All verdicts are {kind}, which says little about what separates the two; also review "
        f"nodes that may be {other}."
    )


def _contradict(count: int, pairs: Sequence[Sequence[str]]) -> str:
    named = "; ".join(f"{quoted([one])} and {quoted([other])}" for one, other in pairs)
    which = "pair" if count == 1 else "pairs"
    return (
        f"{count:,} {which} of very similar nodes have opposite verdicts: {named}. Check them, or "
        "expect that the data do not tell these nodes apart."
    )


def _unexpected(count: int, nodes: Sequence[Sequence[str]]) -> str:
    named = ", ".join(f"{quoted([node])} ({kind})" for node, kind in nodes)
    verb = "does" if count == 1 else "do"
    return f"{counted(count, 'verdict')} {verb} not fit the others: {named}."


VERDICTS: dict[str, Callable[..., str]] = {
    "verdicts-counted": _counted,
    "verdicts-point-to": _point_to,
    "verdicts-one-kind": _one_kind,
    "verdicts-few": lambda count: (
        f"{counted(count, 'verdict')} {'is' if count == 1 else 'are'} few; the ranking changes "
        "little, and what was learned may be chance."
    ),
    "verdicts-contradict": _contradict,
    "verdicts-unexpected": _unexpected,
    "verdicts-skipped": lambda count: (
        f"{counted(count, 'verdict')} on nodes that the graph does not have "
        f"{'was' if count == 1 else 'were'} skipped."
    ),
}
