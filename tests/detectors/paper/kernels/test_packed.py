"""Packed ego-graphs against dense matrices, one graph at a time."""

import numpy as np
import pytest
import torch

from egoscore.detectors.paper.kernels.packed import (
    Packing,
    pack_nodes,
    pack_pairs,
    propagate,
    same_sizes,
)
from egoscore.detectors.paper.networks import propagation
from egoscore.detectors.paper.noise import pair_order

SIZES = np.array([3, 1, 8, 2, 17, 1, 9, 16, 5, 1])
CPU = torch.device("cpu")
both_kinds = pytest.mark.parametrize("directed", [False, True])


def normals(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def each(packing):
    """For every graph its nodes, its pairs and their order."""
    for size, start, pair in zip(packing.sizes, packing.starts, packing.pair_starts, strict=True):
        order = pair_order(int(size), packing.directed, CPU)
        yield slice(start, start + size), slice(pair, pair + len(order.lower)), order


@both_kinds
def test_graphs_stand_one_after_the_other(directed):
    packing = Packing.of(SIZES, directed)
    nodes, pairs = zip(*((n, p) for n, p, _ in each(packing)), strict=True)
    assert np.concatenate([np.r_[n] for n in nodes]).tolist() == list(range(SIZES.sum()))
    assert np.concatenate([np.r_[p] for p in pairs]).tolist() == list(range(packing.num_pairs))
    assert (packing.end, packing.num_rows, packing.width) == (SIZES.sum(), SIZES.sum() + 8, 24)


def test_equal_sizes():
    packing = same_sizes(3, 4, False)
    assert packing.sizes.tolist() == [4, 4, 4]
    assert packing.pair_starts.tolist() == [0, 6, 12]


@both_kinds
def test_packing_takes_real_nodes_and_pairs_and_adds_the_noise(directed):
    packing, count, size = Packing.of(SIZES, directed), len(SIZES), int(SIZES.max())
    clean, noise, adj = (
        normals(count, size, 5), normals(count, size, 3, seed=1), normals(count, size, size, seed=2)
    )  # fmt: skip
    drawn_pairs = normals(count, size * (size - 1), seed=3)
    keep, spread = np.random.default_rng(4).random((2, count)).astype(np.float32)
    rows, columns = np.zeros((packing.num_rows, 5), np.float32), np.zeros((5, 200), np.float32)
    drawn = np.zeros((3, packing.num_rows), np.float32)
    pairs, kept = np.empty((2, packing.num_pairs), np.float32)
    pack_nodes(packing.sizes, packing.starts, clean, noise, keep, spread, rows, columns, drawn)
    given = packing.sizes, packing.pair_starts, adj, drawn_pairs, keep, spread, directed
    pack_pairs(*given, pairs, kept)
    for b, (nodes, some, order) in enumerate(each(packing)):
        n = SIZES[b]
        expected = clean[b, :n].copy()
        expected[:, :3] = keep[b] * clean[b, :n, :3] + spread[b] * noise[b, :n]
        np.testing.assert_allclose(rows[nodes], expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(columns[:, nodes].T, rows[nodes])
        np.testing.assert_array_equal(drawn[:, nodes].T, noise[b, :n])
        z = drawn_pairs[b, : len(order.lower)]
        packed = order.pack(torch.from_numpy(adj[b : b + 1, :n, :n].copy()))[0].numpy()
        np.testing.assert_allclose(pairs[some], keep[b] * packed + spread[b] * z, atol=1e-6)
        np.testing.assert_array_equal(kept[some], z)
    assert not rows[packing.end :].any()
    assert not columns[:, packing.end :].any()


@both_kinds
@pytest.mark.parametrize("width", [1, 8, 11])
def test_looking_around_is_the_propagation_of_both_powers(directed, width):
    packing = Packing.of(SIZES, directed)
    pairs, rows = normals(packing.num_pairs), normals(packing.num_rows, width, seed=1)
    around = np.full((2, packing.num_rows, width), np.nan, np.float32)
    squared = np.full(packing.num_pairs, np.nan, np.float32)
    propagate(*packing.layout, pairs, rows, around, squared)
    for nodes, some, order in each(packing):
        adj = order.unpack(torch.from_numpy(pairs[some]).unsqueeze(0))
        power = adj @ adj
        np.testing.assert_allclose(squared[some], order.pack(power)[0], rtol=1e-5, atol=1e-5)
        for found, matrix in zip(around, (adj, power), strict=True):
            expected = propagation(matrix)[0] @ torch.from_numpy(rows[nodes])
            np.testing.assert_allclose(found[nodes], expected, rtol=1e-5, atol=1e-5)
    assert not around[:, packing.end :].any()


def test_graphs_without_any_pair():
    packing = Packing.of(np.ones(5, dtype=np.int64), False)
    rows, none = normals(packing.num_rows, 3), np.empty(0, np.float32)
    around = np.empty((2, *rows.shape), np.float32)
    propagate(*packing.layout, none, rows, around, none)
    np.testing.assert_allclose(around[0, :5], rows[:5])
