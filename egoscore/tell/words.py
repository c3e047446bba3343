"""Sentences that the command line and the report share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from egoscore.explain.causes import HIGH
from egoscore.numerals import are, counted, numeral
from egoscore.printable import printable

if TYPE_CHECKING:
    import pyarrow as pa

    from egoscore.graph import AttributedGraph
    from egoscore.tell.metrics import Evaluation


def summary(graph: AttributedGraph, source: str) -> list[str]:
    """What a network is, and what was left out of it."""
    kind = "directed" if graph.directed else "undirected"
    return [
        f"{printable(source)}: {counted(graph.num_nodes, 'node')}, "
        f"{counted(graph.num_edges, f'{kind} edge')}, {counted(graph.num_features, 'feature')}.",
        *left_out(graph),
    ]


def left_out(graph: AttributedGraph) -> list[str]:
    """Which edges that were given are no edges of the network; their weights may count."""
    weights = [printable(column.name) for column in graph.columns if column.kind == "weight"]
    counts = f" as edges, counted in the weights '{weights[0]}'" if weights else ""
    both = {"self-loop": graph.dropped_self_loops, "repeated edge": graph.dropped_duplicates}
    return [f"Left out{counts}: {counted(count, what)}." for what, count in both.items() if count]


def verdict(ranking: pa.Table) -> str:
    """In two sentences what came out, and what it is good for."""
    flagged = int(ranking["flag"].to_numpy().sum())
    verb = are(1 if ranking.num_rows == 1 else flagged)
    found = f"{flagged:,} of {counted(ranking.num_rows, 'node')} {verb} flagged"
    if "significant" in ranking.column_names:
        marked = int(ranking["significant"].to_numpy().sum())
        found += f", {f'{marked:,}' if marked else 'none'} marked as significant"
    return (
        f"{found}. Unusual is not guilty: a high score is a reason to look, not a finding about "
        "anybody."
    )


def accuracy(known: Evaluation, num_nodes: int) -> str:
    """How well known outliers were found, and what a score that knows nothing would give."""
    count = known.num_outliers
    chance = 100 * count / num_nodes
    return (
        f"Known outliers: {count:,}. ROC-AUC {100 * known.roc_auc:.1f}% (a random score: 50%), "
        f"average precision {100 * known.average_precision:.1f}% (random: {chance:.1f}%), "
        f"recall@{count} {100 * known.recall_at_k:.1f}% (random: {chance:.1f}%)."
    )


_RARITY = (
    "at 2.3 about 1 in 10 of them is as unusual or more, at 4.6 about 1 in 100, at 7 about 1 in "
    "1,000; beyond 1 in 5 that is estimated, not counted."
)
MEANINGS = {
    "default": "A score says how unusual a node is among those of the {nodes} that "
    f"have about as many neighbours: {_RARITY} It sums up {{questions}}?",
    "structure": f"A score says how unusual a node is among the {{nodes}}: {_RARITY} "
    "The network came without features, so that only a node's place is judged: is it usual, for "
    "any node and for one with so many neighbours?",
    "paper": "A score sums up how differently a node's neighbourhood came back after it was "
    "noised and denoised; it ranks the {nodes}, has no unit, and is not comparable "
    "between networks.",
}
_ASKED = {
    "features": "are its features what its surroundings let one expect",
    "company": "does it fit its company",
    "place": "is its place usual",
}
_CAUSE = 100.0 - 100.0 * math.exp(-HIGH)  # percent of the nodes that are less unusual
COMPARED_WITH = {
    "default": "the nodes",
    "paper": "the nodes with ego-graphs of about the same size",
}
QUESTIONS = {
    "default": {
        "features": "are they what its surroundings let one expect?",
        "company": "does it fit its neighbours?",
        "place": "is its position in the network usual?",
    },
    "paper": {
        "features": "did those around it come back different?",
        "structure": "did the edges around it come back different?",
        "energy": "did the contrast between neighbours come back different?",
    },
}


def meaning(preset: str, num_nodes: int, questions: Sequence[str] = tuple(_ASKED)) -> str:
    """What a score of the default preset that answers these questions is, or of another preset.

    Only the place is asked about where the features are the network's structure.
    """
    kind = "structure" if preset == "default" and tuple(questions) == ("place",) else preset
    asked = ", ".join(_ASKED[question] for question in questions)
    how_many = "three questions" if len(questions) == len(_ASKED) else "two questions"
    nodes = counted(num_nodes, "node")
    return MEANINGS[kind].format(nodes=nodes, questions=f"{how_many}: {asked}")


def questions_in(ranking: pa.Table) -> tuple[str, ...]:
    """The questions that a ranking has answers to, those of the default preset."""
    return tuple(q for q in _ASKED if f"surprise_{q}" in ranking.column_names)


def significance(ranking: pa.Table, rate: float) -> str:
    """How many nodes stand out, and how far that is to be trusted."""
    count = int(ranking["significant"].to_numpy().sum())
    if not count:
        return (
            "No node is marked as significant: by estimate none is so rare that one could rely on "
            "the mark. Many outliers hide each other in this respect, and among few nodes hardly "
            "any can be; the highest are still the first to look at."
        )
    return (
        f"{counted(count, 'node')} of {ranking.num_rows:,} marked as significant (look at these "
        "first): about "
        f"{100 * rate:g}% of such marks are wrong, more in networks of a few hundred nodes or less."
    )


def marks(ranking: pa.Table, rate: float) -> str:
    """What the marks in a list of nodes say."""
    flagged = "Flagged: the score is above the threshold."
    if "significant" not in ranking.column_names:
        return flagged
    count = int(ranking["significant"].to_numpy().sum())
    here = f"{counted(count, 'node')} here" if count else "no node here"
    return (
        f"Significant ({here}): so unusual that, by estimate, only about {100 * rate:g}% of the "
        f"nodes marked so are usual ones. {flagged}"
    )


def causes(num_nodes: int) -> str:
    """Which numbers in a list of nodes are causes: none is told to be rarer than can be counted."""
    look = "it is bold, and its bar has the other colour"
    most = 100.0 - 100.0 / num_nodes
    if most > _CAUSE:
        return f"Above {_CAUSE:.0f} it counts as a cause: {look}."
    return (
        f"Among {counted(num_nodes, 'node')} no number is above {math.floor(most)}; what is "
        f"estimated to be among the {100 - _CAUSE:.0f}% most unusual counts as a cause: {look}."
    )


def threshold_rule(contamination: float | str, threshold: float) -> str:
    """Why the threshold lies where it does."""
    if contamination == "auto":
        return (
            f"Flagged are scores above {numeral(threshold)}: further above the upper quartile than "
            "three times the distance between the quartiles, which is called far out (Tukey); "
            "about 1% of the nodes are where nothing stands out, never more than a quarter."
        )
    return (
        f"Flagged are scores above {numeral(threshold)}, so that a share of {contamination:g} is: "
        "a choice, not a finding."
    )
