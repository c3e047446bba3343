"""One file, one network: by its ending, PyG's among them."""

import numpy as np
import pytest
import torch

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
