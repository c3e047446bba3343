"""Networks of networkx, whose attributes are decided on as the columns of tables are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
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
_NUMBERS = (Real, np.bool_)
_WRITTEN = (*_NUMBERS, str, Decimal, date, time, timedelta, np.datetime64, np.timedelta64)
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
    known = _labels(graph, label)
    rows = {node: row for row, node in enumerate(nodes)}
    has_vectors = any(len(_shape(x)) == 1 for _, x in graph.nodes(data="x"))
    if choices.features is None and has_vectors:
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
    ends = np.array([(rows[edge[0]], rows[edge[1]]) for edge in graph.edges], dtype=np.int64)
    return AttributedGraph.from_edges(ends.reshape(-1, 2).T, _vectors(graph), graph.is_directed())


def _vectors(graph: networkx.Graph[Any]) -> NDArray[Any]:
    """The attribute x of every node as a table (N, F)."""
    shapes = {node: _shape(x) for node, x in graph.nodes(data="x")}
    wanted = next(shape for shape in shapes.values() if len(shape) == 1)
    for node, shape in shapes.items():
        if shape != wanted:
            has_one = graph.nodes[node].get("x") is not None
            found = f"an attribute 'x' of shape {shape}" if has_one else "no attribute 'x'"
            raise InputError(
                f"Node {node!r} has {found}, others have one of shape {wanted}; every node needs "
                "one, and all must be equally long."
            )
    vectors = (x for _, x in graph.nodes(data="x"))
    # as objects: text among numbers would turn them all into text
    rows = [x.tolist() if hasattr(x, "tolist") else list(x) for x in vectors]
    return np.array(rows, dtype=object)


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of an attribute; of rows of unequal length how many they are."""
    try:
        return tuple(np.shape(value))
    except ValueError:
        return (len(value),)


def _labels(graph: networkx.Graph[Any], label: str | None) -> NDArray[np.int8] | None:
    """The labels if there is one for every node and all are 0 or 1."""
    values = [_scalar(data.get(label)) for data in graph.nodes.values()]
    if any(value is None for value in values):
        return None
    try:
        array = np.array(values)
    except ValueError:
        raise InputError(
            f"The label '{label}' of {_NAME} has values of unequal length; give every node 0 or 1, "
            "or name another attribute as the label."
        ) from None
    return check.binary_or_none(array, len(values))


def graph_tables(
    graph: networkx.Graph[Any], ids: Mapping[Any, Any], name: str, without: tuple[str, ...] = ()
) -> tuple[ArrowTable, ArrowTable]:
    """Edges and nodes as tables, nodes by their `ids`; attributes `without` those named."""
    ends = [(ids[edge[0]], ids[edge[1]]) for edge in graph.edges]
    attributes = (data for _, _, data in graph.edges(data=True))
    edges = _table(f"the edge list of {name}", (_SOURCE, _TARGET), ends, attributes)
    edges.may_be_empty = True  # it says itself that it has none
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
    by_key = list(zip(*keys, strict=True)) or [()] * len(key_names)
    arrays = [pa.array(list(one)) for one in by_key]
    kept = [(str(key), column) for key, column in columns.items() if key not in key_names]
    arrays += [column.values for _, column in kept]
    names = [*key_names, *(key for key, _ in kept)]
    odd = {key: column.odd for key, column in kept if column.odd}
    table = ArrowTable(name, pa.Table.from_arrays(arrays, names), odd)
    mixed = [key for key, column in kept if column.is_mixed]
    table.notes += [f"{name}: '{key}' mixes types and is read as text." for key in mixed]
    table.notes += [
        f"{name}: the attribute '{key}' is not used." for key in attributes if key in key_names
    ]
    return table


@dataclass(frozen=True)
class _Column:
    """An attribute as a column; `odd` is the type of a value that cannot stand in one."""

    values: pa.Array
    is_mixed: bool = False
    odd: str = ""


def _column(values: list[Any]) -> _Column:
    """The values of an attribute; if they mix types as text, since there is no type for them."""
    values = [_scalar(value) for value in values]
    with suppress(pa.ArrowException, OverflowError, TypeError):
        return _Column(pa.array(values, from_pandas=True))
    known = [value for value in values if value is not None]
    if all(isinstance(value, _NUMBERS) for value in known):
        return _Column(pa.array([None if value is None else _number(value) for value in values]))
    odd = next((value for value in known if not isinstance(value, _WRITTEN)), None)
    if odd is not None:
        return _Column(pa.nulls(len(values)), odd=type(odd).__name__)
    text = [None if value is None else str(value) for value in values]
    return _Column(pa.array(text), is_mixed=True)


def _scalar(value: Any) -> Any:
    """A value out of an array or tensor without dimensions; any other as it is."""
    if isinstance(value, np.generic) or getattr(value, "ndim", None) != 0:
        return value
    return value[()] if isinstance(value, np.ndarray) else value.item()


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")  # told with the other values that are
