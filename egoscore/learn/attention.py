"""Graph multi-head attention at chosen pairs of nodes, forward and backward."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from egoscore.learn.layers import CONVOLUTIONS, Channel
from egoscore.learn.pairs import RealPairs


class Attention(nn.Module):
    """Attention map of one channel: mean over heads of tanh(QKᵀ/√h), at real pairs of nodes.

    The values of the attention would only feed a next layer; there is none, so they are absent.
    """

    def __init__(
        self, num_inputs: int, hidden_size: int, num_heads: int, convolution: str = "gcn"
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        layer = CONVOLUTIONS[convolution]
        self.query = layer(num_inputs, hidden_size)
        self.key = layer(num_inputs, hidden_size)

    def forward(self, channel: Channel, pairs: RealPairs) -> Tensor:
        """At real pairs (R,), the mean of both directions where they are one pair."""
        heads = torch.stack([self._heads(self.query(channel)), self._heads(self.key(channel))])
        out: Tensor = _MeanTanh.apply(heads, pairs)  # type: ignore[no-untyped-call]
        return out

    def _heads(self, value: Tensor) -> Tensor:
        """(B, N, h) → (B, heads, N, h / heads)."""
        count, size, _ = value.shape
        return value.view(count, size, self.num_heads, -1).transpose(1, 2)


class _MeanTanh(torch.autograd.Function):
    """Mean over heads of tanh(QKᵀ/√h): queries and keys (2, B, heads, N, h / heads) → (R,).

    Autograd would keep three tensors of all maps and pass over them a dozen times.
    """

    @staticmethod
    def forward(ctx: Any, heads: Tensor, pairs: RealPairs) -> Tensor:
        query, key = heads
        _, num_heads, _, width = query.shape
        maps = query @ key.transpose(-1, -2)
        maps.mul_(1.0 / math.sqrt(num_heads * width)).tanh_()
        ctx.save_for_backward(query, key, maps)
        ctx.pairs = pairs
        return pairs.pack_mean(maps.sum(dim=1)).div_(num_heads)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        query, key, maps = ctx.saved_tensors
        _, num_heads, _, width = query.shape
        directions = 1 if ctx.pairs.back is None else 2
        scale = 1.0 / (directions * num_heads * math.sqrt(num_heads * width))
        spread = ctx.pairs.unpack(grad * scale).unsqueeze(1)
        through = torch.addcmul(spread, maps.square(), spread, value=-1.0)  # (1 - tanh²)·grad
        return torch.stack([through @ key, through.transpose(-1, -2) @ query]), None
