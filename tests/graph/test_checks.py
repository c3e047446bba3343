"""What a graph must not be: every rule is one sentence that says what, where and what to do."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from egoscore.errors import InputError
from egoscore.graph import AttributedGraph
from egoscore.graph import checks as check

X = np.arange(8.0).reshape(4, 2)
EDGES = np.array([[0, 1], [1, 2]])


def refusal(make, *args, **kwargs):
    """The sentence with which something is refused."""
    with pytest.raises(InputError) as caught:
        make(*args, **kwargs)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert isinstance(caught.value, ValueError)
    return message


def from_edges(edges=EDGES, features=X, **kwargs):
    return AttributedGraph.from_edges(edges, features, **kwargs)


def replaced(value, dtype=np.float64):
    table = X.astype(dtype)
    table[2, 1] = value
    return table


def networkx_graph(**columns):
    graph = nx.path_graph(["ann", "bob", "cat"])
    for name, values in columns.items():
        nx.set_node_attributes(graph, dict(zip(graph, values, strict=True)), name)
    return graph


class TestFeatures:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf"), (1e39, "1e+39")],
    )
    def test_values_beyond_float32_are_found(self, value, shown):
        message = refusal(from_edges, features=replaced(value), feature_names=["age", "income"])
        assert "column 'income', row 2" in message
        assert f"(found {shown})" in message
        assert "1 of them" in message

    @given(
        arrays(
            np.float64,
            (3, 2),
            elements=st.floats(allow_nan=True, allow_infinity=True, width=64),
        )
    )
    @settings(max_examples=100, deadline=None)
    def test_any_table_is_either_kept_in_float32_or_refused(self, table):
        with np.errstate(over="ignore"):
            expected = table.astype(np.float32)
        if np.isfinite(expected).all():
            found, columns = check.features(table)
            offsets = np.array([column.offset for column in columns])
            np.testing.assert_array_equal(found[:, offsets == 0], expected[:, offsets == 0])
            error = np.abs(found.astype(np.float64) + offsets - table)
            most = 2e-7 * np.abs(table - offsets) + 1e-15 * np.abs(table) + 2e-45
            assert (error <= most).all()
        else:
            row, column = np.argwhere(~np.isfinite(expected))[0]
            message = refusal(check.features, table)
            assert f"column 'x{column}', row {row}" in message

    def test_empty_cells_of_a_table_of_objects_are_not_finite(self):
        assert "column 'x1', row 2" in refusal(from_edges, features=replaced(None, object))

    @pytest.mark.parametrize(
        ("features", "shape"),
        [(np.ones(4), "(4,)"), (np.ones((4, 2, 1)), "(4, 2, 1)"), (5.0, "()"), (None, "()")],
    )
    def test_features_that_are_no_table_are_refused(self, features, shape):
        message = refusal(from_edges, features=features)
        assert "(nodes, features)" in message
        assert f"(found shape {shape})" in message

    def test_a_network_without_nodes_is_refused(self):
        message = refusal(from_edges, [[], []], np.empty((0, 3)))
        assert "empty" in message
        assert "no nodes" in message
        assert "empty" in refusal(AttributedGraph.from_networkx, nx.Graph())

    def test_nodes_without_features_are_told_what_to_do(self):
        message = refusal(from_edges, features=np.empty((4, 0)))
        assert "no node features" in message
        assert "log degree and clustering coefficient" in message

    @pytest.mark.parametrize("dtype", [object, str])
    def test_text_is_refused_and_its_column_named(self, dtype):
        table = np.array([["1", "red"], ["2", "blue"]], dtype=dtype)
        if dtype is object:
            table[:, 0] = [1.0, 2.0]
        message = refusal(from_edges, [[0], [1]], table, feature_names=["age", "colour"])
        column = "colour" if dtype is object else "age"
        assert f"column '{column}' is not numeric" in message
        assert ("red" if dtype is object else "1") in message

    def test_numbers_of_mixed_types_are_numbers(self):
        table = np.array([[True, 1], [2.5, np.int8(3)]], dtype=object)
        graph = from_edges([[0], [1]], table)
        np.testing.assert_array_equal(graph.features, [[1, 1], [2.5, 3]])

    def test_the_number_of_names_must_be_that_of_columns(self):
        message = refusal(from_edges, feature_names=["age"])
        assert "each of the 2 features" in message
        assert "(found 1)" in message

    def test_rows_of_different_length_are_refused(self):
        with pytest.raises(InputError):
            from_edges([[0], [1]], [[1.0, 2.0], [3.0]])

    def test_whole_numbers_beyond_any_float_are_refused(self):
        assert "row 2" in refusal(from_edges, features=replaced(10**400, object))

    def test_dates_are_not_numbers(self):
        dates = np.array([["2020"], ["2021"], ["2022"]], dtype="M8[Y]")
        assert "'x0' is not numeric" in refusal(from_edges, features=dates)

    def test_complex_numbers_are_refused(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refusal(from_edges, features=X + 1j)

    def test_every_float_of_torch_is_read(self):
        graph = from_edges(features=torch.tensor(X, dtype=torch.bfloat16))
        np.testing.assert_array_equal(graph.features, X)


class TestEdges:
    @pytest.mark.parametrize(
        ("edges", "where"),
        [
            ([[0, 1], [1, 4]], "Edge 1 points to node 4"),
            ([[0, -1], [1, 2]], "Edge 1 points to node -1"),
            ([[2**40], [0]], f"Edge 0 points to node {2**40}"),
        ],
    )
    def test_edges_that_point_nowhere_are_refused(self, edges, where):
        message = refusal(from_edges, edges)
        assert where in message
        assert "0 to 3" in message

    def test_edges_that_lie_on_their_side_are_told_so(self):
        message = refusal(from_edges, [[0, 1], [1, 2], [2, 3]])
        assert "(2, E) (found shape (3, 2)); transpose it" in message

    @pytest.mark.parametrize("edges", [[0, 1, 2], np.zeros((3, 3), int), np.zeros((2, 2, 2), int)])
    def test_edges_of_another_shape_are_refused(self, edges):
        message = refusal(from_edges, edges)
        assert f"(found shape {np.shape(edges)})" in message
        assert "transpose" not in message

    @pytest.mark.parametrize("edges", [EDGES.astype(float), EDGES.astype(bool), EDGES.astype(str)])
    def test_edges_that_are_no_whole_numbers_are_refused(self, edges):
        message = refusal(from_edges, edges)
        assert f"(found {edges.dtype})" in message
        assert "ids" in message

    def test_an_edge_to_an_unknown_name_is_refused(self):
        message = refusal(from_edges, [["a", "b"], ["b", "z"]], ids=["a", "b", "c", "d"])
        assert "node 'z'" in message
        assert "not among the ids" in message

    def test_fractions_are_not_names(self):
        message = refusal(from_edges, [[0.5], [1.5]], ids=[0.5, 1.5, 2.5, 3.5])
        assert "row numbers" in message

    @pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
    def test_every_kind_of_whole_number_will_do(self, dtype):
        assert from_edges(EDGES.astype(dtype)).fingerprint() == from_edges().fingerprint()

    def test_rows_of_different_length_are_refused(self):
        with pytest.raises(InputError):
            from_edges([[0, 1], [1]])


class TestIds:
    def test_every_id_must_be_another(self):
        assert "'a' occurs more than once" in refusal(from_edges, ids=["a", "b", "a", "c"])

    def test_there_must_be_as_many_ids_as_nodes(self):
        message = refusal(from_edges, ids=["a", "b"])
        assert "each of the 4 nodes" in message
        assert "(found shape (2,))" in message

    @pytest.mark.parametrize("odd", [["a"], ("a", ["b"])])
    def test_ids_that_cannot_be_compared_are_refused_and_the_first_is_named(self, odd):
        names = np.empty(4, dtype=object)
        names[:] = ["x", odd, "y", odd]
        assert f"(found {odd!r})" in refusal(from_edges, ids=names)

    def test_the_first_id_that_occurs_twice_is_named(self):
        names = np.array(["a", "b", "b", "a"], dtype=object)
        assert "'b' occurs more than once" in refusal(from_edges, ids=names)


class TestLabels:
    @pytest.mark.parametrize("labels", [[0, 1], np.zeros((4, 2)), 1])
    def test_there_must_be_as_many_labels_as_nodes(self, labels):
        message = refusal(from_edges, labels=labels)
        assert "each of the 4 nodes" in message
        assert f"(found shape {np.shape(labels)})" in message

    def test_only_outliers_may_be_known(self):
        assert from_edges(labels=[np.nan, 1, None, np.nan]).labels.tolist() == [-1, 1, -1, -1]

    @pytest.mark.parametrize(
        "labels",
        [
            *([0, 1, 2, 0], [0, 0.5, 1, 0], list("0101"), [np.nan] * 4),
            [-1, 1, -1, 1],  # where -1 may mean normal
        ],
    )
    def test_labels_are_0_and_1_or_unknown_and_nothing_else(self, labels):
        message = refusal(from_edges, labels=labels)
        assert "0 (normal), 1 (outlier)" in message

    @pytest.mark.parametrize(
        "labels",
        [
            *([0, 1, -1, 0], [0, 1, np.nan, 0], [0, 1, None, 0], [[0.0], [1.0], [-1.0], [0.0]]),
            *(pd.Series([0, 1, None, 0]), pd.Series([0, 1, None, 0], dtype="Int64")),
            pd.Series([False, True, None, False], dtype="boolean"),
        ],
    )
    def test_unknown_labels_are_minus_one(self, labels):
        graph = from_edges(labels=labels)
        assert graph.labels.tolist() == [0, 1, -1, 0]
        assert graph.labels.dtype == np.int8
        assert "1 known outlier" in repr(graph)


class TestNodeInfo:
    def test_there_must_be_a_value_for_every_node(self):
        assert "kind" in refusal(from_edges, node_info={"kind": np.array(["a", "b"])})


class TestAdjacency:
    def test_entries_that_are_no_numbers_are_refused(self):
        matrix = sparse.coo_array(([1.0, np.nan], ([0, 1], [1, 2])), shape=(4, 4))
        assert "NaN entries" in refusal(AttributedGraph.from_scipy, matrix, X)

    def test_a_matrix_must_be_square(self):
        message = refusal(AttributedGraph.from_scipy, sparse.csr_array((4, 5)), X)
        assert "square (found 4 rows and 5 columns)" in message

    def test_a_matrix_must_have_a_row_for_every_node(self):
        message = refusal(AttributedGraph.from_scipy, sparse.csr_array((3, 3)), X)
        assert "3 rows but the features have 4" in message
        assert "same order" in message

    def test_a_vector_is_not_a_matrix(self):
        with pytest.raises(InputError):
            AttributedGraph.from_scipy(sparse.coo_array(np.ones(4)), X)


class TestAttributes:
    @pytest.mark.parametrize("how", ["none", "nan", "not there"])
    def test_an_attribute_that_is_missing_is_named(self, how):
        graph = networkx_graph(age=[1.0, 2.0, 3.0])
        graph.nodes["bob"]["age"] = None if how == "none" else np.nan
        if how == "not there":
            del graph.nodes["bob"]["age"]
        message = refusal(AttributedGraph.from_networkx, graph, impute="none")
        assert "the networkx graph has missing values in 'age' (1)" in message

    def test_attributes_may_be_numbers_of_any_kind(self):
        graph = networkx_graph(a=[1, 2.5, np.float32(3)], b=[True, np.bool_(False), np.int8(4)])
        values = AttributedGraph.from_networkx(graph).features
        np.testing.assert_array_equal(values, [[1, 1], [2.5, 0], [3, 4]])

    @pytest.mark.parametrize("vector", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]])
    def test_vectors_must_be_equally_long(self, vector):
        graph = networkx_graph(x=[[1.0, 2.0], [3.0, 4.0], vector])
        message = refusal(AttributedGraph.from_networkx, graph)
        assert f"Node 'cat' has an attribute 'x' of shape {np.shape(vector)}" in message
        assert "(2,)" in message

    def test_a_vector_that_is_missing_names_the_node(self):
        graph = networkx_graph(x=[[1.0, 2.0]] * 3)
        del graph.nodes["cat"]["x"]
        assert "Node 'cat'" in refusal(AttributedGraph.from_networkx, graph)

    def test_an_attribute_that_only_later_nodes_have_is_not_dropped_silently(self):
        graph = networkx_graph(age=[1, 2, 3])
        graph.nodes["bob"]["income"] = 5.0
        assert "income" in refusal(AttributedGraph.from_networkx, graph, impute="none")
        found = AttributedGraph.from_networkx(graph)
        assert "income is missing" in found.feature_names


@pytest.fixture(scope="module")
def pyg_data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch_geometric.data").Data


class TestPyg:
    def test_a_data_without_edges_is_refused(self, pyg_data):
        message = refusal(AttributedGraph.from_pyg, pyg_data(x=torch.ones(4, 2)))
        assert "no edge_index" in message
        assert "(2, E)" in message

    def test_a_data_without_features_is_told_what_to_do(self, pyg_data):
        message = refusal(AttributedGraph.from_pyg, pyg_data(edge_index=torch.tensor(EDGES)))
        assert "no node features" in message

    def test_a_single_number_is_not_a_table(self, pyg_data):
        source = pyg_data(x=torch.tensor(1.0), edge_index=torch.tensor(EDGES))
        assert "(nodes, features)" in refusal(AttributedGraph.from_pyg, source)


class TestTensors:
    def test_what_happens_to_the_users_array_later_does_not_matter(self):
        features = np.ones((4, 2), dtype=np.float32)
        graph = from_edges(features=features)
        features[:] = np.nan
        assert np.isfinite(graph.features).all()

    def test_sparse_tensors_of_any_layout_are_read(self):
        dense = torch.tensor(X, dtype=torch.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch calls its CSR layout a beta
            layouts = [dense.to_sparse(), dense.to_sparse_csr()]
        for features in layouts:
            np.testing.assert_array_equal(from_edges(features=features).features, X)

    def test_text_in_a_vector_names_its_own_column(self):
        graph = networkx_graph(x=[[1.0, 2.0], [3.0, "red"], [5.0, 6.0]])
        message = refusal(AttributedGraph.from_networkx, graph)
        assert "column 'x1' is not numeric (found 'red')" in message


def test_a_dense_adjacency_matrix_is_recognised():
    with pytest.raises(InputError, match=r"give scipy\.sparse\.csr_array\(matrix\)"):
        check.edges(np.eye(5), 5, None)


def test_row_numbers_are_not_copied():
    pairs = np.array([[0, 1], [1, 2]], dtype=np.int32)
    assert all(np.shares_memory(end, pairs) for end in check.edges(pairs, 3, None))


class TestSameFeatures:
    @pytest.mark.parametrize(
        ("fitted", "found"), [((), "ab"), ("ab", ()), ("ab", "ab"), ("ab", ("a", "b"))]
    )
    def test_the_same_or_unknown_is_accepted(self, fitted, found):
        check.same_features(fitted, found)

    @pytest.mark.parametrize(
        ("fitted", "found", "words"),
        [
            ("ab", "ac", "the graph has 'c' and lacks 'b';"),
            ("ab", "a", "the graph lacks 'b';"),
            ("a", "ab", "the graph has 'b';"),
            ("ab", "ba", "the graph has them in another order, 'b', 'a';"),
            ("a", "abcdefgh", "has 'b', 'c', 'd', 'e', 'f' and 2 more;"),
        ],
    )
    def test_what_is_new_or_missing_is_named(self, fitted, found, words):
        assert words in refusal(check.same_features, fitted, found)
