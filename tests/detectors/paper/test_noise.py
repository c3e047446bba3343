"""Noise in the shape of ego-graphs."""

import numpy as np
import pytest
import torch
from scipy import stats

from egoscore.detectors.paper.noise import EgoNoise, pair_order
from egoscore.random import Keys, Purpose

X, ADJ = Purpose.FORWARD_FEATURES, Purpose.FORWARD_ADJACENCY


def ego_noise(sizes, directed=False, num_features=3, seed=0, **keys):
    """Noise for ego-graphs of these sizes: nodes 0, 1, …, level 0, sample 0, unless given."""
    sizes = np.asarray(sizes, dtype=np.int64)
    keys = {"node": np.arange(len(sizes)), "level": 0, "sample": 0} | keys
    columns = {name: np.zeros_like(sizes) + part for name, part in keys.items()}
    return EgoNoise(Keys(seed, **columns), sizes, num_features, directed, torch.device("cpu"))


def off_diagonal(adj):
    """Upper and lower entries of the matrices (B, N, N), in matching order."""
    rows, columns = np.triu_indices(adj.shape[1], k=1)
    return adj[:, rows, columns].numpy().ravel(), adj[:, columns, rows].numpy().ravel()


def correlation(first, second):
    return np.corrcoef(first.numpy().ravel(), second.numpy().ravel())[0, 1]


def test_undirected_noise_is_symmetric_with_a_zero_diagonal():
    adj = ego_noise([6, 6, 4]).adjacency(ADJ, 0, 6)
    assert torch.equal(adj, adj.transpose(1, 2))
    assert not adj.diagonal(dim1=1, dim2=2).any()


def test_directed_noise_has_independent_entries_and_a_zero_diagonal():
    adj = ego_noise([20] * 400, directed=True).adjacency(ADJ, 0, 20)
    assert not adj.diagonal(dim1=1, dim2=2).any()
    upper, lower = off_diagonal(adj)
    assert abs(np.corrcoef(upper, lower)[0, 1]) < 4 / np.sqrt(len(upper))
    assert abs(np.corrcoef(upper**2, lower**2)[0, 1]) < 4 / np.sqrt(len(upper))
    for side in (upper, lower):
        assert stats.kstest(side, "norm").pvalue > 0.01


@pytest.mark.parametrize("directed", [False, True])
def test_every_pair_has_noise_of_its_own(directed):
    upper, lower = off_diagonal(ego_noise([30], directed=directed).adjacency(ADJ, 0, 30))
    entries = np.concatenate([upper, lower]) if directed else upper
    assert len(set(entries.tolist())) == len(entries)
    assert entries.all()


def test_noise_is_standard_normal():
    noise = ego_noise([20] * 500)
    upper, _ = off_diagonal(noise.adjacency(ADJ, 0, 20))
    for values in (noise.features(X, 0, 20).numpy().ravel(), upper):
        assert values.var() == pytest.approx(1, abs=4 * np.sqrt(2 / len(values)))
        assert stats.kstest(values, "norm").pvalue > 0.01


def test_entries_of_different_pairs_are_independent():
    adj = ego_noise([4] * 20_000).adjacency(ADJ, 0, 4)
    rows, columns = np.triu_indices(4, k=1)
    correlations = np.corrcoef(adj[:, rows, columns].numpy().T)[np.triu_indices(6, k=1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(20_000)


@pytest.mark.parametrize("directed", [False, True])
def test_padding_is_exactly_zero_and_nothing_else_is(directed):
    sizes = [1, 2, 5, 8]
    noise = ego_noise(sizes, directed=directed)
    x, adj = noise.features(X, 0, 8), noise.adjacency(ADJ, 0, 8)
    for row, size in enumerate(sizes):
        assert x[row, :size].all()
        assert not x[row, size:].any()
        expected = np.zeros((8, 8), dtype=bool)
        expected[:size, :size] = ~np.eye(size, dtype=bool)
        assert np.array_equal(adj[row] != 0, expected)


@pytest.mark.parametrize("directed", [False, True])
def test_noise_does_not_depend_on_width_or_batch(directed):
    sizes, nodes = [3, 5, 9, 5], np.array([8, 1, 70, 33])
    together = ego_noise(sizes, directed, node=nodes)
    x, adj = together.features(X, 4, 12), together.adjacency(ADJ, 4, 12)
    for row, size in enumerate(sizes):
        alone = ego_noise([size], directed, node=nodes[row])
        assert torch.equal(alone.features(X, 4, size)[0], x[row, :size])
        assert torch.equal(alone.adjacency(ADJ, 4, size)[0], adj[row, :size, :size])


def test_the_first_chains_keep_their_noise():
    noise = ego_noise([4, 6, 3], node=np.array([5, 2, 9]))
    assert torch.equal(noise.first(2).features(X, 0, 6), noise.features(X, 0, 6)[:2])
    assert torch.equal(noise.first(2).adjacency(ADJ, 0, 6), noise.adjacency(ADJ, 0, 6)[:2])
    assert torch.equal(noise.first(3).adjacency(ADJ, 0, 6), noise.adjacency(ADJ, 0, 6))


@pytest.mark.parametrize("part", ["level", "sample", "node"])
def test_levels_samples_and_nodes_each_have_their_own_noise(part):
    # The first sample's noise was once the same at all levels.
    noises = [ego_noise([100], num_features=50, **({"node": 3} | {part: i})) for i in (0, 1, 2)]
    drawn_x = [noise.features(X, 0, 100) for noise in noises]
    drawn_adj = [noise.adjacency(ADJ, 0, 100) for noise in noises]
    for first, *others in (drawn_x, drawn_adj):
        for other in others:
            assert abs(correlation(first, other)) < 4 / np.sqrt(4950)


def test_steps_and_seeds_have_their_own_noise():
    noise, reseeded = (ego_noise([100], num_features=50, seed=seed) for seed in (0, 1))
    here = noise.features(X, 0, 100)
    for other in (noise.features(X, 1, 100), reseeded.features(X, 0, 100)):
        assert abs(correlation(here, other)) < 4 / np.sqrt(5000)


def test_an_ego_graph_of_one_node_has_noise_on_its_features_only():
    noise = ego_noise([1])
    assert noise.features(X, 0, 1).all()
    assert noise.adjacency(ADJ, 0, 1).tolist() == [[[0.0]]]


CPU = torch.device("cpu")


def matrices(size, directed):
    generator = torch.Generator().manual_seed(size)
    matrix = torch.randn(3, size, size, generator=generator)
    matrix = matrix if directed else matrix + matrix.transpose(1, 2)
    return matrix * (1 - torch.eye(size))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_packing_and_unpacking_keeps_everything_once(size, directed):
    matrix, order = matrices(size, directed), pair_order(size, directed, CPU)
    pairs = order.pack(matrix)
    assert pairs.shape == (3, size * (size - 1) // (1 if directed else 2))
    assert torch.equal(order.unpack(pairs), matrix)


def test_the_order_is_that_of_the_noise():
    order = pair_order(3, False, CPU)
    assert order.lower.tolist() == [3, 6, 7]  # (1, 0), (2, 0), (2, 1)
    both = pair_order(3, True, CPU)
    assert both.lower.tolist() == [3, 1, 6, 2, 7, 5]  # each followed by its reverse


def test_an_order_first_used_in_inference_mode_can_be_trained_with():
    pair_order.cache_clear()
    with torch.inference_mode():
        pair_order(4, False, CPU)
    matrix = matrices(4, False).requires_grad_()
    pair_order(4, False, CPU).pack(matrix).sum().backward()
    assert matrix.grad.sum() == 3 * 6
