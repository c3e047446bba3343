"""Two tables, or arrays, become a graph: the order of all decisions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from egoscore.errors import InputError
from egoscore.graph.attributed_graph import AttributedGraph
from egoscore.graph.feature_column import with_unique_titles
from egoscore.graph.structure import describe_structure, fill_structure
from egoscore.load.column_names import find, named_in
from egoscore.load.column_roles import find_endpoints
from egoscore.load.dialect import Hints
from egoscore.load.edge_columns import (
    EdgeColumn,
    read_edge_column,
    read_weights,
    usable_names,
)
from egoscore.load.edge_features import count_rows, edge_features, num_repeated, with_counts
from egoscore.load.frequencies import with_agreement
from egoscore.load.ids import IdColumn, as_numpy, read_ids
from egoscore.load.join import Joined, join_ends, join_tables
from egoscore.load.node_features import NO_FEATURES, Features, read_features
from egoscore.load.node_names import take_names
from egoscore.load.node_table import read_nodes, take_labels
from egoscore.load.open_table import CopiedPipe, copy_pipes, open_table
from egoscore.load.options import Loaded, Options
from egoscore.load.table import INDEX, Table
from egoscore.load.unpack import naming
from egoscore.notes import Note
from egoscore.progress import Bars, no_bars
from egoscore.runtime import release_memory, system_memory_pool
from egoscore.text import encodable, option

_NO_IDS = np.empty(0, dtype=np.int64)  # until the graph is built


def read_tables(
    edges: Any, nodes: Any = None, options: Options | None = None, bars: Bars = no_bars
) -> Loaded:
    """The graph in a table of edges and, if there is one, a table of nodes.

    Both may be paths (CSV, Parquet, Feather), also of pipes, pandas or polars data frames, or
    Arrow tables. Without a node table, or without a usable column in it, the features are computed
    from the structure of the graph. `bars` show the progress.
    """
    options = options or Options()
    with system_memory_pool(), copy_pipes(edges, nodes, bars=bars) as (edges, nodes):
        loaded = build_graph(*_open_tables(edges, nodes, options, bars), options, bars)
    if not any(isinstance(source, CopiedPipe) for source in (edges, nodes)):
        return loaded
    return replace(loaded, notes=(*loaded.notes, Note.info("tables-from-pipes")))


def _open_tables(
    edges: Any, nodes: Any, options: Options, bars: Bars
) -> tuple[Table, Table | None]:
    expected = [name for name in (options.source, options.target, options.weight) if name]
    hints = Hints(expected, options.encoding, options.columns, are_edges=True)
    edge_table = open_table(edges, "the edge table", hints)
    node_table = None
    if nodes is not None:
        names = (options.id, options.label, options.name, *(options.features or ()))
        expected = [name for name in names if name]
        hints = Hints(expected, options.encoding, options.node_columns)
        node_table = open_table(nodes, "the node table", hints)
    tables = [table for table in (edge_table, node_table) if table is not None]
    for table in tables:
        table.bars = bars
    for table, name in zip(tables, ("columns", "node_columns"), strict=False):
        if not table.separator:
            options.refuse((name,), f"{table.name} has names of columns")
    if not any(table.separator for table in tables):
        options.refuse(("encoding",), "no table is a text file")
    return edge_table, node_table


def build_graph(
    edges: Table,
    nodes: Table | None,
    options: Options,
    bars: Bars = no_bars,
    own_ids: NDArray[Any] | None = None,
) -> Loaded:
    """The graph in two open tables; `own_ids` (N,) are the user's if the table's only count."""
    if nodes is None:
        reason = "there is no table of nodes"
        of_nodes = ("id", "features", "categories", "label", "name", "node_columns")
        options.refuse(of_nodes, reason)
    _refuse_unknown_ignored(edges, nodes, options)
    notes: list[Note] = []
    end_names = find_endpoints(edges, nodes, options, notes)
    ends, columns = _read_ends(edges, end_names, options, notes)
    features, labels, names = NO_FEATURES, None, None
    if nodes is None:
        joined = join_ends(ends, notes, bars)
    else:
        loaded, ids = read_nodes(nodes, end_names, ends, options, notes)
        every = [*ends, ids]
        del ends, ids
        joined = join_tables(every, options.impute is not None, notes, bars)
        release_memory()
        own = joined.ids if own_ids is None else pa.array(list(map(encodable, own_ids)))
        names = take_names(loaded, nodes, options, own, notes)
        labels = take_labels(loaded, nodes, options, joined.extra, notes)
        features = read_features(loaded, nodes, options, joined.extra, notes)
    release_memory()  # from the tables, for the graph
    categories = features.categories
    if columns:
        features = _with_edge_features(features, columns, joined, options)
        used = [column.name for column in columns]
        notes.append(Note.info("edge-features", columns=used, directed=options.directed))
    graph = _graph(joined, features, labels, options, notes, bars)
    graph = with_agreement(graph, categories)
    release_memory()
    graph = replace(graph, ids=as_numpy(joined.ids) if own_ids is None else own_ids, names=names)
    before = [*edges.notes, *(nodes.notes if nodes is not None else ())]
    return Loaded(graph, (*before, *notes))


def _refuse_unknown_ignored(edges: Table, nodes: Table | None, options: Options) -> None:
    for name in options.ignore:
        if nodes is None or name not in nodes.columns:
            try:
                find("ignore", name, edges)
            except InputError:
                if nodes is None:
                    raise
                find("ignore", name, nodes)


def _read_ends(
    edges: Table, ends: tuple[str, str], options: Options, notes: list[Note]
) -> tuple[list[IdColumn], list[EdgeColumn]]:
    """The ids at both ends of the edges, and the columns that say something about them."""
    weight = None if options.weight is None else find("weight", options.weight, edges)
    if weight in ends:
        raise InputError(
            f"{option('weight')} names the column '{weight}', which holds ids; name another."
        )
    others = usable_names(edges, ends, options) if weight is None else [weight]
    loaded = edges.read([*ends, *others], encoded=ends)
    ids = [read_ids(loaded.pop(end), end, edges.name, notes) for end in ends]
    release_memory()
    if not len(ids[0].codes) and not edges.may_be_empty:
        raise InputError(f"{edges.name} has no rows; a graph needs edges.")
    imputes, columns = options.impute is not None, list[EdgeColumn]()
    read = read_edge_column if weight is None else read_weights
    for name in others:
        column = read(loaded.pop(name), name, edges, imputes, notes)
        columns += [] if column is None else [column]
    _note_unused(edges, [*ends, *(column.name for column in columns)], options, notes)
    return ids, columns


def _note_unused(edges: Table, used: list[str], options: Options, notes: list[Note]) -> None:
    ignored = named_in(edges.columns, options.ignore)
    left = [c for c in edges.columns if c not in (*used, *ignored, INDEX)]
    if left:
        notes.append(Note.info("columns-unused", table=edges.name, columns=left))


def _with_edge_features(
    features: Features, columns: list[EdgeColumn], joined: Joined, options: Options
) -> Features:
    """The features of the nodes with those made of the columns of their edges."""
    if joined.kept is not None:
        columns = [replace(one, values=one.values[joined.kept]) for one in columns]
    size = len(joined.ids)
    more = edge_features(columns, joined.ends, size, options.directed)
    values = features.values if features.columns else np.zeros((size, 0), dtype=np.float32)
    every = with_unique_titles((*features.columns, *more.columns))
    return Features(np.hstack([values, more.values]), every)


def _graph(
    joined: Joined,
    features: Features,
    labels: NDArray[np.int8] | None,
    options: Options,
    notes: list[Note],
    bars: Bars,
) -> AttributedGraph:
    """The graph without ids; without features, its structure provides them."""
    ends, values = joined.ends, features.values
    if not features.columns:
        if not len(ends[0]):
            raise InputError(
                "The graph has neither edges nor features; it needs at least one of them."
            )
        values = np.zeros((len(joined.ids), 1), dtype=np.float32)
    counts = count_rows(ends, len(values), options.directed)
    with bars("Building the graph", 3 * len(ends[0]), "edges") as advance:
        graph = AttributedGraph.from_ends(
            ends, options.directed, values, advance, ids=_NO_IDS, labels=labels
        )
    titles = tuple(column.title for column in features.columns)
    graph = replace(graph, columns=features.columns, feature_names=titles)
    is_free = options.features is None or options.weight is not None
    counted = with_counts(graph, counts) if is_free else None
    if counted is not None:
        notes.append(
            Note.info("edges-counted", columns=list(counts), count=num_repeated(graph, counts))
        )
        return counted
    return graph if features.columns else with_structure(graph, notes, bars)


def with_structure(
    graph: AttributedGraph, notes: list[Note], bars: Bars = no_bars
) -> AttributedGraph:
    """The graph with structural features in place of its own."""
    notes.append(Note.info("structural-features"))
    columns = describe_structure()
    titles = tuple(column.title for column in columns)
    release_memory()
    values = np.empty((graph.num_nodes, len(columns)), dtype=np.float32)
    fill_structure(graph, values, bars)
    return replace(graph, features=values, columns=columns, feature_names=titles)


def graph_from_arrays(
    path: Path,
    edges: NDArray[Any],
    features: NDArray[Any] | None,
    size: int,
    labels: NDArray[np.int8] | None,
    options: Options,
    notes: list[Note],
) -> Loaded:
    """The graph in a file of matrices; without features, its structure provides them."""
    values = np.zeros((size, 1), dtype=np.float32) if features is None else features
    with naming(path):
        graph = AttributedGraph.from_edges(edges, values, options.directed, labels=labels)
    if features is None:
        graph = with_structure(graph, notes)
    return Loaded(graph, tuple(notes))
