"""Renders notes to text: the only module that turns the code of a note into a sentence.

Each entry of `SENTENCES` is a function of a note's fields. Adding a note means adding an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from egoscore.explain.explanation import Deviation
from egoscore.explain.sentences import off
from egoscore.notes import Note
from egoscore.report.loading_notes import LOADING
from egoscore.text import are, counted, numeral, quoted

Sentence = Callable[..., str]


def render(note: Note) -> str:
    """A note as one sentence, or two."""
    return SENTENCES[note.code](**note.fields)


def _dropped(thing: str) -> Sentence:
    def sentence(count: int, weight: str | None = None) -> str:
        counts = f" as edges, but counted in the weights '{weight}'" if weight else ""
        return f"Left out{counts}: {counted(count, thing)}."

    return sentence


def _agreement(found: int, expected: float, nodes: int, usual: float) -> str:
    return (
        f"{counted(found, 'node')} of {nodes:,} {are(found)} among the 5% most unusual by more "
        f"than one of the questions; about {expected:,.1f} would be by chance."
    )


def _may_be_chance(found: int, expected: float, nodes: int, usual: float) -> str:
    return (
        f"The list may be chance: {counted(found, 'node')} of {nodes:,} {are(found)} among the 5% "
        f"most unusual by more than one of the questions; about {expected:,.1f} would be by "
        f"chance, and up to {usual:g} times as many in graphs without outliers."
    )


def _causes(top: int, counts: Mapping[str, int]) -> str:
    (first, count), *others = counts.items()
    more = "".join(f", {number} by {name}" for name, number in others)
    return (
        f"Of the {top} highest nodes, {count} {are(count)} among the 5% most unusual by {first}"
        f"{more}."
    )


def _networks_used(explained: float, weight: float) -> str:
    return (
        f"The neighbourhood of a node explains {100 * explained:.0f}% of its features linearly; "
        f"the correction by neural networks has weight {weight:.2g}."
    )


def _networks_unused(reason: str, explained: float = 0.0) -> str:
    if reason == "structure-only":
        return "Without features, only the position of a node is scored; no networks are used."
    return (
        f"The neighbourhood of a node explains {100 * explained:.0f}% of its features linearly; "
        "neural networks do not improve on that and are not used."
    )


def _follows(quantity: str, correlation: float) -> str:
    name = {"degree": "the number of neighbours", "norm": "the size of the features"}[quantity]
    return (
        f"The ranking mostly follows {name} (rank correlation {correlation:+.2f}) and may mean "
        "little else."
    )


def _no_edges(self_loops: int) -> str:
    loops = f" ({counted(self_loops, 'self-loop')} left out)" if self_loops else ""
    return f"The graph has no edges{loops}: only features are scored."


def _few_nodes(nodes: int) -> str:
    return f"{counted(nodes, 'node')} {are(nodes)} few to learn from."


def _too_few_nodes(nodes: int) -> str:
    return (
        f"{counted(nodes, 'node')} {are(nodes)} too few to learn what is usual: the ranking means "
        "next to nothing."
    )


def _significant(count: int, nodes: int, rate: float) -> str:
    if not count:
        return (
            "No node is significant: by estimate, none is so rare that the mark could be relied "
            "on. Many outliers hide each other, and in a small graph hardly any can be "
            "significant; the highest nodes are still the first to review."
        )
    return (
        f"{counted(count, 'node')} of {nodes:,} {are(count)} significant (review these first): "
        f"about {100 * rate:g}% of such marks are wrong, and more in graphs of a few hundred nodes."
    )


def _far_out(threshold: float) -> str:
    return (
        f"Scores above {numeral(threshold)} are flagged: more than three interquartile ranges "
        "above the upper quartile, which Tukey calls far out. Without outliers this is about 1% of "
        "the nodes, and never more than a quarter."
    )


def _share(threshold: float, share: float) -> str:
    return (
        f"Scores above {numeral(threshold)} are flagged, which is a share of {share:g}: a choice, "
        "not a finding."
    )


def _overlooked(listed: int, nodes: list[dict[str, Any]]) -> str:
    parts = (
        f"{one['node']} (number {one['rank']:,}): {off(Deviation(**one['deviation']))}"
        for one in nodes
    )
    return f"Not among the first {listed}, but with one extreme value: {'; '.join(parts)}."


SENTENCES: dict[str, Sentence] = {
    **LOADING,
    "self-loops-dropped": _dropped("self-loop"),
    "duplicates-dropped": _dropped("repeated edge"),
    "agreement-of-questions": _agreement,
    "list-may-be-chance": _may_be_chance,
    "causes-of-highest": _causes,
    "networks-used": _networks_used,
    "networks-unused": _networks_unused,
    "neighbours-tell-nothing": lambda explained: (
        "Similarity to neighbours is not scored: neighbours tell next to nothing about a node here."
    ),
    "amounts": lambda columns: (
        f"Compared by ratio instead of difference, as amounts are: {quoted(columns)}."
    ),
    "follows-trivial": _follows,
    "all-scores-equal": lambda: "All scores are equal: nothing distinguishes the nodes.",
    "no-edges": _no_edges,
    "few-nodes": _few_nodes,
    "too-few-nodes": _too_few_nodes,
    "significant-nodes": _significant,
    "threshold-far-out": _far_out,
    "threshold-share": _share,
    "overlooked": _overlooked,
}
