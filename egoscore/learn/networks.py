"""The two score networks of GDSS in the paper's light form: one GCN and one GMH layer.

Jo et al., "Score-based generative modeling of graphs via the system of stochastic differential
equations", 2022. Both networks predict the noise; the score is minus that over sigma(t). They are
not told the time.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from egoscore.learn.layers import GraphConvolution, Mlp, around, where_real
from egoscore.learn.pairs import pair_order

NUM_CHANNELS = 2  # A and A²
NUM_OUTPUT_CHANNELS = 4


class FeatureNetwork(nn.Module):
    """H = tanh(GCN(X, A)); [X, H] → MLP of three layers → noise on X."""

    def __init__(self, num_features: int, hidden_size: int) -> None:
        super().__init__()
        joined = num_features + hidden_size
        self.convolution = GraphConvolution(num_features, hidden_size)
        self.mlp = Mlp(joined, 2 * joined, 2 * joined, num_features)

    def forward(self, x: Tensor, adj: Tensor, mask: Tensor) -> Tensor:
        """x (B, N, F), adj (B, N, N), mask (B, N) → (B, N, F)."""
        hidden = torch.tanh(self.convolution(around(x, adj)))
        return where_real(self.mlp, torch.cat([x, hidden], dim=-1), mask)


class Attention(nn.Module):
    """Graph multi-head attention map of one channel: mean over heads of tanh(QKᵀ/√h).

    The values of the attention would only feed a next layer; there is none, so they are absent.
    """

    def __init__(self, num_features: int, hidden_size: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = GraphConvolution(num_features, hidden_size)
        self.key = GraphConvolution(num_features, hidden_size)

    def forward(self, x: Tensor, channel: Tensor) -> Tensor:
        """x (B, N, F), channel (B, N, N) → (B, N, N)."""
        seen = around(x, channel)
        query, key = self._heads(self.query(seen)), self._heads(self.key(seen))
        hidden_size = self.query.bias.shape[0]
        logits = query @ key.transpose(-1, -2) / math.sqrt(hidden_size)  # (B, heads, N, N)
        return torch.tanh(logits).mean(dim=1)

    def _heads(self, value: Tensor) -> Tensor:
        """(B, N, h) → (B, heads, N, h / heads)."""
        count, size, _ = value.shape
        return value.view(count, size, self.num_heads, -1).transpose(1, 2)


class AdjacencyNetwork(nn.Module):
    """Attention maps of A and A², mixed pair by pair → noise on A."""

    def __init__(
        self, num_features: int, hidden_size: int, directed: bool, num_heads: int = 4
    ) -> None:
        super().__init__()
        self.directed = directed
        self.attention = nn.ModuleList(
            Attention(num_features, hidden_size, num_heads) for _ in range(NUM_CHANNELS)
        )
        wide = 2 * max(NUM_CHANNELS, NUM_OUTPUT_CHANNELS)
        self.mix = Mlp(2 * NUM_CHANNELS, wide, NUM_OUTPUT_CHANNELS)
        joined = NUM_CHANNELS + NUM_OUTPUT_CHANNELS
        self.final = Mlp(joined, 2 * joined, 2 * joined, 1)

    def forward(self, x: Tensor, adj: Tensor, mask: Tensor) -> Tensor:
        """x (B, N, F), adj (B, N, N), mask (B, N) → (B, N, N) with a zero diagonal."""
        order = pair_order(adj.shape[-1], self.directed, adj.device)
        matrices = [adj, adj @ adj]
        maps = [attend(x, c) for attend, c in zip(self.attention, matrices, strict=True)]
        channels = [order.pack(c) for c in matrices]
        real = order.pack(mask.unsqueeze(-1) * mask.unsqueeze(-2))
        if self.directed:
            inputs = torch.stack([*map(order.pack, maps), *channels], dim=-1)  # (B, P, 4)
            mixed = where_real(self.mix, inputs, real)
        else:
            # both directions of a pair get the same; GDSS adds them up
            inputs = torch.stack([*map(order.pack_mean, maps), *channels], dim=-1)
            mixed = 2 * where_real(self.mix, inputs, real)
        joined = torch.cat([torch.stack(channels, dim=-1), mixed], dim=-1)  # (B, P, 6)
        return order.unpack(where_real(self.final, joined, real).squeeze(-1))
