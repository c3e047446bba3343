"""What a careful colleague would say about a ranking, without knowing any label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, spearmanr

from egoscore.explain.causes import HIGH
from egoscore.graph import AttributedGraph
from egoscore.graph.scaling import standardised
from egoscore.numerals import are, counted
from egoscore.read.table import quoted
from egoscore.surprise.model import SurpriseModel, Surprises

_EXPLAINED = 0.5  # a rank correlation from which on a ranking says little else
_REACHED_WITHOUT = 4.0  # times what independence gives: seen on generated networks, docs/default.md
_LOOKED_AT = 20
_FEW_NODES, _TOO_FEW_NODES = 200, 10
_LEAST_SKILL = 0.02


def remarks(
    graph: AttributedGraph,
    score: NDArray[np.float64],
    table: Surprises | None = None,
    model: SurpriseModel | None = None,
    num_significant: int = 0,
) -> list[str]:
    """Sentences about a ranking; the table and model of the default preset, where there are any.

    A list is not said to be chance where nodes are significant, so far do they stand out.
    """
    said = []
    is_enough = graph.num_nodes >= _TOO_FEW_NODES
    if table is not None and model is not None and len(table.questions) > 1 and is_enough:
        said += [_excess(table, num_significant), _agreement(table), _skill(model)]
        said += _amounts(graph, model)
    said += [*_explained(graph, score), *_equal(score), *_edges(graph), *_size(graph)]
    return said


def _excess(table: Surprises, num_significant: int) -> str:
    """Whether more nodes are surprising in several respects than chance has it.

    The p-values would not show it: outliers are part of the tail that these are fitted to.
    """
    high = np.sum([answer > HIGH for answer in table.questions.values()], axis=0)
    found, share = int((high > 1).sum()), np.exp(-HIGH)
    expected = len(high) * float(binom.sf(1, len(table.questions), share))
    sentence = (
        f"{counted(found, 'node')} of {len(high):,} {are(found)} among the 5% most surprising by "
        "more than one question"
    )
    if num_significant or found > _REACHED_WITHOUT * expected:
        return f"{sentence}; independent questions would give {expected:,.1f}."
    return (
        f"Careful: the list may be chance. {sentence}; independent questions would give "
        f"{expected:,.1f}, networks without any outlier up to {_REACHED_WITHOUT:g} times that."
    )


def _agreement(table: Surprises) -> str:
    """By which questions the highest nodes are surprising."""
    top = np.argsort(-table.score, kind="stable")[:_LOOKED_AT]
    counts = {name: int((values[top] > HIGH).sum()) for name, values in table.questions.items()}
    (first, count), *others = counts.items()
    more = "".join(f", {count} by {name}" for name, count in others)
    return (
        f"Of the {len(top)} highest, {count} {are(count)} among the 5% most surprising by {first}"
        f"{more}."
    )


def uses_networks(model: SurpriseModel) -> bool:
    """Whether what the networks add counts for more than next to nothing."""
    return model.centre.gate > _LEAST_SKILL


def _skill(model: SurpriseModel) -> str:
    """How far neighbours tell anything about a node."""
    explained = model.explained
    sentence = f"A node's surroundings explain {100 * explained:.0f}% of its features"
    if explained < _LEAST_SKILL and not model.next_to.strength.any():
        return (
            "Careful: company cannot be judged, as neighbours tell next to nothing about a node "
            "here; take the ranking for one by features and place."
        )
    if uses_networks(model):
        return (
            f"{sentence} by straight lines; what neural networks add to that counts with weight "
            f"{model.centre.gate:.2g}."
        )
    return f"{sentence} by straight lines; neural networks add nothing to that and are not used."


def _amounts(graph: AttributedGraph, model: SurpriseModel) -> list[str]:
    """Which features are judged by their logarithms."""
    names = [graph.described[number].title for number in model.scaling.amounts]
    if not names:
        return []
    return [f"Judged by how many times more or less, as amounts are: {quoted(names)}."]


def _explained(graph: AttributedGraph, score: NDArray[np.float64]) -> list[str]:
    """Warnings where something trivial ranks the nodes alike."""
    norm = np.square(standardised(graph).features).sum(axis=1)
    trivial = {"the number of neighbours": graph.neighbours.degrees}
    if not graph.is_structural:
        trivial["the size of the features"] = norm
    said = []
    for name, values in trivial.items():
        if np.ptp(values) == 0 or np.ptp(score) == 0:
            continue
        found = float(spearmanr(score, values).statistic)
        if abs(found) >= _EXPLAINED:
            said.append(
                f"Careful: the ranking mostly follows {name} (rank correlation {found:+.2f}) and "
                "may mean little else."
            )
    return said


def _equal(score: NDArray[np.float64]) -> list[str]:
    if len(score) == 1 or np.ptp(score) > 0:
        return []
    return ["Careful: all scores are equal: nothing tells the nodes apart, their order is chance."]


def _edges(graph: AttributedGraph) -> list[str]:
    if graph.num_edges:
        return []
    loops = graph.dropped_self_loops
    left_out = f" ({counted(loops, 'edge')} from a node to itself left out)" if loops else ""
    return [f"Careful: no two nodes are joined{left_out}: only their features are judged."]


def _size(graph: AttributedGraph) -> list[str]:
    count = graph.num_nodes
    if count >= _FEW_NODES:
        return []
    nodes = f"Careful: {counted(count, 'node')} {are(count)}"
    if count < _TOO_FEW_NODES:
        return [f"{nodes} too few to learn what is usual: the ranking means next to nothing."]
    return [f"{nodes} few to learn from."]
