"""The graph everything starts from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from egoscore.errors import InputError
from egoscore.graph import checks as check
from egoscore.graph.category_codes import CategoryCodes
from egoscore.graph.csr import Csr, both_ways, build_csr, without_loops
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.number_form import form_of
from egoscore.progress import Advance
from egoscore.text import counted

if TYPE_CHECKING:
    import networkx
    from scipy import sparse


@dataclass(frozen=True)
class AttributedGraph:
    """A graph whose nodes have numeric features.

    Make one with `from_tables`, `from_edges`, `from_pyg`, `from_networkx` or `from_scipy`. Nodes
    are numbered 0 … num_nodes - 1 inside; `ids` are the user's own ids.

    Attributes:
        adjacency: edges u → v; both directions are present when the graph is undirected.
        neighbours: edges in either direction, what ego-graphs follow.
        features: (N, F) float32.
        ids: (N,) the user's node ids.
        names: (N,) text under which nodes are shown, the id where there is none; None for the ids.
        directed: whether u → v differs from v → u.
        labels: (N,) int8, 1 for a known outlier, 0 for a normal node, -1 where that is unknown;
            only ever used to evaluate. May be None.
        feature_names: F names.
        node_info: further columns about the nodes that travel to the output.
        positions: (N, P) float32, positional encodings: extra model inputs that are not noised.
        columns: F descriptions of what the features are to the user; () where all are numbers.
        categories: columns with more categories than there are features for, by their names.
        dropped_self_loops, dropped_duplicates: how many edges were left out, and why.
    """

    adjacency: Csr
    neighbours: Csr
    features: NDArray[np.float32]
    ids: NDArray[Any]
    directed: bool = False
    labels: NDArray[np.int8] | None = None
    feature_names: tuple[str, ...] = ()
    node_info: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    dropped_self_loops: int = 0
    dropped_duplicates: int = 0
    positions: NDArray[np.float32] | None = None
    columns: tuple[FeatureColumn, ...] = ()
    categories: Mapping[str, CategoryCodes] = field(default_factory=dict)
    names: NDArray[Any] | None = None

    @property
    def is_structural(self) -> bool:
        """Whether features of its nodes are the structure of the graph, as numbers."""
        return any(column.kind == "structure" for column in self.columns)

    @property
    def described(self) -> tuple[FeatureColumn, ...]:
        """What every feature is to the user."""
        return self.columns or self._numbers

    @cached_property
    def _numbers(self) -> tuple[FeatureColumn, ...]:
        """What is known of features that are only numbers: their names, and how to write them."""
        pairs = zip(self.feature_names, self.features.T, strict=False)
        return tuple(FeatureColumn(name, form=form_of(name, values)) for name, values in pairs)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the features and which are dates, or () if they are only numbered.

        Two graphs whose columns were read the same way have the same.
        """
        titles = tuple(column.title for column in self.columns)
        if titles == check.numbered_names(len(titles)):
            return ()
        return tuple(f"{c.title} (date)" if c.kind == "date" else c.title for c in self.columns)

    @property
    def num_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return len(self.features)

    @property
    def num_features(self) -> int:
        """Number of features of a node."""
        return int(self.features.shape[1])

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        stored = len(self.adjacency.indices)
        return stored if self.directed else stored // 2

    def name_of(self, node: int) -> str | None:
        """The name of a node, or None if nodes are shown by their ids."""
        return None if self.names is None else str(self.names[node])

    def shown(self, node: int) -> str:
        """The name of a node, or else its id."""
        return str(self.ids[node] if self.names is None else self.names[node])

    def neighbours_of(self, node: int) -> NDArray[np.int64]:
        """The numbers of a node's neighbours, following edges both ways."""
        near = self.neighbours
        return near.indices[near.indptr[node] : near.indptr[node + 1]].astype(np.int64)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        outliers = 0 if self.labels is None else int(np.count_nonzero(self.labels == 1))
        known = "" if self.labels is None else f", {counted(outliers, 'known outlier')}"
        return (
            f"AttributedGraph({counted(self.num_nodes, 'node')}, "
            f"{counted(self.num_edges, f'{kind} edge')}, "
            f"{counted(self.num_features, 'feature')}{known})"
        )

    @property
    def offsets(self) -> NDArray[np.float64]:
        """The offset that was subtracted from every feature, (F,)."""
        if not self.columns:
            return np.zeros(len(self.feature_names))
        return np.array([column.offset for column in self.columns], dtype=np.float64)

    def measured_from(self, offsets: ArrayLike) -> AttributedGraph:
        """The same graph with the features measured from `offsets` (F,) instead of its own."""
        wanted = np.asarray(offsets, dtype=np.float64)
        if wanted.shape != self.offsets.shape or np.array_equal(wanted, self.offsets):
            return self
        moved = (self.features + (self.offsets - wanted)).astype(np.float32)
        pairs = zip(self.described, wanted.tolist(), strict=True)
        columns = tuple(replace(column, offset=offset) for column, offset in pairs)
        return replace(self, features=moved, columns=columns)

    def fingerprint(self) -> str:
        """A digest of structure and features: equal graphs, equal digests."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(f"{self.num_nodes},{self.num_features},{self.directed}".encode())
        for array in (self.adjacency.indptr, self.adjacency.indices, self.features):
            digest.update(np.ascontiguousarray(array).data)
        if self.offsets.any():
            digest.update(self.offsets.data)
        return digest.hexdigest()

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        features: Any,
        directed: bool = False,
        ids: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        node_info: Mapping[str, NDArray[Any]] | None = None,
        names: Sequence[str | None] | NDArray[Any] | None = None,
    ) -> AttributedGraph:
        """A graph from `edges` (2, E) and `features` (N, F).

        Edges hold row numbers of `features`. Edges that are not whole numbers are looked up in
        `ids`. Self-loops and repeated edges are dropped and counted; for an undirected graph
        it does not matter whether an edge is listed in one direction or in both. Features with
        more digits than float32 holds are measured from their median, see `offsets`. Nodes without
        a name (None or empty) are shown by their id.
        """
        values, columns = check.features(features, feature_names)
        size = len(values)
        known_ids = check.ids(ids, size)
        ends = list(check.edges(edges, size, known_ids if ids is not None else None))
        return cls.from_ends(
            ends,
            directed,
            features=values,
            ids=known_ids,
            labels=None if labels is None else check.labels(labels, size),
            feature_names=tuple(column.name for column in columns),
            columns=columns if any(column.offset for column in columns) else (),
            node_info=check.node_info(node_info, size),
            names=check.names(names, known_ids),
        )

    @classmethod
    def from_ends(
        cls,
        ends: list[NDArray[np.int32]],
        directed: bool,
        features: NDArray[np.float32],
        advance: Advance = lambda count: None,
        **others: Any,
    ) -> AttributedGraph:
        """A graph of valid arrays: `from_edges` without its checks and copies.

        `ends` are the sources and the targets, (E,) each; the list is emptied, so that no copy of
        millions of edges is kept longer than needed. `advance` is called three times with E.
        """
        sources, targets = ends
        ends.clear()
        count, loops = len(sources), int(np.count_nonzero(sources == targets))
        adjacency = build_csr(sources, targets, len(features))
        del sources, targets
        advance(count)
        adjacency = without_loops(adjacency) if loops else adjacency
        advance(count)
        neighbours = both_ways(adjacency)
        advance(count)
        return cls(
            adjacency=adjacency if directed else neighbours,
            neighbours=neighbours,
            features=features,
            directed=directed,
            dropped_self_loops=loops,
            dropped_duplicates=count - loops - len(adjacency.indices),
            **others,
        )

    @classmethod
    def from_tables(cls, edges: Any, nodes: Any = None, **options: Any) -> AttributedGraph:
        """A graph from a table of edges and, if there is one, a table of nodes.

        Each may be a path (CSV, Parquet, Feather), a pandas or polars frame, or an Arrow table.
        `options` are those of `egoscore.load.Options`, named as the options of the command line;
        `egoscore.load.read_tables` also returns notes on the decisions it made.
        """
        from egoscore.load import Options, read_tables

        return read_tables(edges, nodes, Options(**options)).graph

    @classmethod
    def from_pyg(cls, data: Any, directed: bool = False) -> AttributedGraph:
        """A graph from a PyG `Data` with `x` and `edge_index`.

        `y` becomes the labels when it holds nothing but 0 and 1, or NaN or -1 where that is
        unknown; other values (classes, say) are not labels of outliers and are left aside. Many
        published files list an undirected edge once, so `edge_index` does not tell whether a graph
        is directed.
        """
        if getattr(data, "edge_index", None) is None:
            raise InputError("The PyG Data has no edge_index; it needs one of shape (2, E).")
        if getattr(data, "x", None) is None:
            raise InputError(check.NO_FEATURES)
        values = check.to_numpy(data.x)
        labels = check.binary_or_none(getattr(data, "y", None), len(values) if values.ndim else 0)
        return cls.from_edges(check.to_numpy(data.edge_index), values, directed, labels=labels)

    @classmethod
    def from_networkx(
        cls,
        graph: networkx.Graph[Any],
        features: str | Sequence[str] | None = None,
        label: str | None = "y",
        **options: Any,
    ) -> AttributedGraph:
        """A graph from a networkx graph; its own type says whether it is directed.

        `features` names one node attribute, or several in order. Without it: the attribute `x` if
        nodes have one (a vector), otherwise all that can be used, as from a table. `label` is
        never a feature; it becomes the labels if it is 0 or 1, or unknown. `options` are
        `ignore`, `name`, `weight` and `impute` of `egoscore.load.Options`.
        """
        from egoscore.load import Options
        from egoscore.load.graph_files import read_networkx

        named = (features,) if isinstance(features, str) else features
        chosen = None if named is None else tuple(named)
        return read_networkx(graph, label, Options(features=chosen, **options)).graph

    @classmethod
    def from_scipy(
        cls,
        adjacency: sparse.csr_array | sparse.coo_array | sparse.csr_matrix | sparse.coo_matrix,
        features: Any,
        directed: bool = False,
        ids: ArrayLike | None = None,
        labels: ArrayLike | None = None,
    ) -> AttributedGraph:
        """A graph from a square scipy matrix; every non-zero entry (u, v) is an edge u → v."""
        values, _ = check.features(features)
        check.square(adjacency.shape, len(values))
        entries = adjacency.tocoo()
        if entries.dtype.kind == "f" and np.isnan(entries.data).any():
            raise InputError("The adjacency matrix has NaN entries; say whether they are edges.")
        present = entries.data != 0
        edges = np.stack([entries.row[present], entries.col[present]])
        return cls.from_edges(edges, features, directed, ids, labels)


def as_graph(data: Any, directed: bool = False) -> AttributedGraph:
    """`data` as an `AttributedGraph`.

    Takes an `AttributedGraph`, a PyG `Data`, a networkx graph, a pair (edges, nodes) of data frames
    or a data frame of edges (pandas, polars, Arrow, or a dictionary of columns), or a pair (scipy
    adjacency, features) or (edge array, features). `directed` says how to read what does not say it
    itself: all but the `AttributedGraph` and the networkx graph.
    """
    if isinstance(data, AttributedGraph):
        return data
    parts = data if isinstance(data, tuple) and len(data) == 2 else (data,)
    if all(map(_is_table, parts)):  # before the others: columns of a frame are attributes
        return AttributedGraph.from_tables(*parts, directed=directed)
    if hasattr(data, "edge_index"):
        return AttributedGraph.from_pyg(data, directed)
    if hasattr(data, "is_directed") and hasattr(data, "nodes"):
        return AttributedGraph.from_networkx(data)
    if len(parts) == 2:
        structure, features = parts
        if hasattr(structure, "tocoo"):
            return AttributedGraph.from_scipy(structure, features, directed)
        return AttributedGraph.from_edges(structure, features, directed)
    raise InputError(
        "A graph must be an AttributedGraph, a PyG Data, a networkx graph, a pair of data frames "
        "(edges, nodes), or a pair (scipy adjacency, features) or (edges of shape (2, E), "
        f"features) (found {type(data).__name__})."
    )


def _is_table(value: Any) -> bool:
    """Whether a value is a data frame or columns by name."""
    return hasattr(value, "__arrow_c_stream__") or isinstance(value, Mapping)
