"""Whatever holds a graph is understood, whatever does not is refused."""

import warnings

import networkx as nx
import numpy as np
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


@pytest.mark.parametrize("data", [None, "builtin", [EDGES, X], (EDGES,), (EDGES, X, X), X])
def test_anything_else_is_refused_by_its_type(data):
    with pytest.raises(InputError, match=rf"\(found {type(data).__name__}\)\.$") as caught:
        as_graph(data)
    for kind in ("AttributedGraph", "PyG Data", "networkx", "scipy", "(2, E)"):
        assert kind in str(caught.value)
