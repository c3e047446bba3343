"""Attention on packed ego-graphs and its gradient, against torch, one graph at a time."""

import math

import numpy as np
import pytest
import torch

from egoscore.detectors.paper.kernels.attention import attend, attend_backward
from egoscore.detectors.paper.kernels.packed import Packing
from egoscore.detectors.paper.noise import pair_order

SIZES = np.array([3, 1, 8, 2, 17, 1, 9, 16, 5, 1])


def normals(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


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


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("hidden", "heads"), [(4, 4), (12, 4), (6, 1), (32, 4)])
def test_attention_and_its_gradient(directed, hidden, heads):
    packing = Packing.of(SIZES, directed)
    query, key = normals(2, hidden, packing.num_rows)
    maps = np.full((packing.num_rows, heads, packing.width), np.nan, np.float32)
    means, unkept = np.full((2, packing.num_pairs), np.nan, np.float32)
    attend(*packing.layout, heads, query, key, maps, means)
    attend(*packing.layout, heads, query, key, np.empty((0, 0, 0), np.float32), unkept)
    np.testing.assert_array_equal(unkept, means)
    grad, on = normals(packing.num_pairs, seed=5), np.full((2, *query.shape), np.nan, np.float32)
    attend_backward(*packing.layout, heads, query, key, maps, grad, *on)
    for size, start, pair in zip(packing.sizes, packing.starts, packing.pair_starts, strict=True):
        order = pair_order(int(size), directed, torch.device("cpu"))
        nodes, some = slice(start, start + size), slice(pair, pair + len(order.lower))
        given = [torch.from_numpy(v[:, nodes].astype(float)).requires_grad_() for v in (query, key)]
        expected = mean_tanh(*given, heads, order, directed)
        np.testing.assert_allclose(means[some], expected.detach(), rtol=1e-5, atol=1e-6)
        (expected * torch.from_numpy(grad[some])).sum().backward()
        for found, value in zip(on, given, strict=True):
            np.testing.assert_allclose(found[:, nodes], value.grad, rtol=1e-4, atol=1e-6)
    assert not on[:, :, packing.end :].any()


def test_what_is_no_number_stays_none():
    """A network that has run away must not look as if it had not."""
    packing = Packing.of(np.array([3, 4]), False)
    query, key = normals(2, 4, packing.num_rows)
    query[1, 0] = np.nan
    means = np.empty(packing.num_pairs, np.float32)
    attend(*packing.layout, 2, query, key, np.empty((0, 0, 0), np.float32), means)
    assert np.isnan(means[:2]).all()  # the pairs of the first node
    assert np.isfinite(means[2:]).all()


def test_graphs_without_any_pair():
    packing = Packing.of(np.ones(5, dtype=np.int64), False)
    none = np.empty(0, np.float32)
    query, key = normals(2, 4, packing.num_rows)
    maps, on = np.empty((packing.num_rows, 2, 8), np.float32), np.ones((2, 4, 13), np.float32)
    attend(*packing.layout, 2, query, key, maps, none)
    attend_backward(*packing.layout, 2, query, key, maps, none, *on)
    assert not on.any()
