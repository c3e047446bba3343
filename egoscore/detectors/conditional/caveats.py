"""How far a ranking of the default detector can be trusted, without looking at labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from egoscore.detectors.conditional.channels import ALONE
from egoscore.detectors.conditional.model import ConditionalModel
from egoscore.detectors.conditional.scoring import ChannelTable
from egoscore.explain.explanation import HIGH
from egoscore.graph import AttributedGraph
from egoscore.notes import Note

_OUTLIER_FREE = 4.0  # times what independence gives: seen on generated graphs without outliers
_TOP = 20
_TOO_FEW_NODES = 10
_LEAST_SKILL = 0.02


def caveats(
    model: ConditionalModel, graph: AttributedGraph, table: ChannelTable, num_significant: int
) -> list[Note]:
    """Whether the list may be chance, where it comes from, and what the model could learn.

    The list is not called chance where nodes are significant, so far do they stand out.
    """
    if len(_combined(table)) < 2 or graph.num_nodes < _TOO_FEW_NODES:
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
    answers = _combined(table)
    high = np.sum([answer > HIGH for answer in answers.values()], axis=0)
    found, share = int((high > 1).sum()), np.exp(-HIGH)
    expected = len(high) * float(binom.sf(1, len(answers), share))
    fields: dict[str, Any] = {
        "found": found,
        "expected": expected,
        "nodes": len(high),
        "usual": _OUTLIER_FREE,
        "questions": list(answers),
    }
    if num_significant or found > _OUTLIER_FREE * expected:
        return Note.info("agreement-of-questions", **fields)
    return Note.warning("list-may-be-chance", **fields)


def _combined(table: ChannelTable) -> dict[str, NDArray[np.float64]]:
    """The answers that are combined: one that counts by itself need not agree with the others."""
    return {name: values for name, values in table.questions.items() if name != ALONE}


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
