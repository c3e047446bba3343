"""Whatever holds a graph is understood, whatever does not is refused."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from egoscore.errors import InputError
from egoscore.graph import AttributedGraph
from egoscore.graph.attributed_graph import as_graph

X = np.array([[1.0], [2.0], [4.0]])
EDGES = np.array([[0, 2], [1, 1]])


def pyg_data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = pytest.importorskip("torch_geometric.data").Data
    return data(x=torch.tensor(X), edge_index=torch.tensor(EDGES))


def networkx_graph(kind):
    graph = kind()
    graph.add_nodes_from((node, {"x": X[node]}) for node in range(3))
    graph.add_edges_from(EDGES.T.tolist())
    return graph


def matrix():
    return sparse.csr_array((np.ones(2), EDGES), shape=(3, 3))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        pyg_data,
        lambda: (matrix(), X),
        lambda: (EDGES, X),
        lambda: (torch.tensor(EDGES), torch.tensor(X)),
        lambda: (EDGES.tolist(), X.tolist()),
    ],
    ids=["pyg", "scipy", "arrays", "tensors", "lists"],
)
def test_what_does_not_know_its_direction_is_read_as_told(make, directed):
    expected = AttributedGraph.from_edges(EDGES, X, directed).fingerprint()
    assert as_graph(make(), directed).fingerprint() == expected


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize(("kind", "directed"), [(nx.Graph, False), (nx.DiGraph, True)])
def test_what_knows_its_direction_is_not_told(kind, directed, told):
    expected = AttributedGraph.from_edges(EDGES, X, directed)
    assert as_graph(networkx_graph(kind), told).fingerprint() == expected.fingerprint()
    assert as_graph(expected, told) is expected


TABLES = {"source": ["a", "b"], "target": ["b", "c"]}, {"id": list("abc"), "x": [1.0, 2.0, 4.0]}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_data_frames_are_edges_and_nodes(make, directed):
    both = tuple(make(table) for table in TABLES)
    expected = AttributedGraph.from_edges([[0, 1], [1, 2]], X, directed)
    assert as_graph(both, directed).fingerprint() == expected.fingerprint()
    alone = AttributedGraph.from_tables(TABLES[0], directed=directed)
    assert as_graph(both[0], directed).fingerprint() == alone.fingerprint()


@pytest.mark.parametrize("name", ["edge_index", "nodes", "is_directed", "tocoo"])
def test_a_column_with_the_name_of_an_attribute_is_a_column(name):
    edges = pd.DataFrame(TABLES[0]).assign(**{name: [1.0, 2.0]})
    assert as_graph((edges, pd.DataFrame(TABLES[1]))).num_nodes == 3
    assert any(name in title for title in as_graph(edges).feature_names)


def test_features_may_be_a_data_frame_beside_a_matrix_or_array():
    frame = pd.DataFrame(X, columns=["height"])
    for structure in (matrix(), EDGES):
        assert as_graph((structure, frame)).num_features == 1


@pytest.mark.parametrize("data", [None, "builtin", [EDGES, X], (EDGES,), (EDGES, X, X), X])
def test_anything_else_is_refused_by_its_type(data):
    with pytest.raises(InputError, match=rf"\(found {type(data).__name__}\)\.$") as caught:
        as_graph(data)
    for kind in ("AttributedGraph", "PyG Data", "networkx", "data frames", "scipy", "(2, E)"):
        assert kind in str(caught.value)
