"""The graph: whatever it is made from, it is the same graph."""

import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from egoscore.graph import AttributedGraph
from egoscore.graph.feature_column import FeatureColumn
from egoscore.graph.number_form import WHOLE, YEAR

NAMES = ["ann", "bob", "cat", "dan", "eve"]
X = np.array([[1.0, 2.0], [3.0, 4.5], [5.0, -6.0], [7.0, 8.0], [0.0, 0.25]])
# Node 4 has no edge: what is last and alone must not get lost.
PAIRS = [(0, 1), (1, 2), (0, 2), (3, 2)]
EDGES = np.array(PAIRS).T
LABELS = [0, 1, 0, 0, 1]


@pytest.fixture(scope="module")
def pyg_data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch_geometric.data").Data


def networkx_graph(kind=nx.Graph, names=NAMES):
    graph = kind()
    for name, row, label in zip(names, X, LABELS, strict=True):
        graph.add_node(name, height=row[0], width=row[1], y=label)
    graph.add_edges_from((names[u], names[v]) for u, v in PAIRS)
    return graph


def matrix(kind):
    return kind((np.full(len(PAIRS), 2.5), EDGES), shape=(5, 5))


def edge_set(graph):
    csr = graph.adjacency
    sources = np.repeat(np.arange(graph.num_nodes), csr.degrees)
    return set(zip(sources.tolist(), csr.indices.tolist(), strict=True))


def assert_same_network(one, other):
    assert one.fingerprint() == other.fingerprint()
    assert edge_set(one) == edge_set(other)
    np.testing.assert_array_equal(one.features, other.features)
    np.testing.assert_array_equal(one.labels, other.labels)


def expected(directed=False):
    return AttributedGraph.from_edges(EDGES, X, directed, labels=LABELS)


