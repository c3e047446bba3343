"""Graph multi-head attention."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from egoscore.learn.layers import CONVOLUTIONS, Channel


class Attention(nn.Module):
    """Attention map of one channel: mean over heads of tanh(QKᵀ/√h).

    The values of the attention would only feed a next layer; there is none, so they are absent.
    """

    def __init__(
        self, num_inputs: int, hidden_size: int, num_heads: int, convolution: str = "gcn"
    ) -> None:
        super().__init__()
        if hidden_size % num_heads:
            raise ValueError(
                f"The hidden size must be a multiple of {num_heads}, the number of heads (found "
                f"{hidden_size})."
            )
        self.num_heads = num_heads
        layer = CONVOLUTIONS[convolution]
        self.query = layer(num_inputs, hidden_size)
        self.key = layer(num_inputs, hidden_size)

    def forward(self, channel: Channel) -> Tensor:
        """The map (B, N, N)."""
        query, key = self._heads(self.query(channel)), self._heads(self.key(channel))
        root = math.sqrt(self.query.bias.shape[0])
        return torch.tanh(query @ key.transpose(-1, -2) / root).mean(dim=1)

    def _heads(self, value: Tensor) -> Tensor:
        """(B, N, h) → (B, heads, N, h / heads)."""
        count, size, _ = value.shape
        return value.view(count, size, self.num_heads, -1).transpose(1, 2)
