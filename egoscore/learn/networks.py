"""The two score networks of GDSS in the paper's light form: one GCN and one GMH layer.

Jo et al., "Score-based generative modeling of graphs via the system of stochastic differential
equations", 2022. Both networks predict the noise; the score is minus that over sigma(t). They are
not told the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from egoscore.learn.attention import Attention
from egoscore.learn.layers import GraphConvolution, Mlp
from egoscore.learn.pairs import RealPairs

NUM_CHANNELS = 2  # A and A²
NUM_OUTPUT_CHANNELS = 4


class FeatureNetwork(nn.Module):
    """H = tanh(GCN(X, A)); [X, H] → MLP of three layers → noise on X."""

    def __init__(self, num_features: int, hidden_size: int) -> None:
        super().__init__()
        joined = num_features + hidden_size
        self.convolution = GraphConvolution(num_features, hidden_size)
        self.mlp = Mlp(joined, 2 * joined, 2 * joined, num_features)

    def forward(self, x: Tensor, around: Tensor, mask: Tensor) -> Tensor:
        """x and what is around it (B, N, F), mask (B, N) → (B, N, F), zero where padded."""
        real = mask.flatten().nonzero().squeeze(1)
        rows, near = (part.flatten(0, 1).index_select(0, real) for part in (x, around))
        out = self.mlp(torch.cat([rows, torch.tanh(self.convolution(near))], dim=-1))
        return x.new_zeros(x.shape).flatten(0, 1).index_copy(0, real, out).view(x.shape)


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

    def forward(self, channels: Sequence[Tensor], around: Sequence[Tensor], mask: Tensor) -> Tensor:
        """Channels (B, N, N), what is around in each (B, N, F), mask (B, N) → (B, N, N)."""
        pairs = RealPairs.of(mask, self.directed)
        maps = [attend(near, pairs) for attend, near in zip(self.attention, around, strict=True)]
        seen = [pairs.pack(channel) for channel in channels]
        mixed = self.mix(torch.stack([*maps, *seen]).t())  # (R, 4)
        if not self.directed:
            mixed = 2 * mixed  # both directions of a pair get the same; GDSS adds them up
        joined = torch.cat([torch.stack(seen, dim=1), mixed], dim=1)  # (R, 6)
        return pairs.unpack(self.final(joined).squeeze(1))