class TestSources:
    @pytest.mark.parametrize("directed", [False, True])
    def test_pyg_gives_the_same_network(self, pyg_data, directed):
        data = pyg_data(x=torch.tensor(X), edge_index=torch.tensor(EDGES), y=torch.tensor(LABELS))
        assert_same_network(AttributedGraph.from_pyg(data, directed), expected(directed))

    def test_pyg_tensors_may_need_gradients_or_be_sparse(self, pyg_data):
        edge_index, y = torch.tensor(EDGES), torch.tensor(LABELS)
        for x in (torch.tensor(X).requires_grad_(), torch.tensor(X).to_sparse()):
            data = pyg_data(x=x, edge_index=edge_index, y=y)
            assert_same_network(AttributedGraph.from_pyg(data), expected())

    @pytest.mark.parametrize(("kind", "directed"), [(nx.Graph, False), (nx.DiGraph, True)])
    def test_networkx_gives_the_same_network_and_knows_directions(self, kind, directed):
        graph = AttributedGraph.from_networkx(networkx_graph(kind))
        assert graph.directed is directed
        assert_same_network(graph, expected(directed))
        assert graph.feature_names == ("height", "width")

    def test_networkx_keeps_ids_of_any_kind(self):
        names = ["ann", 7, (0, 1), 2.5, frozenset("x")]
        assert AttributedGraph.from_networkx(networkx_graph(names=names)).ids.tolist() == names

    def test_networkx_takes_the_attributes_that_are_named_in_that_order(self):
        graph = AttributedGraph.from_networkx(networkx_graph(), features=["width", "height"])
        np.testing.assert_array_equal(graph.features, X[:, ::-1])
        assert graph.feature_names == ("width", "height")

    def test_networkx_takes_one_attribute_by_its_name(self):
        graph = AttributedGraph.from_networkx(networkx_graph(), "width")
        assert graph.feature_names == ("width",)
        np.testing.assert_array_equal(graph.features, X[:, 1:])

    def test_networkx_takes_vectors_called_x(self):
        source = networkx_graph()
        for name, row in zip(NAMES, X, strict=True):
            source.nodes[name]["x"] = row.tolist()
        assert_same_network(AttributedGraph.from_networkx(source), expected())

    def test_networkx_labels_may_have_another_name_or_be_ignored(self):
        source = networkx_graph()
        for name, label in zip(NAMES, LABELS, strict=True):
            source.nodes[name]["fraud"] = bool(1 - label)
        chosen = ["height", "width"]
        graph = AttributedGraph.from_networkx(source, chosen, label="fraud")
        np.testing.assert_array_equal(graph.labels, 1 - np.array(LABELS))
        assert AttributedGraph.from_networkx(source, chosen, label=None).labels is None

    def test_repeated_edges_and_loops_of_a_multigraph_are_dropped_and_counted(self):
        source = networkx_graph(nx.MultiGraph)
        source.add_edges_from([("ann", "bob"), ("bob", "bob")])
        graph = AttributedGraph.from_networkx(source)
        assert graph.feature_names[-1] == "edges (count)"
        rows = dict(zip(graph.ids.tolist(), graph.features[:, -1].tolist(), strict=True))
        assert rows["ann"] == graph.neighbours.degrees[graph.ids.tolist().index("ann")] + 1
        x = tuple(graph.feature_names[:-1])
        features, columns = graph.features[:, :-1], graph.columns[:-1]
        kept = replace(graph, features=features, columns=columns, feature_names=x)
        assert_same_network(kept, expected())
        assert (graph.dropped_duplicates, graph.dropped_self_loops) == (1, 1)

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize(
        "kind", [sparse.coo_array, sparse.csr_array, sparse.coo_matrix, sparse.csr_matrix]
    )
    def test_scipy_gives_the_same_network(self, kind, directed):
        graph = AttributedGraph.from_scipy(matrix(kind), X, directed, labels=LABELS)
        assert_same_network(graph, expected(directed))

    def test_explicit_zeros_are_not_edges(self):
        rows, columns = EDGES
        with_zero = sparse.csr_array(
            ([1.0, 1.0, 1.0, 1.0, 0.0], ([*rows, 4], [*columns, 0])), shape=(5, 5)
        )
        assert with_zero.nnz == 5
        assert_same_network(AttributedGraph.from_scipy(with_zero, X, labels=LABELS), expected())

    def test_edges_may_name_their_nodes(self):
        named = np.array(NAMES)[EDGES]
        graph = AttributedGraph.from_edges(named, X, ids=NAMES, labels=LABELS)
        assert_same_network(graph, expected())
        assert graph.ids.tolist() == NAMES

    def test_features_may_be_sparse_or_a_tensor_or_a_list(self):
        for features in (sparse.csr_array(X), torch.tensor(X), X.tolist()):
            graph = AttributedGraph.from_edges(EDGES, features, labels=LABELS)
            assert_same_network(graph, expected())

    def test_without_ids_nodes_are_called_by_their_numbers(self):
        assert expected().ids.tolist() == [0, 1, 2, 3, 4]


