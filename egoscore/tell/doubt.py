"""What a careful colleague would say about a ranking, without knowing any label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from egoscore.graph import AttributedGraph
from egoscore.graph.scaling import standardised
from egoscore.surprise.model import SurpriseModel, Surprises
from egoscore.tell.words import counted

_EXPLAINED = 0.5  # a rank correlation from which on a ranking says little else
_RARE = 0.001
_HIGH = 3.0  # one in twenty is as surprising
_LOOKED_AT = 20
_FEW_NODES = 200
_LEAST_SKILL = 0.02


def remarks(
    graph: AttributedGraph,
    score: NDArray[np.float64],
    table: Surprises | None = None,
    model: SurpriseModel | None = None,
) -> list[str]:
    """Sentences about a ranking; the table and model of the default preset, where there are any."""
    said = []
    if table is not None and model is not None:
        said += [_tail(table), _agreement(table), _skill(model)]
    said += [*_explained(graph, score), *_size(graph)]
    return said


def _tail(table: Surprises) -> str:
    """How many nodes are beyond what chance would give."""
    size = len(table.p_value)
    found, expected = int((table.p_value < _RARE).sum()), _RARE * size
    sentence = (
        f"{counted(found, 'node')} have scores of which chance gives one in {1 / _RARE:,.0f}; "
        f"expected: {expected:.1f}."
    )
    if found <= max(1.0, 2.0 * expected):
        return f"{sentence} The highest scores are hardly higher than chance would have them."
    return sentence


def _agreement(table: Surprises) -> str:
    """By which questions the highest nodes are surprising."""
    top = np.argsort(-table.score, kind="stable")[:_LOOKED_AT]
    high = {name: values[top] > _HIGH for name, values in table.questions.items()}
    several = int((np.sum(list(high.values()), axis=0) > 1).sum())
    parts = ", ".join(f"{name} {int(which.sum())}" for name, which in high.items())
    return (
        f"Of the {len(top)} highest, so many are among the 5% most surprising by {parts}; "
        f"{several} by more than one."
    )


def _skill(model: SurpriseModel) -> str:
    """How far neighbours tell anything about a node."""
    explained = 1.0 - float(model.centre.context.variance.mean())
    sentence = f"A node's surroundings explain {100 * explained:.0f}% of its features"
    if explained < _LEAST_SKILL and not model.next_to.strength.any():
        return (
            f"{sentence}: neighbours tell next to nothing here, so that company cannot be judged; "
            "take the ranking for one by features and place."
        )
    if model.centre.gate > 0:
        return f"{sentence} by straight lines; networks add (weight {model.centre.gate:.1f})."
    return f"{sentence}; networks add nothing to straight lines and are not used."


def _explained(graph: AttributedGraph, score: NDArray[np.float64]) -> list[str]:
    """Warnings where something trivial ranks the nodes alike."""
    norm = np.square(standardised(graph).features).sum(axis=1)
    trivial = {
        "the number of neighbours": graph.neighbours.degrees,
        "the size of the features": norm,
    }
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


def _size(graph: AttributedGraph) -> list[str]:
    if graph.num_nodes >= _FEW_NODES:
        return []
    return [f"Careful: {counted(graph.num_nodes, 'node')} are few to learn from."]
