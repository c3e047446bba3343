"""The two score networks of GDSS in the paper's light form: one GCN and one GMH layer.

Jo et al., "Score-based generative modeling of graphs via the system of stochastic differential
equations", 2022. Both networks predict the noise; the score is minus the noise over sigma(t).
They do not depend on the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from egoscore.detectors.neural_networks import Mlp

NUM_CHANNELS = 2  # A and A²
NUM_OUTPUT_CHANNELS = 4


def propagation(adj: Tensor) -> Tensor:
    """D^(-1/2) Ã D^(-1/2) for adjacencies (B, N, N), Ã having ones on its diagonal.

    Kipf & Welling, 2017. Degrees are clamped at 1: noised adjacencies have negative entries.
    """
    looped = adj.clone()
    looped.diagonal(dim1=-2, dim2=-1).fill_(1.0)
    scale = looped.sum(dim=-1).clamp(min=1.0).rsqrt()
    return scale.unsqueeze(-1) * looped * scale.unsqueeze(-2)


@dataclass(frozen=True)
class Channel:
    """Node values X with one of the adjacencies, A or A², as input of graph convolutions.

    Attributes: `x` (B, N, C); `propagation` (B, N, N), the matrix P; `propagated` (B, N, C), P·X,
    which all layers share because it does not depend on weights.
    """

    x: Tensor
    propagation: Tensor
    propagated: Tensor

    @classmethod
    def of(cls, x: Tensor, adj: Tensor) -> Channel:
        """The channel of an adjacency (B, N, N)."""
        matrix = propagation(adj)
        return cls(x, matrix, matrix @ x)


class GraphConvolution(nn.Module):
    """A GCN layer, P·X·W + b: (B, N, in) → (B, N, out)."""

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_inputs, num_outputs))
        self.bias = nn.Parameter(torch.empty(num_outputs))

    def initialise(self, draw: Callable[[Tensor, float], None]) -> None:
        """Glorot's uniform weights, zero bias."""
        draw(self.weight, math.sqrt(6.0 / sum(self.weight.shape)))
        nn.init.zeros_(self.bias)

    def forward(self, channel: Channel) -> Tensor:
        return nn.functional.linear(channel.propagated, self.weight.t(), self.bias)


class GradientFlowConvolution(nn.Module):
    """GRAFF: H ← H + (P·H·W - H·Ω)/2 twice, from H = X·E + b; W symmetric, Ω diagonal.

    Di Giovanni et al., "Understanding convolution on graphs via energies", 2023: the layers
    follow the gradient of an energy; negative eigenvalues of W sharpen, positive ones smooth.
    """

    num_steps = 2

    def __init__(self, num_inputs: int, num_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_inputs, num_outputs))
        self.bias = nn.Parameter(torch.empty(num_outputs))
        self.mixing = nn.Parameter(torch.empty(num_outputs, num_outputs))
        self.damping = nn.Parameter(torch.empty(num_outputs))

    def initialise(self, draw: Callable[[Tensor, float], None]) -> None:
        """Glorot's uniform weights, zero bias, no damping at first."""
        draw(self.weight, math.sqrt(6.0 / sum(self.weight.shape)))
        draw(self.mixing, math.sqrt(6.0 / sum(self.mixing.shape)))
        nn.init.zeros_(self.bias)
        nn.init.zeros_(self.damping)

    def forward(self, channel: Channel) -> Tensor:
        symmetric = (self.mixing + self.mixing.t()) / 2.0
        value = nn.functional.linear(channel.x, self.weight.t(), self.bias)
        for _ in range(self.num_steps):
            flow = channel.propagation @ (value @ symmetric) - value * self.damping
            value = value + flow / self.num_steps
        return value


CONVOLUTIONS: dict[str, type[GraphConvolution] | type[GradientFlowConvolution]] = {
    "gcn": GraphConvolution,
    "graff": GradientFlowConvolution,
}


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