class TestEdges:
    def test_self_loops_and_repeats_are_dropped_and_counted(self):
        edges = np.hstack([EDGES, [[2, 0, 0, 4], [2, 1, 1, 4]]])
        graph = AttributedGraph.from_edges(edges, X, labels=LABELS)
        assert_same_network(graph, expected())
        assert (graph.dropped_self_loops, graph.dropped_duplicates) == (2, 2)

    def test_listing_an_edge_in_both_directions_is_not_a_repeat(self):
        graph = AttributedGraph.from_edges(np.hstack([EDGES, EDGES[::-1]]), X, labels=LABELS)
        assert_same_network(graph, expected())
        assert (graph.dropped_self_loops, graph.dropped_duplicates) == (0, 0)

    def test_an_edge_repeated_more_often_than_a_byte_can_count_stays(self):
        edges = np.repeat([[0], [1]], 256, axis=1)
        graph = AttributedGraph.from_edges(edges, X)
        assert (graph.num_edges, graph.dropped_duplicates) == (1, 255)

    def test_a_directed_network_keeps_directions_and_follows_both(self):
        graph = expected(directed=True)
        assert edge_set(graph) == set(PAIRS)
        assert graph.num_edges == 4
        assert graph.neighbours.degrees.tolist() == [2, 2, 3, 1, 0]

    def test_an_undirected_network_counts_an_edge_once(self):
        graph = expected()
        assert edge_set(graph) == set(PAIRS) | {(v, u) for u, v in PAIRS}
        assert graph.num_edges == 4

    def test_isolated_nodes_stay(self):
        graph = expected()
        assert graph.num_nodes == 5
        assert graph.adjacency.degrees[4] == 0
        assert len(graph.adjacency.indptr) == 6

    @pytest.mark.parametrize("nothing", [[[], []], [], np.empty((2, 0), dtype=int)])
    def test_a_network_may_have_no_edges_at_all(self, nothing):
        graph = AttributedGraph.from_edges(nothing, X)
        assert (graph.num_nodes, graph.num_edges) == (5, 0)

    @given(
        st.integers(1, 9).flatmap(
            lambda n: st.tuples(
                st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
            )
        ),
        st.booleans(),
    )
    @settings(max_examples=80, deadline=None)
    def test_any_list_of_edges_gives_what_networkx_makes_of_it(self, drawn, directed):
        size, pairs = drawn
        oracle = nx.DiGraph() if directed else nx.Graph()
        oracle.add_nodes_from(range(size))
        oracle.add_edges_from((u, v) for u, v in pairs if u != v)
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        graph = AttributedGraph.from_edges(edges, np.ones((size, 1)), directed)
        loops = sum(u == v for u, v in pairs)
        assert edge_set(graph) == set(oracle.to_directed().edges)
        assert graph.num_edges == oracle.number_of_edges()
        assert graph.dropped_self_loops == loops
        assert graph.dropped_duplicates == len(pairs) - loops - len(
            set(pairs) - {(v, v) for v in range(size)}
        )
        both_ways = oracle.to_undirected()
        assert graph.neighbours.degrees.tolist() == [both_ways.degree[v] for v in range(size)]
        for node in range(size):
            start, end = graph.neighbours.indptr[node : node + 2]
            assert graph.neighbours.indices[start:end].tolist() == sorted(both_ways[node])


class TestLabels:
    @pytest.mark.parametrize("dtype", [bool, np.int64, np.uint8, np.float32])
    def test_labels_may_be_of_any_kind_of_number(self, dtype):
        graph = AttributedGraph.from_edges(EDGES, X, labels=np.array(LABELS, dtype=dtype))
        assert graph.labels.tolist() == LABELS
        assert graph.labels.dtype == np.int8

    @pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
    def test_labels_of_a_pyg_data_too_also_as_a_column(self, pyg_data, dtype):
        y = torch.tensor(LABELS).to(dtype)
        for shaped in (y, y.view(-1, 1)):
            data = pyg_data(x=torch.tensor(X), edge_index=torch.tensor(EDGES), y=shaped)
            assert AttributedGraph.from_pyg(data).labels.tolist() == LABELS

    @pytest.mark.parametrize(
        "y",
        [
            torch.tensor([0, 1, 2, 3, 0]),
            torch.tensor([0.0, 0.5, 1.0, 0.0, 0.0]),
            torch.tensor([0, 1]),
            torch.eye(5),
        ],
    )
    def test_what_is_not_labels_of_outliers_is_left_aside(self, pyg_data, y):
        data = pyg_data(x=torch.tensor(X), edge_index=torch.tensor(EDGES), y=y)
        assert AttributedGraph.from_pyg(data).labels is None

    @pytest.mark.parametrize(
        "y", [[0, 1, -1, 0, -1], [0.0, 1.0, np.nan, 0.0, np.nan], [0.0, 1.0, -1.0, 0.0, np.nan]]
    )
    def test_of_a_pyg_data_some_labels_may_be_unknown(self, pyg_data, y):
        data = pyg_data(x=torch.tensor(X), edge_index=torch.tensor(EDGES), y=torch.tensor(y))
        assert AttributedGraph.from_pyg(data).labels.tolist() == [0, 1, -1, 0, -1]

    def test_of_a_pyg_data_minus_one_without_zero_may_mean_normal(self, pyg_data):
        y = torch.tensor([-1, 1, -1, 1, -1])
        data = pyg_data(x=torch.tensor(X), edge_index=torch.tensor(EDGES), y=y)
        assert AttributedGraph.from_pyg(data).labels is None

    def test_networkx_nodes_without_a_label_have_an_unknown_one(self):
        source = networkx_graph()
        known = AttributedGraph.from_networkx(source, ["height"])
        del source.nodes["dan"]["y"]
        found = AttributedGraph.from_networkx(source, ["height"])
        is_dan = found.ids == "dan"
        assert found.labels[is_dan].tolist() == [-1]
        np.testing.assert_array_equal(found.labels[~is_dan], known.labels[~is_dan])

    def test_labels_may_be_missing(self, pyg_data):
        data = pyg_data(x=torch.tensor(X), edge_index=torch.tensor(EDGES))
        assert AttributedGraph.from_pyg(data).labels is None
        assert AttributedGraph.from_edges(EDGES, X).labels is None


