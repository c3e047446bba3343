"""Two tables become a network: the order in which things are decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from egoscore.bars import Bars, no_bars
from egoscore.errors import InputError
from egoscore.graph.network import AttributedGraph
from egoscore.graph.structure import describe_structure, fill_structure
from egoscore.memory import frugal_arrow, give_back_memory
from egoscore.read.choices import Choices, Reading
from egoscore.read.ends import find_ends
from egoscore.read.features import Features, read_features, with_unique_titles
from egoscore.read.ids import IdColumn, as_names, read_ends
from egoscore.read.matching import Matched, match_ends, match_table
from egoscore.read.names import bare, find, says_code
from egoscore.read.node_table import read_nodes, take_labels
from egoscore.read.pipes import Copy, as_files
from egoscore.read.table import INDEX, Table, quoted
from egoscore.read.tables import open_table
from egoscore.read.weights import read_weights, weigh

# the column's name, its numbers, and what stood before and after each of them
Weights = tuple[str, NDArray[np.float64], tuple[str, str]]
_NO_IDS = np.empty(0, dtype=np.int64)  # until the network is built


def read_tables(
    edges: Any, nodes: Any = None, choices: Choices | None = None, bars: Bars = no_bars
) -> Reading:
    """The network in a table of edges and, if there is one, a table of nodes.

    Both may be paths (CSV, Parquet, Feather), also of pipes, frames of pandas or polars, or Arrow
    tables. Without a node table, or without a usable column in it, the structure of the network
    gives the features. `bars` show how far it has come.
    """
    choices = choices or Choices()
    with frugal_arrow(), as_files(edges, nodes, bars=bars) as (edges, nodes):
        reading = assemble(*_opened(edges, nodes, choices, bars), choices, bars)
    if not any(isinstance(source, Copy) for source in (edges, nodes)):
        return reading
    note = "Tables came through pipes: the command alone does not tell what was in them."
    return replace(reading, notes=(*reading.notes, note))


def _opened(edges: Any, nodes: Any, choices: Choices, bars: Bars) -> tuple[Table, Table | None]:
    given = [name for name in (choices.source, choices.target, choices.weight) if name]
    edge_table = open_table(edges, "the edge table", given, choices.encoding)
    node_table = None
    if nodes is not None:
        wanted = [name for name in (choices.id, choices.label, *(choices.features or ())) if name]
        node_table = open_table(nodes, "the node table", wanted, choices.encoding)
    tables = [table for table in (edge_table, node_table) if table is not None]
    for table in tables:
        table.bars = bars
    if not any(table.separator for table in tables):
        choices.refuse(("--encoding",), "no table is a text file")
    return edge_table, node_table


def assemble(edges: Table, nodes: Table | None, choices: Choices, bars: Bars = no_bars) -> Reading:
    """The network in two open tables."""
    if nodes is None:
        reason = "there is no table of nodes"
        choices.refuse(("--id", "--features", "--categories", "--label"), reason)
    _refuse_unknown_ignored(edges, nodes, choices)
    notes: list[str] = []
    names = find_ends(edges, nodes, choices, notes)
    ends, weights = _read_ends(edges, names, choices, notes)
    if nodes is None:
        matched = match_ends(ends, notes, bars)
        features, labels = Features(np.empty((0, 0), dtype=np.float32), ()), None
    else:
        loaded, ids = read_nodes(nodes, names, ends, choices, notes)
        tables = (edges.name, nodes.name)
        # nodes without a row have no label, and labels cannot be filled in
        fills = choices.impute is not None and choices.label is None
        columns = [*ends, ids]
        del ends, ids
        matched = match_table(columns, tables, fills, notes, bars)
        give_back_memory()
        labels = take_labels(loaded, nodes, choices, matched.extra, notes)
        features = read_features(loaded, nodes, choices, matched.extra, notes)
    give_back_memory()  # what the tables needed, the network needs now
    graph = _build(matched, features, labels, weights, choices, notes, bars)
    give_back_memory()
    graph = replace(graph, ids=as_names(matched.ids))
    before = [*edges.notes, *(nodes.notes if nodes is not None else ())]
    return Reading(graph, (*before, *notes))


def _refuse_unknown_ignored(edges: Table, nodes: Table | None, choices: Choices) -> None:
    for name in choices.ignore:
        if nodes is None or name not in nodes.columns:
            try:
                find("ignore", name, edges)
            except InputError:
                if nodes is None:
                    raise
                find("ignore", name, nodes)


def _read_ends(
    edges: Table, ends: tuple[str, str], choices: Choices, notes: list[str]
) -> tuple[list[IdColumn], Weights | None]:
    """The ids at both ends of the edges, and the weights if they are asked for."""
    weight = None if choices.weight is None else find("weight", choices.weight, edges)
    if weight in ends:
        raise InputError(f"--weight names the column '{weight}', which holds ids; give another.")
    wanted = [*ends, *([weight] if weight else [])]
    loaded = edges.read(wanted, coded=ends)
    ids = read_ends({end: loaded.pop(end) for end in ends}, edges.name, notes)
    give_back_memory()
    if not len(ids[0].codes) and not edges.may_be_empty:
        raise InputError(f"{edges.name} has no rows; a network needs edges.")
    weights = None
    if weight is not None:
        imputes = choices.impute is not None
        weights = weight, *read_weights(loaded.pop(weight), weight, edges, imputes, notes)
    ignored = [c for c in edges.columns if any(bare(c) == bare(name) for name in choices.ignore)]
    left = [c for c in edges.columns if c not in (*wanted, *ignored, INDEX)]
    named = [c for c in left if c not in edges.nameless and not says_code(c)]
    amounts = [c for c in named if edges.looks_numeric(c)]
    others = [c for c in left if c not in amounts]
    if others:
        notes.append(f"{edges.name}: {_unused(others)}.")
    if amounts:
        advice = f"--weight '{amounts[0]}' turns it" if len(amounts) == 1 else "--weight turns one"
        notes.append(f"{edges.name}: {_unused(amounts)}; {advice} into features.")
    return ids, weights


def _unused(columns: list[str]) -> str:
    several = len(columns) > 1
    return f"column{'s' * several} {quoted(columns)} {'are' if several else 'is'} not used"


def _build(
    matched: Matched,
    features: Features,
    labels: NDArray[np.int8] | None,
    weights: Weights | None,
    choices: Choices,
    notes: list[str],
    bars: Bars,
) -> AttributedGraph:
    """The network; where neither nodes nor edges have features, its structure gives them."""
    size, columns = len(matched.ids), features.columns
    values = features.values if columns else np.zeros((size, 0), dtype=np.float32)
    if weights is not None:
        name, amounts, around = weights
        amounts = amounts if matched.kept is None else amounts[matched.kept]
        table, described = weigh(matched.ends, amounts, size, name, around)
        columns, values = columns + described, np.hstack([values, table])
        notes.append(
            f"The weights '{name}' become three features of the nodes: total, mean and largest."
        )
    if not columns:
        return _plain(matched, labels, choices, notes, bars)
    columns = with_unique_titles(columns)
    titles = tuple(column.title for column in columns)
    graph = _joined(matched, values, labels, choices, bars)
    return replace(graph, columns=columns, feature_names=titles)


def _joined(
    matched: Matched,
    values: NDArray[np.float32],
    labels: NDArray[np.int8] | None,
    choices: Choices,
    bars: Bars,
) -> AttributedGraph:
    """The network without ids."""
    with bars("Building the network", 3 * len(matched.ends[0]), "edges") as advance:
        return AttributedGraph.from_ends(
            matched.ends, choices.directed, values, advance, ids=_NO_IDS, labels=labels
        )


def _plain(
    matched: Matched,
    labels: NDArray[np.int8] | None,
    choices: Choices,
    notes: list[str],
    bars: Bars,
) -> AttributedGraph:
    """A network of edges alone."""
    if not len(matched.ends[0]):
        raise InputError("The network has neither edges nor features; give it one of them.")
    nothing = np.zeros((len(matched.ids), 1), dtype=np.float32)
    return with_structure(_joined(matched, nothing, labels, choices, bars), notes, bars)


def with_structure(
    graph: AttributedGraph, notes: list[str], bars: Bars = no_bars
) -> AttributedGraph:
    """The network with its own structure as features."""
    notes.append(
        "No features are given, so the structure of the network gives them: number of neighbours, "
        "clustering, shared neighbours, neighbours' degrees, chances of return, core number."
    )
    columns = describe_structure()
    titles = tuple(column.title for column in columns)
    give_back_memory()
    values = np.empty((graph.num_nodes, len(columns)), dtype=np.float32)
    fill_structure(graph, values, bars)
    return replace(graph, features=values, columns=columns, feature_names=titles)
