"""The two score networks of GDSS in the paper's light form: one GCN and one GMH layer.

Jo et al., "Score-based generative modeling of graphs via the system of stochastic differential
equations", 2022. Both networks predict the noise; the score is minus the noise over sigma(t).
They do not depend on the time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from egoscore.detectors.paper.layers import CONVOLUTIONS, Channel, Mlp

NUM_CHANNELS = 2  # A and A²
NUM_OUTPUT_CHANNELS = 4


class Attention(nn.Module):
    """Attention map of one channel: mean over heads of tanh(QKᵀ/√h).

    The values of attention would only feed another layer; there is none, so they are left out.
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
        """The attention map (B, N, N) of a channel with values (B, N, C)."""
        query, key = self._heads(self.query(channel)), self._heads(self.key(channel))
        root = math.sqrt(self.query.bias.shape[0])
        return torch.tanh(query @ key.transpose(-1, -2) / root).mean(dim=1)

    def _heads(self, value: Tensor) -> Tensor:
        """(B, N, h) → (B, heads, N, h / heads)."""
        count, size, _ = value.shape
        return value.view(count, size, self.num_heads, -1).transpose(1, 2)


class FeatureNetwork(nn.Module):
    """H = tanh(GCN(X, A)); [X, H] → MLP of three layers → noise on X."""

    def __init__(
        self, num_inputs: int, num_features: int, hidden_size: int, convolution: str = "gcn"
    ) -> None:
        super().__init__()
        joined = num_inputs + hidden_size
        self.convolution = CONVOLUTIONS[convolution](num_inputs, hidden_size)
        self.mlp = Mlp(joined, 2 * joined, 2 * joined, num_features)

    def forward(self, channel: Channel, mask: Tensor) -> Tensor:
        """The channel of A with values (B, N, C), mask (B, N) → (B, N, F), zero where padded."""
        joined = torch.cat([channel.x, torch.tanh(self.convolution(channel))], dim=-1)
        out: Tensor = self.mlp(joined)
        return out * mask.unsqueeze(-1)


class AdjacencyNetwork(nn.Module):
    """Attention maps of A and A², mixed pair by pair → noise on A."""

    def __init__(
        self,
        num_inputs: int,
        hidden_size: int,
        directed: bool,
        convolution: str = "gcn",
        num_heads: int = 4,
    ) -> None:
        super().__init__()
        self.directed = directed
        self.attention = nn.ModuleList(
            Attention(num_inputs, hidden_size, num_heads, convolution) for _ in range(NUM_CHANNELS)
        )
        wide = 2 * max(NUM_CHANNELS, NUM_OUTPUT_CHANNELS)
        self.mix = Mlp(2 * NUM_CHANNELS, wide, NUM_OUTPUT_CHANNELS)
        joined = NUM_CHANNELS + NUM_OUTPUT_CHANNELS
        self.final = Mlp(joined, 2 * joined, 2 * joined, 1)

    def forward(
        self, matrices: Sequence[Tensor], channels: Sequence[Channel], mask: Tensor
    ) -> Tensor:
        """A and A² (B, N, N) with their channels, mask (B, N) → (B, N, N), zero where padded."""
        maps = [attend(view) for attend, view in zip(self.attention, channels, strict=True)]
        if not self.directed:
            maps = [(values + values.transpose(1, 2)) / 2.0 for values in maps]
        mixed = self.mix(torch.stack([*maps, *matrices], dim=-1))  # (B, N, N, 4)
        if not self.directed:
            mixed = mixed + mixed.transpose(1, 2)
        joined = torch.cat([torch.stack(list(matrices), dim=-1), mixed], dim=-1)  # (B, N, N, 6)
        out: Tensor = self.final(joined).squeeze(-1)
        off_diagonal = 1.0 - torch.eye(out.shape[-1], dtype=out.dtype, device=out.device)
        return out * off_diagonal * mask.unsqueeze(-1) * mask.unsqueeze(-2)
