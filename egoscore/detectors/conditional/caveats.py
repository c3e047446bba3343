"""How far a ranking of the default detector can be trusted, without looking at labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from egoscore.detectors.conditional.channels import channels_of
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.scoring import ChannelTable
from egoscore.explain.explanation import HIGH
from egoscore.graph import AttributedGraph
from egoscore.notes import Note

_OUTLIER_FREE = 4.0  # times what independence gives: seen on generated graphs without outliers
_TOP = 20
_TOO_FEW_NODES = 10
_LEAST_SKILL = 0.02
_SINGLE_CHANNELS = ("linear_residual", "structure")
_MOST_OVERLOOKED = 5  # by each measurement
_ROWS_AT_ONCE = 1 << 14


def caveats(
    model: ConditionalModel, graph: AttributedGraph, table: ChannelTable, num_significant: int
) -> list[Note]:
    """Whether the list may be chance, where it comes from, and what the model could learn.

    The list is not called chance where nodes are significant, so far do they stand out.
    """
    if len(table.questions) < 2 or graph.num_nodes < _TOO_FEW_NODES:
        unused = [Note.info("networks-unused", reason="structure-only")]
        return unused if graph.is_structural else []
    amounts = [graph.described[number].title for number in model.scaling.amounts]
    return [
        _excess(table, num_significant),
        _agreement(table),
        *_skill(model),
        *([Note.info("amounts", columns=amounts)] if amounts else []),
    ]


def _excess(table: ChannelTable, num_significant: int) -> Note:
    """Whether more nodes are surprising in several respects than by chance.

    The p-values would not show it: outliers are part of the tail that these are fitted to.
    """
    high = np.sum([answer > HIGH for answer in table.questions.values()], axis=0)
    found, share = int((high > 1).sum()), np.exp(-HIGH)
    expected = len(high) * float(binom.sf(1, len(table.questions), share))
    fields = {"found": found, "expected": expected, "nodes": len(high), "usual": _OUTLIER_FREE}
    if num_significant or found > _OUTLIER_FREE * expected:
        return Note.info("agreement-of-questions", **fields)
    return Note.warning("list-may-be-chance", **fields)


def _agreement(table: ChannelTable) -> Note:
    """By which questions the highest nodes are surprising."""
    top = np.argsort(-table.score, kind="stable")[:_TOP]
    counts = {name: int((values[top] > HIGH).sum()) for name, values in table.questions.items()}
    return Note.info("causes-of-highest", top=len(top), counts=counts)


def _skill(model: ConditionalModel) -> list[Note]:
    """How much neighbours predict about a node, and whether the neural networks add to that."""
    explained = float(model.explained)
    if explained < _LEAST_SKILL and not model.next_to.strength.any():
        return [Note.warning("neighbours-tell-nothing", explained=explained)]
    gate = float(model.centre.gate)
    if gate > _LEAST_SKILL:
        return [Note.info("networks-used", explained=explained, weight=gate)]
    return [Note.info("networks-unused", reason="no-gain", explained=explained)]


def overlooked(
    model: ConditionalModel, graph: AttributedGraph, table: ChannelTable, listed: Sequence[int]
) -> list[int]:
    """Nodes with an extreme single measurement that are not `listed`.

    The score combines several questions, among nodes with a similar number of neighbours. A node
    with one absurd value that is otherwise ordinary may rank behind many that are a little unusual
    in every respect.
    """
    asked = [name for question in table.questions for name in channels_of(question)]
    measured = [table.channels[name] for name in _SINGLE_CHANNELS if name in asked]
    if "features" in table.questions:
        measured.append(_largest_deviation(model, graph))
    found: list[int] = []
    for values in measured:
        order = np.argsort(-values, kind="stable")[: _MOST_OVERLOOKED + len(listed)].tolist()
        found += [row for row in order if row not in (*listed, *found)][:_MOST_OVERLOOKED]
    return found


def _largest_deviation(model: ConditionalModel, graph: AttributedGraph) -> NDArray[np.float32]:
    """The largest deviation among the numbers of every node, (N,).

    Among thousands of columns, one absurd number is next to nothing in all other measurements.
    """
    numbers = np.flatnonzero([not column.is_yes_or_no for column in graph.described])
    found = np.zeros(graph.num_nodes, dtype=np.float32)
    for start in range(0, graph.num_nodes if len(numbers) else 0, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        scaled = model.scaling.scale(graph.features[rows])
        found[rows] = np.abs(scaled[:, numbers]).max(axis=1)
    return found
