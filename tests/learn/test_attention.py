"""Attention at real pairs against its formula, and its own backward against differences."""

import math

import pytest
import torch
from torch import nn

from egoscore.learn.attention import Attention
from egoscore.learn.layers import Channel
from egoscore.learn.pairs import RealPairs

MASK = torch.tensor([[1.0] * size + [0.0] * (5 - size) for size in (5, 3, 1)])

both_kinds = pytest.mark.parametrize("directed", [False, True])


def attention(num_heads=2):
    layer = Attention(3, 6, num_heads).double()
    for number, parameter in enumerate(layer.parameters()):
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(number))
    return layer


def channel_of(x):
    """A channel through which a node sees itself only."""
    return Channel(x, torch.eye(x.shape[1], dtype=x.dtype).expand(len(x), -1, -1), x)


def values():
    return torch.randn(3, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(9))


@both_kinds
@pytest.mark.parametrize("num_heads", [1, 2, 3])
def test_it_is_the_mean_over_heads_of_tanh(directed, num_heads):
    layer, seen, pairs = attention(num_heads), channel_of(values()), RealPairs.of(MASK, directed)
    query, key = layer.query(seen), layer.key(seen)
    width = 6 // num_heads
    maps = torch.stack(
        [
            torch.tanh(query[..., a : a + width] @ key[..., a : a + width].mT / math.sqrt(6))
            for a in range(0, 6, width)
        ]
    ).mean(dim=0)
    maps = maps if directed else (maps + maps.mT) / 2
    torch.testing.assert_close(layer(seen, pairs), maps.flatten()[pairs.there])


@both_kinds
def test_its_gradient_is_that_of_differences(directed):
    layer, pairs = attention(), RealPairs.of(MASK, directed)
    names, start = zip(*layer.named_parameters(), strict=True)

    def compute(x, *parameters):
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(layer, given, (channel_of(x), pairs))

    assert torch.autograd.gradcheck(compute, (values().requires_grad_(), *start))


def test_graphs_of_one_node_have_no_pairs_and_no_gradient():
    layer, pairs = attention(), RealPairs.of(torch.ones(4, 1), directed=False)
    out = layer(channel_of(torch.ones(4, 1, 3, dtype=torch.float64)), pairs)
    assert out.shape == (0,)
    out.sum().backward()
    assert not any(p.grad.any() for p in layer.parameters())
