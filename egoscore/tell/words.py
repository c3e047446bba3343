"""Sentences that the command line and the report share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egoscore.graph import AttributedGraph


def printable(value: Any) -> str:
    """A value as one line of harmless text: control characters are spelled out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def summary(graph: AttributedGraph, source: str) -> list[str]:
    """What a network is, and what was left out of it."""
    kind = "directed" if graph.directed else "undirected"
    lines = [
        f"{printable(source)}: {graph.num_nodes:,} nodes, {graph.num_edges:,} {kind} edges, "
        f"{graph.num_features} features."
    ]
    if graph.dropped_self_loops:
        lines.append(f"Left out: {graph.dropped_self_loops:,} self-loops.")
    if graph.dropped_duplicates:
        lines.append(f"Left out: {graph.dropped_duplicates:,} repeated edges.")
    return lines


def meaning(num_nodes: int) -> str:
    """What a score is, in plain words."""
    return (
        "A score sums up how differently a node's neighbourhood came back after it was noised and "
        f"denoised; it ranks these {num_nodes:,} nodes, has no unit, and is not comparable "
        "between networks."
    )