class TestFingerprint:
    def test_order_of_edges_labels_and_ids_do_not_matter(self):
        again = AttributedGraph.from_edges(EDGES[:, ::-1], X, ids=NAMES, labels=LABELS[::-1])
        assert again.fingerprint() == expected().fingerprint()

    @pytest.mark.parametrize(
        "other",
        [
            AttributedGraph.from_edges(EDGES, X, directed=True),
            AttributedGraph.from_edges(EDGES[:, :3], X),
            AttributedGraph.from_edges(EDGES, X + np.eye(5, 2) * 1e-3),
            AttributedGraph.from_edges(EDGES, X[:, :1]),
            AttributedGraph.from_edges(EDGES, X[[1, 0, 2, 3, 4]]),
            AttributedGraph.from_edges(EDGES, np.vstack([X, X[:1]])),
        ],
        ids=["directed", "edge missing", "value", "column missing", "rows swapped", "node more"],
    )
    def test_every_difference_of_the_data_shows(self, other):
        assert other.fingerprint() != expected().fingerprint()

    def test_other_edges_show_where_all_degrees_are_the_same(self):
        pairs = ([[0, 2], [1, 3]], [[0, 1], [2, 3]])
        one, other = (AttributedGraph.from_edges(edges, X) for edges in pairs)
        assert one.adjacency.degrees.tolist() == other.adjacency.degrees.tolist()
        assert one.fingerprint() != other.fingerprint()


def test_a_network_says_what_it_is():
    assert repr(expected()) == (
        "AttributedGraph(5 nodes, 4 undirected edges, 2 features, 2 known outliers)"
    )
    assert repr(AttributedGraph.from_edges(EDGES, X, directed=True)) == (
        "AttributedGraph(5 nodes, 4 directed edges, 2 features)"
    )


def test_what_the_user_gave_is_not_changed():
    edges, features, labels = EDGES.copy(), X.astype(np.float32), np.array(LABELS)
    graph = AttributedGraph.from_edges(edges, features, labels=labels)
    np.testing.assert_array_equal(edges, EDGES)
    np.testing.assert_array_equal(features, X.astype(np.float32))
    assert graph.features.dtype == np.float32


