"""Attention on packed ego-graphs and its gradient, against torch, one graph at a time."""

import math

import numpy as np
import pytest
import torch

from egoscore.learn.packed import Packing
from egoscore.learn.packed_attention import attend, attend_back
from egoscore.learn.pairs import pair_order

SIZES = np.array([3, 1, 8, 2, 17, 1, 9, 16, 5, 1])
NOTHING_KEPT = np.empty((0, 0, 0, 0), np.float32)


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
@pytest.mark.parametrize("models", [1, 3])
def test_attention_and_its_gradient(directed, hidden, heads, models):
    packing = Packing.of(SIZES, directed)
    projected = normals(models, 3, hidden, packing.num_rows)  # a third is none of its business
    maps = np.full((models, packing.num_rows, heads, packing.width), np.nan, np.float32)
    means, unkept = np.full((2, models, 2, packing.num_pairs), np.nan, np.float32)
    attend(*packing.how, heads, projected, maps, 1, means)
    attend(*packing.how, heads, projected, NOTHING_KEPT, 1, unkept)
    np.testing.assert_array_equal(unkept, means)
    assert np.isnan(means[:, 0]).all()
    grads = normals(models, 2, packing.num_pairs, seed=5)
    on = np.full(projected.shape, np.nan, np.float32)
    attend_back(*packing.how, heads, projected, maps, 1, grads, on)
    for size, start, pair in zip(packing.sizes, packing.starts, packing.pair_starts, strict=True):
        order = pair_order(int(size), directed, torch.device("cpu"))
        nodes, some = slice(start, start + size), slice(pair, pair + len(order.lower))
        for model in range(models):
            given = [
                torch.from_numpy(part[:, nodes].astype(float)).requires_grad_()
                for part in projected[model, :2]
            ]
            expected = mean_tanh(*given, heads, order, directed)
            found = means[model, 1, some]
            np.testing.assert_allclose(found, expected.detach(), rtol=1e-5, atol=1e-6)
            (expected * torch.from_numpy(grads[model, 1, some])).sum().backward()
            for part, value in zip(on[model], given, strict=False):
                np.testing.assert_allclose(part[:, nodes], value.grad, rtol=1e-4, atol=1e-6)
    assert not on[:, :2, :, packing.end :].any()
    assert np.isnan(on[:, 2]).all()


def test_what_is_no_number_stays_none():
    """A network that has run away must not look as if it had not."""
    packing = Packing.of(np.array([3, 4]), False)
    projected = normals(1, 2, 4, packing.num_rows)
    projected[0, 0, 1, 0] = np.nan
    means = np.empty((1, 1, packing.num_pairs), np.float32)
    attend(*packing.how, 2, projected, NOTHING_KEPT, 0, means)
    assert np.isnan(means[0, 0, :2]).all()  # the pairs of the first node
    assert np.isfinite(means[0, 0, 2:]).all()


def test_graphs_without_any_pair():
    packing = Packing.of(np.ones(5, dtype=np.int64), False)
    none = np.empty((1, 1, 0), np.float32)
    projected = normals(1, 2, 4, packing.num_rows)
    maps, on = np.empty((1, packing.num_rows, 2, 8), np.float32), np.ones_like(projected)
    attend(*packing.how, 2, projected, maps, 0, none)
    attend_back(*packing.how, 2, projected, maps, 0, none, on)
    assert not on.any()
