"""Packed ego-graphs against dense matrices, one graph at a time."""

import math

import numpy as np
import pytest
import torch

from egoscore.learn.layers import propagation
from egoscore.learn.packed import (
    Packing,
    attend,
    attend_back,
    look_around,
    pack_nodes,
    pack_pairs,
    same_sizes,
)
from egoscore.learn.pairs import pair_order

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
    look_around(*packing.how, pairs, rows, around, squared)
    for nodes, some, order in each(packing):
        adj = order.unpack(torch.from_numpy(pairs[some]).unsqueeze(0))
        power = adj @ adj
        np.testing.assert_allclose(squared[some], order.pack(power)[0], rtol=1e-5, atol=1e-5)
        for found, matrix in zip(around, (adj, power), strict=True):
            expected = propagation(matrix)[0] @ torch.from_numpy(rows[nodes])
            np.testing.assert_allclose(found[nodes], expected, rtol=1e-5, atol=1e-5)
    assert not around[:, packing.end :].any()


def mean_tanh(query, key, heads, order, directed):
    """The attention of one graph at its pairs, as plain as it can be written: (h, n) each."""
    root, depth = math.sqrt(len(query)), len(query) // heads
    maps = [
        torch.tanh(query[a : a + depth].T @ key[a : a + depth] / root)
        for a in range(0, len(query), depth)
    ]
    mean = torch.stack(maps).mean(dim=0)
    mean = mean if directed else (mean + mean.T) / 2
    return order.pack(mean.unsqueeze(0))[0]


@both_kinds
@pytest.mark.parametrize(("hidden", "heads"), [(4, 4), (12, 4), (6, 1), (32, 4)])
def test_attention_and_its_gradient(directed, hidden, heads):
    packing = Packing.of(SIZES, directed)
    query, key = normals(2, hidden, packing.num_rows)
    maps = np.full((packing.num_rows, heads, packing.width), np.nan, np.float32)
    means, unkept = np.full((2, packing.num_pairs), np.nan, np.float32)
    attend(*packing.how, heads, query, key, maps, means)
    attend(*packing.how, heads, query, key, np.empty((0, 0, 0), np.float32), unkept)
    np.testing.assert_array_equal(unkept, means)
    grad, on = normals(packing.num_pairs, seed=5), np.full((2, *query.shape), np.nan, np.float32)
    attend_back(*packing.how, heads, query, key, maps, grad, *on)
    for nodes, some, order in each(packing):
        given = [torch.from_numpy(v[:, nodes].astype(float)).requires_grad_() for v in (query, key)]
        expected = mean_tanh(*given, heads, order, directed)
        np.testing.assert_allclose(means[some], expected.detach(), rtol=1e-5, atol=1e-6)
        (expected * torch.from_numpy(grad[some])).sum().backward()
        for found, value in zip(on, given, strict=True):
            np.testing.assert_allclose(found[:, nodes], value.grad, rtol=1e-4, atol=1e-6)
    assert not on[:, :, packing.end :].any()


def test_graphs_without_any_pair():
    packing = Packing.of(np.ones(5, dtype=np.int64), False)
    rows, none = normals(packing.num_rows, 3), np.empty(0, np.float32)
    around = np.empty((2, *rows.shape), np.float32)
    look_around(*packing.how, none, rows, around, none)
    np.testing.assert_allclose(around[0, :5], rows[:5])
    query, key = normals(2, 4, packing.num_rows)
    maps, on = np.empty((packing.num_rows, 2, 8), np.float32), np.ones((2, 4, 13), np.float32)
    attend(*packing.how, 2, query, key, maps, none)
    attend_back(*packing.how, 2, query, key, maps, none, *on)
    assert not on.any()