class TestDescribed:
    """What the features are to the user."""

    def test_without_a_description_all_are_numbers(self):
        half = np.full((2, 2), 0.5)
        graph = AttributedGraph.from_edges([[0], [1]], half, feature_names=["a", "b"])
        assert graph.columns == ()
        assert graph.described == (FeatureColumn("a"), FeatureColumn("b"))
        assert not graph.is_structural

    def test_years_and_counts_in_an_array_are_described(self):
        values = np.array([[1999, 2], [2004, 7]])
        graph = AttributedGraph.from_edges([[0], [1]], values, feature_names=["year", "children"])
        assert [column.form for column in graph.described] == [YEAR, WHOLE]

    def test_a_description_is_kept(self):
        columns = (FeatureColumn("a", "date"), FeatureColumn("b", "yes/no"))
        graph = AttributedGraph.from_edges([[0], [1]], np.ones((2, 2)))
        assert replace(graph, columns=columns).described == columns

    @pytest.mark.parametrize(
        ("kinds", "is_structural"),
        [(("structure", "structure"), True), (("number", "structure"), True), ((), False)],
    )
    def test_a_network_is_structural_if_a_feature_is(self, kinds, is_structural):
        graph = AttributedGraph.from_edges([[0], [1]], np.ones((2, 2)))
        columns = tuple(FeatureColumn("x", kind) for kind in kinds)
        assert replace(graph, columns=columns).is_structural is is_structural


class TestOffsets:
    GRAPH = AttributedGraph.from_edges([[0, 1], [1, 2]], np.float32([[1, 5], [2, 6], [4, 7]]))

    def of(self, *offsets):
        columns = tuple(FeatureColumn(f"x{j}", offset=o) for j, o in enumerate(offsets))
        return replace(self.GRAPH, columns=columns)

    def test_without_columns_nothing_was_taken_off(self):
        assert self.GRAPH.offsets.tolist() == [0, 0]
        assert self.GRAPH.measured_from([0, 0]) is self.GRAPH

    def test_numbers_stay_the_users_whatever_they_are_measured_from(self):
        far = self.of(1.7e9, 0.0)
        moved = far.measured_from([1.7e9 - 3, 1.0])
        np.testing.assert_array_equal(moved.features, [[4, 4], [5, 5], [7, 6]])
        np.testing.assert_array_equal(moved.features + moved.offsets, far.features + far.offsets)

    def test_other_offsets_are_another_network(self):
        prints = {self.of(0.0, 0.0).fingerprint(), self.of(5.0, 0.0).fingerprint()}
        assert len(prints) == 2
        assert self.GRAPH.fingerprint() in prints


@pytest.mark.parametrize("directed", [False, True])
def test_neighbours_of_a_node_are_networkxs_in_both_directions(directed):
    edges = np.array([[0, 3, 1, 1, 4], [1, 0, 3, 1, 1]])
    graph = AttributedGraph.from_edges(edges, np.ones((6, 1)), directed)
    theirs = nx.Graph(edges.T.tolist())
    theirs.add_node(5)
    for node in range(6):
        expected = sorted(set(theirs.neighbors(node)) - {node}) if node in theirs else []
        assert graph.neighbours_of(node).tolist() == expected
        assert graph.neighbours_of(node).dtype == np.int64


SECONDS = np.array([[1_700_000_000 + 7 * n, n % 3] for n in range(5)])


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint32])
def test_digits_that_float32_has_not_are_kept_beside_an_offset(pyg_data, dtype):
    values = SECONDS.astype(dtype)
    tensors = torch.tensor(values.astype(np.int64 if dtype == np.uint32 else dtype))
    for graph in (
        AttributedGraph.from_edges(EDGES, values),
        AttributedGraph.from_scipy(matrix(sparse.csr_array), values),
        AttributedGraph.from_pyg(pyg_data(x=tensors, edge_index=torch.tensor(EDGES))),
    ):
        assert graph.offsets.tolist() == [np.median(SECONDS[:, 0]), 0]
        np.testing.assert_array_equal(graph.features + graph.offsets, SECONDS)
        assert graph.feature_names == ("x0", "x1")


def test_what_is_given_in_float32_or_does_not_vary_has_no_offset():
    for values in (SECONDS.astype(np.float32), np.full((5, 2), 0.1)):
        graph = AttributedGraph.from_edges(EDGES, values)
        assert not graph.offsets.any()
        np.testing.assert_array_equal(graph.features, values.astype(np.float32))
