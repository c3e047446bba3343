"""Renders notes to text. `SENTENCES` has a function of the fields of each note."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from egoscore.detectors import label_of
from egoscore.notes import Note
from egoscore.report.loading_notes import LOADING
from egoscore.report.verdict_notes import VERDICTS
from egoscore.text import are, counted, listed, numeral, quoted

Sentence = Callable[..., str]


def render(note: Note) -> str:
    """A note in one to three sentences."""
    return SENTENCES[note.code](**note.fields)


def _dropped(thing: str, how: str) -> Sentence:
    """A sentence on edges of which the graph has none, or one each; features may count them all."""

    def sentence(count: int, weight: str | None = None) -> str:
        if weight:
            return f"{counted(count, thing)} {are(count)} counted in features such as '{weight}'."
        return f"{counted(count, thing)} {'was' if count == 1 else 'were'} {how}."

    return sentence


def _agreement(
    found: int, expected: float, nodes: int, usual: float, questions: Sequence[str]
) -> str:
    return (
        f"{found:,} of {counted(nodes, 'node')} {are(found)} among the 5% most unusual by at "
        f"least two of {listed([label_of(name) for name in questions])}; about "
        f"{numeral(expected, 1)} by chance."
    )


def _may_be_chance(
    found: int, expected: float, nodes: int, usual: float, questions: Sequence[str]
) -> str:
    return (
        f"The list may be chance. {_agreement(found, expected, nodes, usual, questions)} Graphs "
        f"without outliers have up to {usual:g} times as many."
    )


def evidence(reliability: Note) -> str:
    """What the level of reliability follows from: the first warning, or all that supports it."""
    told = [render(Note(**note)) for note in reliability.fields["because"]]
    if reliability.fields["level"] == "good":
        return " ".join(told)
    others = len(told) - 1
    more = f" {counted(others, 'more warning')} {are(others)} in the report." if others else ""
    return f"{told[0]}{more}"


def _reliability(**fields: Any) -> str:
    told = evidence(Note("reliability", fields=fields))
    return f"Reliability: {fields['level']}. {told}".strip()


def _stability(rest: str) -> Sentence:
    def sentence(kept: int, top: int, dropped: float) -> str:
        return (
            f"{kept} of the {top} highest nodes are found again with another seed and "
            f"{100 * dropped:g}% fewer edges{rest}."
        )

    return sentence


def _many_far_out(count: int, nodes: int) -> str:
    return (
        f"{count:,} of {counted(nodes, 'node')} have scores far above the others: too many to be "
        "outliers; they may be a group of their own."
    )


def _causes(top: int, counts: Mapping[str, int]) -> str:
    (first, count), *others = counts.items()
    more = "".join(f", {number} by {label_of(name)}" for name, number in others)
    return (
        f"Of the {top} highest nodes, {count} {are(count)} among the 5% most unusual by "
        f"{label_of(first)}{more}."
    )


def _explained(share: float) -> str:
    return (
        f"A node's neighbourhood explains {100 * share:.0f}% of the variance of its features "
        "(linear model)"
    )


def _networks_used(explained: float, weight: float) -> str:
    corrected = f"neural networks correct the prediction with weight {weight:.2g}"
    return f"{_explained(explained)}; {corrected}."


def _networks_unused(reason: str, explained: float = 0.0) -> str:
    if reason == "structure-only":
        return "Without features, only the position of a node is scored; no networks are used."
    return f"{_explained(explained)}; neural networks do not improve on this and are not used."


def _follows(quantity: str, correlation: float) -> str:
    name = {"degree": "the number of neighbours", "norm": "the size of the features"}[quantity]
    return (
        f"The ranking mostly follows {name} (rank correlation {correlation:+.2f}) and may say "
        "little else."
    )


def _no_edges(self_loops: int) -> str:
    loops = f" ({counted(self_loops, 'self-loop')} left out)" if self_loops else ""
    return f"The graph has no edges{loops}, so only features are scored."


def _few_nodes(nodes: int) -> str:
    return f"The graph has only {counted(nodes, 'node')} to learn from."


def _too_few_nodes(nodes: int) -> str:
    return (
        f"The graph has only {counted(nodes, 'node')}, too few to learn what is usual; the ranking "
        "says almost nothing."
    )


def _significant(count: int, nodes: int, rate: float) -> str:
    if not count:
        return (
            "No node is significant: no score is extreme enough to be reliable by itself. Many "
            "outliers mask each other, and in a small graph hardly any node can be significant. "
            "Still review the highest nodes first."
        )
    return (
        f"{count:,} of {counted(nodes, 'node')} {are(count)} significant; review these first. "
        f"About {100 * rate:g}% of the significant nodes are false positives, more in graphs of a "
        "few hundred nodes."
    )


def _far_out(threshold: float) -> str:
    return (
        f"Flagged nodes have a score above {numeral(threshold)}, more than three interquartile "
        "ranges above the upper quartile, which Tukey calls far out. Without outliers this is "
        "about 1% of the nodes; it is never more than a quarter."
    )


def _significant_too(threshold: float, fence: float) -> str:
    return (
        f"Flagged nodes have a score above {numeral(threshold)}. Tukey's rule, three interquartile "
        f"ranges above the upper quartile, gives {numeral(fence)}; the threshold is lower because "
        "significant nodes are always flagged."
    )


def _share(threshold: float, share: float) -> str:
    return f"A share of {share:g} was chosen; scores above {numeral(threshold)} are flagged."


SENTENCES: dict[str, Sentence] = {
    **LOADING,
    **VERDICTS,
    "self-loops-dropped": _dropped("self-loop", "left out"),
    "duplicates-dropped": _dropped("repeated edge", "merged"),
    "agreement-of-questions": _agreement,
    "list-may-be-chance": _may_be_chance,
    "reliability": _reliability,
    "reliability-not-measured": lambda: (
        "Neither agreement between questions nor stability is measured for this list."
    ),
    "ranking-stable": _stability(""),
    "ranking-partly-stable": _stability("; the others depend on details of the data"),
    "ranking-unstable": _stability("; the list depends on details of the data"),
    "nothing-far-out": lambda nodes: (
        f"None of the {nodes:,} scores is far above the others; no nodes clearly stand out."
    ),
    "many-far-out": _many_far_out,
    "causes-of-highest": _causes,
    "networks-used": _networks_used,
    "networks-unused": _networks_unused,
    "neighbours-tell-nothing": lambda explained: (
        "Similarity to neighbours is not scored, because neighbours say almost nothing about a "
        "node in this graph."
    ),
    "amounts": lambda columns: (
        f"Amounts are compared by ratio instead of difference: {quoted(columns)}."
    ),
    "follows-trivial": _follows,
    "all-scores-equal": lambda: "All scores are equal; nothing distinguishes the nodes.",
    "no-edges": _no_edges,
    "few-nodes": _few_nodes,
    "too-few-nodes": _too_few_nodes,
    "significant-nodes": _significant,
    "threshold-far-out": _far_out,
    "threshold-significant": _significant_too,
    "threshold-share": _share,
}
