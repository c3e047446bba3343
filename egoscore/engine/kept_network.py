"""The network a run was made from, kept in the run: it can be forwarded, and explained later."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from egoscore.bars import Advance
from egoscore.engine.files import EDGES_FILE, NODES_FILE, replacing
from egoscore.engine.run import write_table
from egoscore.errors import RunError
from egoscore.graph import AttributedGraph
from egoscore.graph.columns import FeatureColumn
from egoscore.numerals import counted

_ROWS_AT_ONCE = 262_144


def save_network(
    graph: AttributedGraph, ids: pa.Array, run: Path, advance: Advance = lambda count: None
) -> None:
    """Write nodes with their features, and edges by number; `ids` (N,) as in the ranking.

    `advance` hears how many rows are written.
    """
    (run / NODES_FILE).parent.mkdir(exist_ok=True)
    about = {
        "directed": graph.directed,
        "columns": [asdict(column) for column in graph.described],
    }
    names = ["id", *(f"x{column}" for column in range(graph.num_features))]
    types = [ids.type] + [pa.float32()] * graph.num_features
    schema = pa.schema(list(zip(names, types, strict=True)), {"egoscore": json.dumps(about)})
    with replacing(run / NODES_FILE) as draft, pq.ParquetWriter(draft, schema) as writer:
        for start in range(0, graph.num_nodes, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            columns = np.ascontiguousarray(graph.features[rows].T)
            writer.write_table(pa.table([ids[rows], *map(pa.array, columns)], schema=schema))
            advance(columns.shape[1])
    write_table(_edges(graph), run / EDGES_FILE, advance)


def _edges(graph: AttributedGraph) -> pa.Table:
    """Every edge once, as numbers of nodes."""
    near = graph.adjacency
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), near.degrees)
    once = slice(None) if graph.directed else sources < near.indices
    return pa.table({"source": sources[once], "target": near.indices[once]})


def load_network(run: Path) -> AttributedGraph | None:
    """The network kept in a run; None where there is none."""
    if not (run / NODES_FILE).exists() or not (run / EDGES_FILE).exists():
        return None
    try:
        nodes, edges = pq.read_table(run / NODES_FILE), pq.read_table(run / EDGES_FILE)
        about = json.loads(nodes.schema.metadata[b"egoscore"])
        columns = tuple(FeatureColumn(**column) for column in about["columns"])
        features = np.empty((nodes.num_rows, len(columns)), dtype=np.float32)
        for number in range(len(columns)):
            features[:, number] = nodes[f"x{number}"].to_numpy()
        ends = np.stack([edges["source"].to_numpy(), edges["target"].to_numpy()])
        names = [column.title for column in columns]
        graph = AttributedGraph.from_edges(ends, features, about["directed"], None, None, names)
        # not checked again: as text the ids 1 and "1" are the same
        return replace(graph, ids=nodes["id"].to_numpy(), columns=columns)
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        folder = (run / NODES_FILE).parent
        raise RunError(f"The network kept in {folder} is damaged; run `detect` again.") from error


def require_size(run: Path, num_nodes: int, num_features: int) -> None:
    """Refuse a network kept in a run that is not the one judged there; only its size is read."""
    found = pq.read_metadata(run / NODES_FILE)
    if (found.num_rows, found.num_columns - 1) != (num_nodes, num_features):
        raise RunError(
            f"{run / NODES_FILE} must have {counted(num_nodes, 'node')} and "
            f"{counted(num_features, 'feature')} "
            f"(found {found.num_rows:,} and {found.num_columns - 1:,}); run `detect` again."
        )
