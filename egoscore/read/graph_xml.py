"""GraphML and GEXF files, whose attributes are decided on as the columns of tables are."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pyarrow as pa

from egoscore.errors import DatasetError
from egoscore.read.opening import open_stream
from egoscore.read.table import ArrowTable

_SOURCE, _TARGET, _ID = "source", "target", "id"


def read_graph_xml(path: Path, ending: str) -> tuple[ArrowTable, ArrowTable, bool]:
    """The edges and the nodes of a file as tables, and whether it says that it is directed."""
    import networkx as nx

    with open_stream(path) as stream:  # which refuses what grows without bound
        content = stream.read()
    _refuse_definitions(content, path)
    read = nx.read_graphml if ending == ".graphml" else nx.read_gexf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = read(io.BytesIO(content), node_type=str)
    nodes = _table(((node,) for node in graph), graph.nodes.values(), (_ID,))
    ends = [edge[:2] for edge in graph.edges]
    edges = _table(ends, [data for _, _, data in graph.edges(data=True)], (_SOURCE, _TARGET))
    name = str(path)
    return ArrowTable(f"the edges of {name}", edges), ArrowTable(name, nodes), graph.is_directed()


class _RootReachedError(Exception):
    """The prologue of the file is over."""


def _refuse_definitions(content: bytes, path: Path) -> None:
    """Refuse a document type: it can define text that grows without bound, or names of files.

    The parser itself is asked, so that no encoding can hide it.
    """

    def refuse(*_: Any) -> None:
        raise DatasetError(
            f"The file {path} begins with a document type (<!DOCTYPE or <!ENTITY), which can hide "
            "a trap; remove it, as no network needs one."
        )

    def stop(*_: Any) -> None:
        raise _RootReachedError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        parser.Parse(content, True)
    except _RootReachedError:
        return


def _table(
    keys: Iterable[tuple[str, ...]], records: Iterable[Mapping[str, Any]], names: tuple[str, ...]
) -> pa.Table:
    """Keys and attributes as columns; an attribute called like a key gives way."""
    records = list(records)
    attributes = dict.fromkeys(name for record in records for name in record)
    columns = {
        name: _column([record.get(name) for record in records])
        for name in attributes
        if name not in names
    }
    by_key = list(zip(*keys, strict=True)) or [()] * len(names)
    ids = {name: pa.array(list(by_key[i]), pa.string()) for i, name in enumerate(names)}
    return pa.table({**ids, **columns})


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):  # values of several types
        return pa.array([None if value is None else str(value) for value in values])
