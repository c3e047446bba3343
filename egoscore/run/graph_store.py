"""Storing the graph in its run, which can then be moved and its nodes explained later."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.graph.feature_column import FeatureColumn
from egoscore.progress import Advance
from egoscore.run.tables import described, facts_of, read_table, table_writer, write_table

NODES_FILE, EDGES_FILE = "network/nodes.parquet", "network/edges.parquet"
_ROWS_AT_ONCE = 262_144
_COLUMN_FIELDS = {field.name for field in fields(FeatureColumn)}


def save_graph(
    graph: AttributedGraph, ids: pa.Array, run: Path, advance: Advance = lambda count: None
) -> None:
    """Write nodes with their features, and edges as node numbers; `ids` (N,) as in the ranking.

    `advance` is called with the number of rows written.
    """
    (run / NODES_FILE).parent.mkdir(exist_ok=True)
    facts = {
        "directed": graph.directed,
        "columns": [asdict(column) for column in graph.described],
        "categories": list(graph.categories),
    }
    codes = list(graph.categories.values())
    keys = {"id": ids}
    if graph.names is not None:
        keys["name"] = pa.array(graph.names.tolist(), pa.string())
    names = [*keys, *_column_names(graph.num_features, len(codes))]
    types = [key.type for key in keys.values()]
    types += [pa.float32()] * graph.num_features + [pa.int32()] * len(codes)
    schema = described(pa.schema(list(zip(names, types, strict=True))), facts)
    with table_writer(run / NODES_FILE, schema) as writer:
        for start in range(0, graph.num_nodes, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            columns = np.ascontiguousarray(graph.features[rows].T)
            arrays = map(pa.array, (*columns, *(of_column[rows] for of_column in codes)))
            parts = [key[rows] for key in keys.values()]
            writer.write_table(pa.table([*parts, *arrays], schema=schema))
            advance(columns.shape[1])
    write_table(_edges(graph), run / EDGES_FILE, advance=advance)


def _column_names(num_features: int, num_categories: int) -> list[str]:
    """The columns of the stored table of nodes, besides the ids."""
    features = [f"x{number}" for number in range(num_features)]
    return [*features, *(f"c{number}" for number in range(num_categories))]


def _edges(graph: AttributedGraph) -> pa.Table:
    """Every edge once, as node numbers."""
    near = graph.adjacency
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), near.degrees)
    once = slice(None) if graph.directed else sources < near.indices
    return pa.table({"source": sources[once], "target": near.indices[once]})


def has_graph(run: Path) -> bool:
    """Whether a folder holds the graph of a run."""
    return (run / NODES_FILE).exists() and (run / EDGES_FILE).exists()


def load_graph(run: Path) -> AttributedGraph:
    """The graph stored in a run."""
    nodes, edges = read_table(run / NODES_FILE), read_table(run / EDGES_FILE)
    facts = facts_of(nodes.schema)
    written: Any = facts.get("columns")
    categories: Any = facts.get("categories", [])
    keys = ["id", "name"] if "name" in nodes.column_names else ["id"]
    is_whole = (
        isinstance(written, list)
        and isinstance(categories, list)
        and all(isinstance(name, str) for name in categories)
        and all(isinstance(c, dict) and c.keys() == _COLUMN_FIELDS for c in written)
        and nodes.column_names == [*keys, *_column_names(len(written), len(categories))]
        and edges.column_names == ["source", "target"]
        and isinstance(facts.get("directed"), bool)
    )
    if not is_whole:
        raise RunError(f"{run / NODES_FILE} is damaged: it is not the graph of a run.")
    columns = tuple(FeatureColumn(**column) for column in written)
    features = np.empty((nodes.num_rows, len(columns)), dtype=np.float32)
    for number in range(len(columns)):
        features[:, number] = nodes[f"x{number}"].to_numpy()
    codes = {name: nodes[f"c{number}"].to_numpy() for number, name in enumerate(categories)}
    ends = np.stack([edges["source"].to_numpy(), edges["target"].to_numpy()])
    titles = [column.title for column in columns]
    graph = AttributedGraph.from_edges(ends, features, facts["directed"], None, None, titles)
    # not checked for duplicates: ids such as 1 and "1" are stored as the same text
    shown = nodes["name"].to_numpy() if "name" in keys else None
    found = replace(graph, ids=nodes["id"].to_numpy(), names=shown)
    return replace(found, columns=columns, categories=codes)
