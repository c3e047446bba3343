"""Matrix distance against numpy."""

import numpy as np
import pytest
import torch

from egoscore.compare import binarise, feature_error, structure_error


def padded_pair(sizes, width, columns, seed=0):
    """Two batches (B, width, columns) that differ where nodes are real and are zero elsewhere."""
    random = np.random.default_rng(seed)
    pair = random.normal(size=(2, len(sizes), width, columns))
    for row, size in enumerate(sizes):
        pair[:, row, size:] = 0
        if columns == width:
            pair[:, row, :, size:] = 0
    return pair


def test_feature_error_is_the_frobenius_norm_over_nodes_times_features():
    sizes = [7, 3, 1]
    x, restored = padded_pair(sizes, width=7, columns=4)
    found = feature_error(torch.tensor(x), torch.tensor(restored), torch.tensor(sizes))
    for row, size in enumerate(sizes):
        distance = np.linalg.norm(x[row, :size] - restored[row, :size], "fro")
        assert float(found[row]) == pytest.approx(distance / (size * 4), rel=1e-12)


def test_structure_error_is_the_frobenius_norm_over_squared_nodes():
    sizes = [7, 3, 2]
    adj, restored = padded_pair(sizes, width=7, columns=7)
    found = structure_error(torch.tensor(adj), torch.tensor(restored), torch.tensor(sizes))
    for row, size in enumerate(sizes):
        distance = np.linalg.norm((adj - restored)[row, :size, :size], "fro")
        assert float(found[row]) == pytest.approx(distance / size**2, rel=1e-12)


@pytest.mark.parametrize("error", [feature_error, structure_error])
def test_padding_changes_no_error(error):
    sizes = torch.tensor([5, 2])
    narrow, wide = padded_pair([5, 2], width=5, columns=5), np.zeros((2, 2, 9, 9))
    wide[:, :, :5, :5] = narrow
    if error is feature_error:
        wide = wide[..., :5]
    torch.testing.assert_close(
        error(*torch.tensor(narrow), sizes), error(*torch.tensor(wide), sizes)
    )


@pytest.mark.parametrize("error", [feature_error, structure_error])
def test_what_comes_back_the_same_has_no_error(error):
    value = torch.rand(3, 4, 4)
    assert error(value, value.clone(), torch.tensor([4, 4, 4])).tolist() == [0, 0, 0]


def test_one_wrong_edge_of_an_undirected_graph_counts_both_ways():
    adj = torch.zeros(1, 4, 4)
    restored = adj.clone()
    restored[0, 1, 2] = restored[0, 2, 1] = 1
    found = structure_error(adj, restored, torch.tensor([4]))
    assert float(found) == pytest.approx(2**0.5 / 16)


def test_an_isolated_node_has_a_finite_error():
    one, nothing = torch.tensor([1]), torch.zeros(1, 1, 1)
    assert structure_error(nothing, nothing, one).tolist() == [0.0]
    assert feature_error(torch.full((1, 1, 2), 3.0), torch.zeros(1, 1, 2), one).tolist() == (
        pytest.approx([18**0.5 / 2])
    )


def test_reconstructed_edges_are_rounded_at_one_half():
    values = torch.tensor([[[-2.0, 0.0, 0.4999], [0.5, 0.5001, 1.0], [1.7, 0.9, 0.1]]])
    assert binarise(values).tolist() == [[[0, 0, 0], [1, 1, 1], [1, 1, 0]]]
    assert binarise(values).dtype == torch.float32
