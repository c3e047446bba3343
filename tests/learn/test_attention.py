"""Attention against its formula."""

import math

import pytest
import torch
from torch import nn

from egoscore.learn.attention import Attention
from egoscore.learn.layers import Channel


def attention(num_heads):
    layer = Attention(3, 6, num_heads).double()
    for number, parameter in enumerate(layer.parameters()):
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(number))
    return layer


@pytest.mark.parametrize("num_heads", [1, 2, 3])
def test_it_is_the_mean_over_heads_of_tanh(num_heads):
    x = torch.randn(3, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    seen = Channel(x, torch.eye(5, dtype=x.dtype).expand(3, -1, -1), x)  # a node sees itself only
    layer, width = attention(num_heads), 6 // num_heads
    query, key = layer.query(seen), layer.key(seen)
    maps = [
        torch.tanh(query[..., a : a + width] @ key[..., a : a + width].mT / math.sqrt(6))
        for a in range(0, 6, width)
    ]
    torch.testing.assert_close(layer(seen), torch.stack(maps).mean(dim=0))


def test_a_hidden_size_that_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match=r"multiple of 4, the number of heads \(found 6\)"):
        Attention(3, 6, 4)
