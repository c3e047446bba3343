"""Renders notes to text. `SENTENCES` has a function of the fields of each note."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from egoscore.detectors import label_of
from egoscore.notes import Note
from egoscore.report.loading_notes import LOADING
from egoscore.report.verdict_notes import VERDICTS
from egoscore.text import are, counted, numeral, quoted

Sentence = Callable[..., str]


def render(note: Note) -> str:
    """A note in one to three sentences."""
    return SENTENCES[note.code](**note.fields)


def _dropped(thing: str) -> Sentence:
    def sentence(count: int, weight: str | None = None) -> str:
        counts = f", but features such as '{weight}' count them" if weight else ""
        return f"{counted(count, thing)} {'was' if count == 1 else 'were'} left out{counts}."

    return sentence


def _agreement(found: int, expected: float, nodes: int, usual: float) -> str:
    return (
        f"{found:,} of {counted(nodes, 'node')} {are(found)} among the 5% most unusual by at "
        f"least two of features, similarity and position; about {numeral(expected, 1)} by chance."
    )


def _may_be_chance(found: int, expected: float, nodes: int, usual: float) -> str:
    return (
        f"The list may be chance. {_agreement(found, expected, nodes, usual)} Graphs without "
        f"outliers have up to {usual:g} times as many."
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
            "No node is significant: none stands out so far that this mark would be reliable. Many "
            "outliers hide each other, and in a small graph hardly any node can be significant. "
            "Still review the highest nodes first."
        )
    return (
        f"{count:,} of {counted(nodes, 'node')} {are(count)} significant; review these first. "
        f"About {100 * rate:g}% of such marks are wrong, more in graphs of a few hundred nodes."
    )


def _far_out(threshold: float) -> str:
    return (
        f"Flagged nodes have a score above {numeral(threshold)}, more than three interquartile "
        "ranges above the upper quartile, which Tukey calls far out. Without outliers this is "
        "about 1% of the nodes; it is never more than a quarter."
    )


def _share(threshold: float, share: float) -> str:
    return f"A share of {share:g} was chosen; scores above {numeral(threshold)} are flagged."


SENTENCES: dict[str, Sentence] = {
    **LOADING,
    **VERDICTS,
    "self-loops-dropped": _dropped("self-loop"),
    "duplicates-dropped": _dropped("repeated edge"),
    "agreement-of-questions": _agreement,
    "list-may-be-chance": _may_be_chance,
    "causes-of-highest": _causes,
    "networks-used": _networks_used,
    "networks-unused": _networks_unused,
    "neighbours-tell-nothing": lambda explained: (
        "Similarity to neighbours is not scored, because neighbours say almost nothing about a "
        "node of this graph."
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
    "threshold-share": _share,
}
