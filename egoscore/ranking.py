"""The ranking: every node with its score and the components of the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from egoscore.explain.sentences import Scores
from egoscore.graph import AttributedGraph
from egoscore.graph.checks import UNKNOWN
from egoscore.run.tables import described, facts_of
from egoscore.text import encodable

NAME, REASON = "name", "reason"
REVIEW = ("verdict", "updated_score", "updated_rank")  # after verdicts
_INPUT = " (input)"  # appended to the name of a user's column if it is one of ours


def ranking(
    graph: AttributedGraph,
    scores: Scores,
    components: Mapping[str, NDArray[Any]],
    significant: NDArray[np.int64] | None = None,
) -> pa.Table:
    """One row per node, most abnormal first.

    Columns: node (the user's id), name if nodes have names, those of `scores`, known_label and
    other columns of the user's if there are any, significant if the detector is calibrated, then
    the components. The metadata list the user's columns.
    """
    columns = scores.columns
    order = np.argsort(columns["rank"])
    keys = {"node": id_column(graph.ids[order])}
    if graph.names is not None:
        keys[NAME] = id_column(graph.names[order])
    ours = {name: c for name, c in components.items() if name not in (*keys, *columns)}
    if significant is not None:
        ours = {"significant": significant.astype(np.int8)} | ours
    taken = {"known_label", "significant", REASON, *REVIEW, *keys, *columns, *ours}
    own: dict[str, NDArray[Any]] = {}
    for name, column in graph.node_info.items():
        while name in taken or name in own:
            name += _INPUT
        own[name] = column
    labels = {} if graph.labels is None else {"known_label": graph.labels}
    named = {n: _column(c[order]) for n, c in (columns | labels | own | ours).items()}
    if labels:  # unknown ones are empty
        known = named["known_label"]
        named["known_label"] = pc.if_else(pc.equal(known, UNKNOWN), None, known)
    table = pa.table(keys | named)
    return table.cast(described(table.schema, {"own": [*labels, *own]}))


def with_columns(ranking: pa.Table, more: Mapping[str, NDArray[Any]]) -> pa.Table:
    """The ranking with further columns (N,), in its order, which come after the rank."""
    after = ranking.column_names.index("rank") + 1
    for place, (name, values) in enumerate(more.items(), after):
        ranking = ranking.add_column(place, name, pa.array(values))
    return ranking


def with_reasons(ranking: pa.Table, reasons: Sequence[str]) -> pa.Table:
    """The ranking with the reasons of its first nodes as the last column, empty for all others."""
    others = [None] * (ranking.num_rows - len(reasons))
    return ranking.append_column(REASON, pa.array([*reasons, *others], pa.string()))


def own_columns(ranking: pa.Table | pa.Schema) -> list[str]:
    """The names of the user's own columns."""
    schema = ranking if isinstance(ranking, pa.Schema) else ranking.schema
    names: list[str] = facts_of(schema).get("own", [])
    return [name for name in names if name in schema.names]


def has_names(ranking: pa.Table) -> bool:
    """Whether the column of names is that of the nodes, not just any column of the user's."""
    return NAME in ranking.column_names and NAME not in own_columns(ranking)


def _column(values: NDArray[Any]) -> pa.Array:
    """A column unchanged, or as text if its values are of several types."""
    return id_column(values) if values.dtype.kind == "O" else pa.array(values)


def id_column(ids: NDArray[Any]) -> pa.Array:
    """Ids as numbers if all are of one type, else as text."""
    names = ids.tolist()
    kinds = {type(name) for name in names}
    if kinds == {float} or (kinds == {int} and all(abs(name) < 2**63 for name in names)):
        return pa.array(names)
    return pa.array(map(encodable, names), pa.string())
