"""Matrix distance and energy, against numpy and networkx."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from egoscore.detectors.paper.compare import (
    binarise,
    feature_error,
    normalised_energy,
    structure_error,
)


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


def energy(x, adj, dtype=torch.float64):
    """Of one graph given as arrays."""
    found = normalised_energy(
        torch.tensor(x, dtype=dtype)[None], torch.tensor(adj, dtype=dtype)[None]
    )
    assert found.shape == (1,)
    return float(found[0])


def expected_energy(x, adj):
    """trace(Xᵀ L X) / ‖X‖² with networkx's Laplacian of the symmetrised graph."""
    graph = nx.from_numpy_array((adj + adj.T) / 2)
    laplacian = nx.normalized_laplacian_matrix(graph).toarray()
    return np.trace(x.T @ laplacian @ x) / np.sum(x**2)


def random_graph(size, density, directed, seed):
    """Random edges and features; the last node is always isolated."""
    random = np.random.default_rng(seed)
    adj = (random.random((size, size)) < density) * (1.0 - np.eye(size))
    adj[-1] = adj[:, -1] = 0
    if not directed:
        adj = np.maximum(np.triu(adj), np.triu(adj).T)
    return random.normal(0.5, 1.0, (size, 3)), adj


graphs = st.builds(
    random_graph,
    st.integers(2, 12),
    st.floats(0, 1),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)


@given(graphs)
@settings(deadline=None, max_examples=100)
def test_energy_is_the_trace_with_networkx_laplacian(graph):
    assert energy(*graph) == pytest.approx(expected_energy(*graph), rel=1e-9, abs=1e-12)


@given(graphs)
@settings(deadline=None, max_examples=50)
def test_energy_lies_between_zero_and_two(graph):
    assert 0 <= energy(*graph, dtype=torch.float32) <= 2 * (1 + 1e-6)


def test_opposite_features_across_one_edge_reach_the_upper_bound():
    assert energy([[1.0], [-1.0]], [[0.0, 1.0], [1.0, 0.0]]) == pytest.approx(2)


def test_features_in_proportion_to_the_root_of_the_degree_have_no_energy():
    _, adj = random_graph(8, 0.5, False, seed=1)
    x = np.sqrt(adj.sum(axis=1))[:, None] * [1.0, -2.0]
    assert energy(x, adj) == pytest.approx(0, abs=1e-12)
    assert energy(x, adj, torch.float32) >= 0


def test_a_directed_edge_counts_half_of_an_undirected_one():
    # 0 → 1 alone is as smooth as both ways: the Laplacian is normalised …
    x = np.array([[1.0], [2.0], [4.0]])
    one_way = np.array([[0.0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert energy(x, one_way) == pytest.approx(energy(x, one_way + one_way.T))
    # … but beside an edge that goes both ways it weighs half.
    mixed = np.array([[0.0, 1, 0], [0, 0, 1], [0, 1, 0]])
    halves = np.array([[0.0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]])
    assert energy(x, mixed) == pytest.approx(energy(x, halves))
    assert energy(x, mixed) == pytest.approx(energy(x, mixed.T))
    assert energy(x, mixed) == pytest.approx(expected_energy(x, mixed))


def test_features_that_are_all_zero_have_no_energy():
    _, adj = random_graph(6, 0.8, False, seed=2)
    assert energy(np.zeros((6, 3)), adj) == 0


def test_a_single_node_has_no_energy():
    assert energy([[3.0, -1.0]], [[0.0]]) == 0


def test_isolated_nodes_add_to_the_norm_only():
    x = np.array([[1.0], [-1.0], [5.0]])
    adj = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    # (1 - (-1))² over ‖x‖² = 27
    assert energy(x, adj) == pytest.approx(4 / 27)


@pytest.mark.parametrize("directed", [False, True])
def test_padding_changes_no_energy(directed):
    sizes, width = [2, 5, 9], 12
    x, adj = np.zeros((3, width, 3)), np.zeros((3, width, width))
    alone = []
    for row, size in enumerate(sizes):
        graph = random_graph(size, 0.6, directed, seed=row)
        x[row, :size], adj[row, :size, :size] = graph
        alone.append(energy(*graph))
    found = normalised_energy(torch.tensor(x), torch.tensor(adj))
    np.testing.assert_allclose(found, alone, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_energy_does_not_depend_on_the_scale_of_the_features(scale):
    x, adj = random_graph(7, 0.5, False, seed=4)
    assert energy(scale * x, adj, torch.float32) == pytest.approx(energy(x, adj), rel=1e-5)


def test_the_scale_of_the_features_plays_no_part_however_large():
    x = torch.tensor([[[1.0], [2.0], [-1.0]]])
    adj = torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
    expected = normalised_energy(x, adj)
    for scale in (1e-20, 1e20, 1e37):
        torch.testing.assert_close(normalised_energy(x * scale, adj), expected)
