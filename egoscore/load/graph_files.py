"""GraphML and GEXF files and networkx graphs, whose attributes are treated as columns of tables."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import DatasetError, InputError
from egoscore.graph import checks as check
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.load.build import build_graph
from egoscore.load.column_names import named_in
from egoscore.load.node_names import name_columns, take_names
from egoscore.load.options import Loaded, Options
from egoscore.load.table import ArrowTable, is_text
from egoscore.load.unpack import ANY_ERROR, STREAM_ERRORS, open_stream, parsing, plain_ending
from egoscore.notes import Note
from egoscore.runtime import no_warnings
from egoscore.text import encodable

if TYPE_CHECKING:
    import networkx

_SOURCE, _TARGET, _ID, _LABEL = "source", "target", "id", "label"
_NAME = "the networkx graph"
_NUMBERS = (Real, np.bool_)
_SUPPORTED = (*_NUMBERS, str, Decimal, date, time, timedelta, np.datetime64, np.timedelta64)
_DEFINED = ("encoding", "columns", "node_columns")  # by the file, besides names of columns
_CLASSES = 2  # as many different labels may mark outliers


def read_graph_xml(path: Path, options: Options) -> Loaded:
    """The graph in a GraphML or GEXF file."""
    import networkx as nx

    options.refuse(
        (*_DEFINED, "source", "target", "id"), f"{path} itself defines its ids and its encoding"
    )
    with parsing(path, STREAM_ERRORS), open_stream(path) as stream:  # which limits its size
        content = stream.read()
    _refuse_document_type(content, path)
    is_gexf = plain_ending(path) == ".gexf"
    read = nx.read_gexf if is_gexf else nx.read_graphml
    with no_warnings(), parsing(path, ANY_ERROR):
        graph = read(io.BytesIO(content), node_type=str)
    _fill_in_defaults(graph)
    if is_gexf and _has_labels_to_show(graph, options):
        options = replace(options, name=_LABEL)
    edges, nodes = _as_tables(graph, {node: node for node in graph}, str(path))
    directed = graph.is_directed()
    if options.directed and not directed:
        edges.notes.append(Note.warning("undirected-file", file=str(path)))
    return build_graph(edges, nodes, replace(options, directed=directed, id=_ID))


def _fill_in_defaults(graph: Any) -> None:
    """Give nodes and edges the default values that their file declares."""
    for kind, records in (("node", graph.nodes.values()), ("edge", graph.edges.values())):
        default = graph.graph.get(f"{kind}_default", {})
        for record in records:
            record.update({**default, **record})


def _has_labels_to_show(graph: Any, options: Options) -> bool:
    """Whether nodes have what GEXF calls labels, their names, and no option says otherwise.

    If there are no more than two different ones, they mark known outliers instead.
    """
    others = (options.label, *options.ignore, *(options.features or ()), *options.categories)
    if options.name is not None or named_in([_LABEL], [other for other in others if other]):
        return False
    labels = {str(label) for _, label in graph.nodes(data=_LABEL) if label is not None}
    return len(labels) > _CLASSES


class _RootReachedError(Exception):
    """The prologue of the file is over."""


def _refuse_document_type(content: bytes, path: Path) -> None:
    """Refuse a document type: it can define text that grows without bound, or names of files.

    The parser itself is asked, so that no encoding can hide it.
    """

    def refuse(*_: Any) -> None:
        raise DatasetError(
            f"The file {path} begins with a document type (<!DOCTYPE or <!ENTITY), which can hide "
            "an attack; remove it, as no graph needs one."
        )

    def stop(*_: Any) -> None:
        raise _RootReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = stop
    with parsing(path, ANY_ERROR), suppress(_RootReachedError):
        parser.Parse(content, True)


def read_networkx(
    graph: networkx.Graph[Any], label: str | None, options: Options | None = None
) -> Loaded:
    """The graph in a networkx graph; `label` is the attribute that marks known outliers, if any.

    If nodes have a vector x and no features are named, the vectors are the features.
    """
    options = options or Options()
    own = (*_DEFINED, "source", "target", "id", "directed")
    options.refuse(own, f"{_NAME} itself defines its ids and whether it is directed")
    nodes = list(graph)
    if not nodes:
        raise InputError(check.NO_NODES)
    label = None if label in (options.features or ()) else label
    labels = _labels(graph, label)
    rows = {node: row for row, node in enumerate(nodes)}
    ids = np.empty(len(nodes), dtype=object)
    ids[:] = nodes
    without = () if label is None else (label,)
    has_vectors = any(len(_shape(x)) == 1 for _, x in graph.nodes(data="x"))
    if options.features is None and has_vectors:
        others = tuple(name for name in options.given if name != "name")
        options.refuse(others, f"the nodes of {_NAME} have a vector x, not columns")
        loaded = _with_vectors(graph, rows, ids, without, options)
    else:
        tables = _as_tables(graph, rows, _NAME, without)
        options = replace(options, directed=graph.is_directed(), id=_ID)
        loaded = build_graph(*tables, options, own_ids=ids)
    labels = loaded.graph.labels if labels is None and label is not None else labels
    return Loaded(replace(loaded.graph, labels=labels), loaded.notes)


def _with_vectors(
    graph: networkx.Graph[Any],
    rows: Mapping[Any, int],
    ids: NDArray[Any],
    without: tuple[str, ...],
    options: Options,
) -> Loaded:
    """The graph whose nodes have vectors called x; of the other attributes only names are used."""
    ends = np.array([(rows[edge[0]], rows[edge[1]]) for edge in graph.edges], dtype=np.int64)
    vectors, notes = _vectors(graph), list[Note]()
    found = AttributedGraph.from_edges(ends.reshape(-1, 2).T, vectors, graph.is_directed())
    _, nodes = _as_tables(graph, rows, _NAME, (*without, "x"))
    texts = [c for c in name_columns(nodes, options) if is_text(nodes.sample(c).type)]
    shown = pa.array(map(encodable, ids), pa.string())
    names = take_names(nodes.read(texts), nodes, options, shown, notes)
    return Loaded(replace(found, ids=ids, names=names), tuple(notes))


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
    """The shape of an attribute; for rows of unequal length only their number."""
    try:
        return tuple(np.shape(value))
    except ValueError:
        return (len(value),)


def _labels(graph: networkx.Graph[Any], label: str | None) -> NDArray[np.int8] | None:
    """The labels if all that are there are 0 or 1."""
    values = [_scalar(data.get(label)) for data in graph.nodes.values()]
    if all(value is None for value in values):
        return None
    values = [np.nan if value is None else value for value in values]
    try:
        array = np.array(values)
    except ValueError:
        raise InputError(
            f"The label '{label}' of {_NAME} has values of unequal length; give every node 0 or 1, "
            "or name another attribute as the label."
        ) from None
    return check.binary_or_none(array, len(values))


def _as_tables(
    graph: networkx.Graph[Any], ids: Mapping[Any, Any], name: str, without: tuple[str, ...] = ()
) -> tuple[ArrowTable, ArrowTable]:
    """Edges and nodes as tables, nodes by their `ids`; attributes `without` those named."""
    ends = [(ids[edge[0]], ids[edge[1]]) for edge in graph.edges]
    attributes = (data for _, _, data in graph.edges(data=True))
    edges = _table(f"the edge list of {name}", (_SOURCE, _TARGET), ends, attributes)
    edges.may_be_empty = True  # it is certain that there are none
    keys = [(ids[node],) for node in graph]
    return edges, _table(name, (_ID,), keys, graph.nodes.values(), without)


def _table(
    name: str,
    key_names: tuple[str, ...],
    keys: list[tuple[Any, ...]],
    records: Iterable[Mapping[Any, Any]],
    without: tuple[str, ...] = (),
) -> ArrowTable:
    """Keys and attributes as columns; an attribute named like a key is left out."""
    records = list(records)
    attributes = dict.fromkeys(key for record in records for key in record if key not in without)
    by_key = list(zip(*keys, strict=True)) or [()] * len(key_names)
    names, arrays = [*key_names], [pa.array(list(one)) for one in by_key]
    unsupported, notes = dict[str, str](), list[Note]()
    for key in attributes:
        if key in key_names:
            notes.append(Note.info("attribute-unused", table=name, column=key))
            continue
        column = str(key)
        values = [_scalar(record.get(key)) for record in records]
        array = _as_array(values)
        if array is None:
            odd = next((v for v in values if v is not None and not isinstance(v, _SUPPORTED)), None)
            if odd is None:
                notes.append(Note.info("mixed-types", table=name, column=column))
                array = pa.array([None if value is None else str(value) for value in values])
            else:
                unsupported[column], array = type(odd).__name__, pa.nulls(len(values))
        names.append(column)
        arrays.append(array)
    table = ArrowTable(name, pa.Table.from_arrays(arrays, names), unsupported)
    table.notes += notes
    return table


def _as_array(values: list[Any]) -> pa.Array | None:
    """The values of an attribute, or None if they have no common type."""
    with suppress(pa.ArrowException, OverflowError, TypeError):
        return pa.array(values, from_pandas=True)
    if all(value is None or isinstance(value, _NUMBERS) for value in values):
        return pa.array([None if value is None else _number(value) for value in values])
    return None


def _scalar(value: Any) -> Any:
    """The value in an array or tensor without dimensions; any other value as it is."""
    if isinstance(value, np.generic) or getattr(value, "ndim", None) != 0:
        return value
    return value[()] if isinstance(value, np.ndarray) else value.item()


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")  # refused with the other infinite values
