"""Verdicts as CSV, and the graph around a node as GraphML and GEXF."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

from egoscore.errors import InputError
from egoscore.review.verdicts import COLUMNS, cells_of
from egoscore.serve.neighbourhood import neighbourhood
from egoscore.serve.query import CODES
from egoscore.serve.room import Room
from egoscore.text import printable

if TYPE_CHECKING:
    import networkx

FORMATS = {"graphml": "application/graphml+xml", "gexf": "application/gexf+xml"}
_MOST = (999, 4000)  # neighbours, and their neighbours, in a file
# what networkx takes for something else than an attribute
_RESERVED = {"viz", "slices", "spells", "start", "end", "pid", "parents", "id", "type", "hop"}


def verdicts_csv(room: Room) -> str:
    """All verdicts, also on nodes that the graph does not have; safe to open in a spreadsheet."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(map(cells_of, room.desk.store.current()))
    return text.getvalue()


def neighbourhood_file(room: Room, row: int, hops: int, kind: str) -> bytes:
    """The graph within one or two hops, with scores, verdicts and attributes."""
    try:
        import networkx
    except ImportError as error:
        raise InputError("Exporting a graph needs networkx: pip install networkx.") from error
    found = BytesIO()
    write = {"graphml": networkx.write_graphml, "gexf": networkx.write_gexf}[kind]
    write(_graph(room, row, hops), found)
    return found.getvalue()


def _graph(room: Room, row: int, hops: int) -> networkx.Graph[int]:
    import networkx

    _ = room.desk.standing  # looks at the disk, once
    near = neighbourhood(room.graph, row, room.score, hops, _MOST)
    graph: Any = networkx.DiGraph() if room.graph.directed else networkx.Graph()
    for one, hop in zip(near.rows, near.hops, strict=True):
        graph.add_node(one, hop=hop, **_attributes(room, one))
    chosen = list(near.rows)
    links = room.graph.adjacency.to_scipy()[chosen][:, chosen].tocoo()
    pairs = zip(links.row.tolist(), links.col.tolist(), strict=True)
    graph.add_edges_from((chosen[a], chosen[b]) for a, b in pairs)
    return graph


def _attributes(room: Room, row: int) -> dict[str, Any]:
    """The attributes of a node; XML has no control characters, and writes numbers as text."""
    live = room.desk.known.columns
    found: dict[str, Any] = {
        "label": printable(room.table.shown(row)),
        "node": printable(room.table.ids[row].as_py()),
        "score": float(room.score[row]),
        "rank": int(room.rank[row]),
        "updated_rank": int(live["updated_rank"][row]),
        "verdict": CODES[live["verdict"][row]],
    }
    for group in ("attributes", "other columns"):
        for column in room.groups[group]:
            name = printable(column.label)
            is_free = name not in found and name not in _RESERVED
            found[name if is_free else f"{name} ({group})"] = printable(column.show(row))
    return found
