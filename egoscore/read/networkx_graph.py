"""Networks of networkx, whose attributes are decided on as the columns of tables are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph import check
from egoscore.graph.network import AttributedGraph
from egoscore.read.assemble import assemble
from egoscore.read.choices import Choices, Reading
from egoscore.read.table import ArrowTable

if TYPE_CHECKING:
    import networkx

_SOURCE, _TARGET, _ID = "source", "target", "id"
_NAME = "the networkx graph"
_SETTLED = ("--source", "--target", "--id", "--directed", "--encoding")


def read_networkx(
    graph: networkx.Graph[Any], label: str | None, choices: Choices | None = None
) -> Reading:
    """The network of a networkx graph; `label` is the attribute of known outliers, if it is one.

    Nodes that have a vector called x and whose features are not named otherwise have that.
    """
    choices = choices or Choices()
    choices.refuse(_SETTLED, f"{_NAME} itself says what its ids are and whether it is directed")
    nodes = list(graph)
    if not nodes:
        raise InputError(check.NO_NODES)
    label = None if label in (choices.features or ()) else label
    known = _labels([graph.nodes[node].get(label) for node in nodes])
    rows = {node: row for row, node in enumerate(nodes)}
    if choices.features is None and np.ndim(graph.nodes[nodes[0]].get("x", 0)) == 1:
        choices.refuse(choices.made, f"the nodes of {_NAME} have a vector x, not columns")
        found, notes = _with_vectors(graph, rows), tuple[str, ...]()
    else:
        tables = graph_tables(graph, rows, _NAME, () if label is None else (label,))
        reading = assemble(*tables, replace(choices, directed=graph.is_directed(), id=_ID))
        found, notes = reading.graph, reading.notes
    ids = np.empty(len(nodes), dtype=object)
    ids[:] = nodes
    labels = found.labels if known is None and label is not None else known
    return Reading(replace(found, ids=ids, labels=labels), notes)


def _with_vectors(graph: networkx.Graph[Any], rows: Mapping[Any, int]) -> AttributedGraph:
    """The network whose nodes have vectors called x."""
    values = check.vectors([graph.nodes[node] for node in rows], list(rows))
    ends = np.array([(rows[edge[0]], rows[edge[1]]) for edge in graph.edges], dtype=np.int64)
    return AttributedGraph.from_edges(ends.reshape(-1, 2).T, values, graph.is_directed())


def _labels(values: list[Any]) -> NDArray[np.int8] | None:
    """The labels if there is one for every node and all are 0 or 1."""
    if any(value is None for value in values):
        return None
    return check.binary_or_none(np.array(values), len(values))


def graph_tables(
    graph: networkx.Graph[Any], ids: Mapping[Any, Any], name: str, without: tuple[str, ...] = ()
) -> tuple[ArrowTable, ArrowTable]:
    """Edges and nodes as tables, nodes by their `ids`; attributes `without` those named."""
    ends = [(ids[edge[0]], ids[edge[1]]) for edge in graph.edges]
    attributes = (data for _, _, data in graph.edges(data=True))
    edges = _table(f"the edge list of {name}", (_SOURCE, _TARGET), ends, attributes)
    keys = [(ids[node],) for node in graph]
    return edges, _table(name, (_ID,), keys, graph.nodes.values(), without)


def _table(
    name: str,
    key_names: tuple[str, ...],
    keys: list[tuple[Any, ...]],
    records: Iterable[Mapping[Any, Any]],
    without: tuple[str, ...] = (),
) -> ArrowTable:
    """Keys and attributes as columns; an attribute called like a key gives way."""
    records = list(records)
    attributes = dict.fromkeys(key for record in records for key in record if key not in without)
    columns = {key: _column([r.get(key) for r in records]) for key in attributes}
    mixed = [str(key) for key, (_, is_mixed) in columns.items() if is_mixed]
    by_key = list(zip(*keys, strict=True)) or [()] * len(key_names)
    arrays = [pa.array(list(one)) for one in by_key]
    kept = [(str(key), array) for key, (array, _) in columns.items() if key not in key_names]
    names = [*key_names, *(key for key, _ in kept)]
    table = ArrowTable(name, pa.Table.from_arrays([*arrays, *(a for _, a in kept)], names))
    table.notes += [f"{name}: '{key}' mixes types and is read as text." for key in mixed]
    table.notes += [
        f"{name}: the attribute '{key}' is not used." for key in attributes if key in key_names
    ]
    return table


def _column(values: list[Any]) -> tuple[pa.Array, bool]:
    """The values of an attribute; if they mix types as text, since there is no type for them."""
    try:
        return pa.array(values), False
    except (pa.ArrowException, OverflowError, TypeError):
        pass
    known = [value for value in values if value is not None]
    if all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in known):
        return pa.array([None if value is None else float(value) for value in values]), False
    return pa.array([None if value is None else str(value) for value in values]), True
