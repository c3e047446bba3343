"""One file, one network: by its ending, PyG's among them."""

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.io import savemat

from egoscore.read import Choices, read_network_file


def test_a_plain_dict_of_tensors(tmp_path, said):
    x, y = torch.rand(4, 2), torch.tensor([0, 1, 0, 0])
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    torch.save({"x": x, "edge_index": edge_index, "y": y}, tmp_path / "net.pt")
    reading = read_network_file(tmp_path / "net.pt", Choices(directed=True))
    np.testing.assert_array_equal(reading.graph.features, x)
    assert reading.graph.labels.tolist() == y.tolist()
    assert reading.graph.directed
    assert said(reading, "are the labels of outliers")
    torch.save({"x": x, "edge_index": edge_index, "y": y + 5}, tmp_path / "net.pt")
    assert read_network_file(tmp_path / "net.pt").graph.labels is None


@pytest.mark.parametrize("name", ["net.csv", "net.txt", "net"])
def test_other_endings_are_told_what_there_is(write, refusal, name):
    assert ".graphml" in refusal(read_network_file, write(name, b"x"))


def test_no_file(tmp_path, refusal):
    assert "is not there" in refusal(read_network_file, tmp_path / "net.graphml")
    assert "is a folder" in refusal(read_network_file, tmp_path)


def test_tensors_without_features_have_their_structure(tmp_path, said):
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    for more, size in [({}, 4), ({"num_nodes": 6}, 6), ({"y": torch.zeros(5)}, 5)]:
        torch.save({"edge_index": edge_index, **more}, tmp_path / "net.pt")
        reading = read_network_file(tmp_path / "net.pt")
        assert reading.graph.num_nodes == size
        assert reading.graph.is_structural
        assert said(reading, "structure of the network gives them")


@pytest.mark.parametrize("name", ["edge_attr", "edge_weight"])
def test_values_of_edges_are_told(tmp_path, said, name):
    fields = {"x": torch.rand(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]])}
    torch.save({**fields, name: torch.rand(2)}, tmp_path / "net.pt")
    assert said(read_network_file(tmp_path / "net.pt"), f"the values of '{name}' are not used")


@pytest.mark.parametrize("ending", [".npz", ".mat", ".pt"])
def test_digits_that_float32_has_not_are_kept_beside_an_offset(tmp_path, ending):
    x = np.array([[1_700_000_000.25 + n, n] for n in range(6)])
    edges = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    path = tmp_path / f"net{ending}"
    if ending == ".pt":
        torch.save({"x": torch.tensor(x), "edge_index": torch.tensor(edges)}, path)
    elif ending == ".npz":
        np.savez(path, x=x, edge_index=edges)
    else:
        savemat(path, {"Attributes": x, "Network": nx.to_numpy_array(nx.path_graph(6))})
    graph = read_network_file(path).graph
    np.testing.assert_array_equal(graph.features + graph.offsets, x)
    assert graph.features.dtype == np.float32
