"""The tables of the data folder, as an analyst would have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from egoscore import AttributedGraph, load_dataset

_ID = "id"
_LISTED = {  # folder: column of ids, columns that are no attributes
    "tables/airports": ("iata", ("name", "city")),
    "tables/facebook_pages": ("id", ("facebook_id", "page_name")),
    "tables/twitch_de": ("new_id", ("id",)),
    "labelled/bitcoin_alpha": ("id", ("label",)),
    "labelled/bugs_ant": ("id", ("label",)),
    "labelled/bugs_camel": ("id", ("label",)),
    "labelled/enron_poi": ("id", ("label",)),
    "labelled/eth_first": ("id", ("label",)),
    "labelled/wiki_vandal": ("id", ("label",)),
}
_BOND = ("disney", "books", "reddit", "enron")
NAMES = tuple(name.split("/")[1] for name in _LISTED) + _BOND
_MOST_CATEGORIES = 20
_LEAST_VALUES = 10  # of a column of numbers; fewer are grades
_LEAST_SHARE = 0.05  # of the values that differ from the most frequent one


@dataclass(frozen=True)
class Tables:
    """A network as two tables.

    Attributes: `name`; `nodes` with the column "id" and the attributes; `edges`, the first two
    columns of which are ids; `left_out` the columns of nodes that are neither; `numbers` and
    `categories` the columns in which something can be planted.
    """

    name: str
    nodes: pd.DataFrame
    edges: pd.DataFrame
    left_out: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def ends(self) -> np.ndarray:
        """The edges as row numbers of nodes, (2, E)."""
        rows = pd.Series(np.arange(len(self.nodes)), index=self.nodes[_ID])
        found = [rows.reindex(self.edges.iloc[:, end]).to_numpy() for end in (0, 1)]
        both = np.array(found)
        return both[:, ~np.isnan(both).any(axis=0)].astype(np.int64)

    @property
    def graph(self) -> AttributedGraph:
        """The graph as an analyst would read it."""
        source, target = self.edges.columns[:2]
        options = {"id": _ID, "ignore": self.left_out, "impute": "median"}
        return AttributedGraph.from_tables(
            self.edges, self.nodes, source=source, target=target, **options
        )


def read(name: str, folder: Path) -> Tables:
    """The tables of this name, with only the nodes that the table of nodes lists."""
    if name in _BOND:
        return of_graph(name, load_dataset(name, folder / "bond"))
    place = next(place for place in _LISTED if place.endswith(f"/{name}"))
    key, left_out = _LISTED[place]
    nodes = pd.read_csv(folder / place / "nodes.csv.gz").rename(columns={"id": "old_id"})
    nodes = nodes.rename(columns={"old_id" if key == "id" else key: _ID})
    others = tuple("old_id" if one == "id" else one for one in left_out)
    edges = pd.read_csv(folder / place / "edges.csv.gz")
    known = edges.iloc[:, :2].isin(set(nodes[_ID])).all(axis=1)
    return _described(Tables(name, nodes, edges[known].iloc[:, :2], others))


def of_graph(name: str, graph: AttributedGraph) -> Tables:
    """The tables of a graph whose features are all numbers."""
    columns = [f"f{number}" for number in range(graph.num_features)]
    nodes = pd.DataFrame(graph.features, columns=columns)
    nodes.insert(0, _ID, np.arange(graph.num_nodes))
    links = graph.neighbours.to_scipy().tocoo()
    once = links.row < links.col
    edges = pd.DataFrame({"source": links.row[once], "target": links.col[once]})
    return _described(Tables(name, nodes, edges))


def _described(tables: Tables) -> Tables:
    """With the columns in which something can be planted."""
    numbers, categories = [], []
    for column in tables.nodes.columns.drop([_ID, *tables.left_out]):
        values = tables.nodes[column]
        counts = values.value_counts()
        if values.dtype.kind in "if":
            share = 1.0 - counts.iloc[0] / len(values)
            if len(counts) >= _LEAST_VALUES and share >= _LEAST_SHARE:
                numbers.append(column)
        elif 2 <= len(counts) <= _MOST_CATEGORIES:
            categories.append(column)
    return replace(tables, numbers=tuple(numbers), categories=tuple(categories))
