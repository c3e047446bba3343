"""Sentences shared by the command line and the report; notes are rendered in `notes.py`."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.explain.explanation import HIGH
from egoscore.graph import AttributedGraph
from egoscore.graph.checks import UNKNOWN
from egoscore.metrics import Evaluation
from egoscore.text import are, counted, printable

_CAUSE = 100.0 - 100.0 * math.exp(-HIGH)  # percentage of the nodes that are less unusual


def summary(graph: AttributedGraph, source: str) -> str:
    """The size of a graph."""
    kind = "directed" if graph.directed else "undirected"
    return (
        f"{printable(source)}: {counted(graph.num_nodes, 'node')}, "
        f"{counted(graph.num_edges, f'{kind} edge')}, {counted(graph.num_features, 'feature')}."
    )


def flagged(ranking: pa.Table, rule: str = "") -> str:
    """How many nodes are flagged, by which rule, and how many are significant."""
    count = int(ranking["flag"].to_numpy().sum())
    verb = are(1 if ranking.num_rows == 1 else count)
    text = f"{count:,} of {counted(ranking.num_rows, 'node')} {verb} flagged"
    text += f" ({rule})" if rule else ""
    if "significant" not in ranking.column_names:
        return text
    marked = ranking["significant"].to_numpy()
    if count == 1 and np.array_equal(marked, ranking["flag"].to_numpy()):
        return f"{text}; it is significant"
    return f"{text}; {_how_many(int(marked.sum()))} significant"


def _how_many(count: int) -> str:
    """A number and its verb: none is, 1 is, 2 are."""
    return f"{count:,} {are(count)}" if count else "none is"


def accuracy(known: Evaluation, num_nodes: int) -> str:
    """The accuracy on known outliers, next to that of a random score."""
    count = known.num_outliers
    chance = 100 * count / known.num_known
    is_partly = known.num_known < num_nodes
    of = f" ({known.num_known:,} of {num_nodes:,} labels are known)" if is_partly else ""
    return (
        f"Known outliers: {count:,}{of}. ROC-AUC {100 * known.roc_auc:.1f}% (random: 50%), "
        f"average precision {100 * known.average_precision:.1f}% (random: {chance:.1f}%), "
        f"recall@{count} {100 * known.recall_at_k:.1f}% (random: {chance:.1f}%)."
    )


def no_accuracy(labels: NDArray[np.int8]) -> str:
    """Why known labels (N,) do not give an accuracy: all are of one kind."""
    known = labels[labels != UNKNOWN]
    if not len(known):
        return "No label is known, so the accuracy cannot be measured."
    verb, kind = are(len(known)), "outliers" if known[0] == 1 else "normal"
    return (
        f"{len(known):,} of {counted(len(labels), 'label')} {verb} known, all of them {kind}; "
        "measuring the accuracy needs both kinds."
    )


def marks(ranking: pa.Table, rate: float) -> str:
    """The meaning of the marks in the list of nodes."""
    text = "A node is flagged if its score is above the threshold."
    if "significant" not in ranking.column_names:
        return text
    count = int(ranking["significant"].to_numpy().sum())
    return (
        f"{text} It is significant if it stands out so far that only about {100 * rate:g}% of such "
        f"marks are wrong; here {_how_many(count)}."
    )


def causes(num_nodes: int) -> str:
    """Which percentiles in the list of nodes count as causes."""
    look = "It is shown in bold with a bar of the other colour."
    most = 100.0 - 100.0 / num_nodes
    if most > _CAUSE:
        return f"A value above {_CAUSE:.0f} counts as a cause. {look}"
    return (
        f"With {counted(num_nodes, 'node')} no value is above {math.floor(most)}; one that is "
        f"estimated to be among the {100 - _CAUSE:.0f}% most unusual counts as a cause. {look}"
    )
