"""Sentences that the command line and the report share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from egoscore.graph import AttributedGraph
    from egoscore.tell.metrics import Evaluation


def printable(value: Any) -> str:
    """A value as one line of harmless text: control characters are spelled out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def counted(count: int, thing: str) -> str:
    """A number of things: 1 trial, 2 trials."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def summary(graph: AttributedGraph, source: str) -> list[str]:
    """What a network is, and what was left out of it."""
    kind = "directed" if graph.directed else "undirected"
    lines = [
        f"{printable(source)}: {graph.num_nodes:,} nodes, {graph.num_edges:,} {kind} edges, "
        f"{graph.num_features} features."
    ]
    if graph.dropped_self_loops:
        lines.append(f"Left out: {counted(graph.dropped_self_loops, 'self-loop')}.")
    if graph.dropped_duplicates:
        lines.append(f"Left out: {counted(graph.dropped_duplicates, 'repeated edge')}.")
    return lines


def accuracy(known: Evaluation, num_nodes: int) -> str:
    """How well known outliers were found, and what a score that knows nothing would give."""
    count = known.num_outliers
    chance = 100 * count / num_nodes
    return (
        f"Known outliers: {count}. ROC-AUC {100 * known.roc_auc:.1f}% (a random score: 50%), "
        f"average precision {100 * known.average_precision:.1f}% (random: {chance:.1f}%), "
        f"recall@{count} {100 * known.recall_at_k:.1f}% (random: {chance:.1f}%)."
    )


MEANINGS = {
    "default": "A score tells how rare a node as surprising is among those of these "
    "{num_nodes:,} nodes that have about as many neighbours: 2.3 is one in ten, 7 one in a "
    "thousand. It sums up its features given its surroundings, its company (does it fit its "
    "neighbours?) and its place.",
    "structure": "A score tells how rare a node as surprising is among these {num_nodes:,} nodes: "
    "2.3 is one in ten, 7 one in a thousand. Features are the structure of the network here: it "
    "sums up a node's structure given its neighbours', and its place.",
    "paper": "A score sums up how differently a node's neighbourhood came back after it was "
    "noised and denoised; it ranks these {num_nodes:,} nodes, has no unit, and is not comparable "
    "between networks.",
}


def meaning(preset: str, num_nodes: int, structural: bool = False) -> str:
    """What a score is, in plain words; `structural` where features are the network's structure."""
    kind = "structure" if structural and preset == "default" else preset
    return MEANINGS[kind].format(num_nodes=num_nodes)


def significance(ranking: pa.Table, rate: float) -> str:
    """How many nodes stand out, and how far that is to be trusted."""
    count = int(ranking["significant"].to_numpy().sum())
    if not count:
        return (
            "No node is marked as significant: none is far beyond all others. Many outliers hide "
            "each other in this respect; the highest are still the first to look at."
        )
    return (
        f"{counted(count, 'node')} of {ranking.num_rows:,} marked as significant (look at these "
        "first): about "
        f"{100 * rate:g}% of such marks are wrong, more in networks of a few hundred nodes or less."
    )


def threshold_rule(contamination: float | str, threshold: float) -> str:
    """Why the threshold lies where it does."""
    if contamination == "auto":
        return (
            f"Flagged are scores above {threshold:.4g}: further above the upper quartile than "
            "three times the distance between the quartiles, which is called far out (Tukey); "
            "about 1% of the nodes are where nothing stands out, never more than a quarter."
        )
    return (
        f"Flagged are scores above {threshold:.4g}, so that a share of {contamination:g} is: a "
        "choice, not a finding."
    )
