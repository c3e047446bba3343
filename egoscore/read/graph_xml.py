"""GraphML and GEXF files, whose attributes are decided on as the columns of tables are."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any
from xml.parsers import expat

from egoscore.errors import DatasetError
from egoscore.read.networkx_graph import graph_tables
from egoscore.read.opening import open_stream
from egoscore.read.table import ArrowTable

_KINDS_OF_NODES = 2


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
    _fill_in(graph)
    has_names = ending == ".gexf" and _drop_names([values for _, values in graph.nodes(data=True)])
    edges, nodes = graph_tables(graph, {node: node for node in graph}, str(path))
    if has_names:
        nodes.notes.append(f"{path}: 'label' is what nodes are shown as, so it is left out.")
    return edges, nodes, graph.is_directed()


def _fill_in(graph: Any) -> None:
    """Give nodes and edges what their file says they have where it says nothing else."""
    for kind, records in (("node", graph.nodes.values()), ("edge", graph.edges.values())):
        default = graph.graph.get(f"{kind}_default", {})
        for record in records:
            record.update({**default, **record})


def _drop_names(nodes: list[dict[str, Any]]) -> bool:
    """Leave out what GEXF shows nodes as, which it calls their labels; whether there are any.

    Where there are no more than two, they tell nodes apart as known outliers and others.
    """
    names = {str(attributes["label"]) for attributes in nodes if "label" in attributes}
    if len(names) <= _KINDS_OF_NODES:
        return False
    for attributes in nodes:
        attributes.pop("label", None)
    return True


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
