"""A single network for features and adjacency: a small graph transformer.

It resembles ConGress, the continuous variant of DiGress (Vignac et al., "DiGress: discrete
denoising diffusion for graph generation", 2023): node pairs modulate the attention between nodes
and are updated from it, and the time is an input.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from egoscore.detectors.neural_networks import Linear, Mlp
from egoscore.detectors.paper.generative import GenerativeModel

NUM_HEADS, NUM_LAYERS = 4, 2


class JointModel(GenerativeModel):
    """Predicts the noise in features and adjacency with one network."""

    def __init__(
        self,
        num_features: int,
        hidden_size: int,
        directed: bool = False,
        seed: int = 0,
        num_positions: int = 0,
    ) -> None:
        super().__init__()
        self.directed = directed
        self.network = _Transformer(num_features, num_positions, hidden_size)
        self.initialise(seed)

    def parts(self) -> tuple[nn.Module, ...]:
        return (self.network,)

    def predict_noise(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        noise_x, noise_adj = self.network(x, adj, mask, t.to(x), positions)
        if not self.directed:
            noise_adj = (noise_adj + noise_adj.transpose(1, 2)) / 2.0
        off_diagonal = 1.0 - torch.eye(adj.shape[-1], dtype=adj.dtype, device=adj.device)
        real = mask.unsqueeze(-1)
        return noise_x * real, noise_adj * off_diagonal * real * mask.unsqueeze(-2)


class _Transformer(nn.Module):
    """Nodes (B, N, h) and pairs (B, N, N, h / 4) through layers of attention."""

    def __init__(self, num_features: int, num_positions: int, hidden_size: int) -> None:
        super().__init__()
        pair_size = max(NUM_HEADS, hidden_size // 4)
        self.read_nodes = Mlp(num_features + num_positions + 1, hidden_size, hidden_size)
        self.read_pairs = Mlp(4, pair_size, pair_size)  # A, its reverse, A², time
        self.layers = nn.ModuleList(_Layer(hidden_size, pair_size) for _ in range(NUM_LAYERS))
        self.write_nodes = Mlp(num_features + hidden_size, 2 * hidden_size, num_features)
        self.write_pairs = Mlp(1 + pair_size, 2 * pair_size, 1)

    def forward(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """x (B, N, F), adj (B, N, N), mask (B, N), t (B,), positions (B, N, P) → noises."""
        count, size, _ = x.shape
        time = t.view(-1, 1, 1)
        nodes = self.read_nodes(torch.cat([x, positions, time.expand(count, size, 1)], dim=-1))
        seen = [adj, adj.transpose(1, 2), adj @ adj, time.expand_as(adj)]
        pairs = self.read_pairs(torch.stack(seen, dim=-1))
        for layer in self.layers:
            nodes, pairs = layer(nodes, pairs, mask)
        noise_x = self.write_nodes(torch.cat([x, nodes], dim=-1))
        noise_adj = self.write_pairs(torch.cat([adj.unsqueeze(-1), pairs], dim=-1))
        return noise_x, noise_adj.squeeze(-1)


class _Layer(nn.Module):
    """Attention whose logits are scaled and shifted by the pairs, and which updates the pairs."""

    def __init__(self, hidden_size: int, pair_size: int) -> None:
        super().__init__()
        self.project = Linear(hidden_size, 3 * hidden_size)
        self.shape = Linear(pair_size, 2 * NUM_HEADS)
        self.merge = Linear(hidden_size, hidden_size)
        self.tell_pairs = Linear(NUM_HEADS, pair_size)
        self.node_mlp = Mlp(hidden_size, 2 * hidden_size, hidden_size)
        self.pair_mlp = Mlp(pair_size, 2 * pair_size, pair_size)
        self.node_norms = nn.ModuleList(nn.LayerNorm(hidden_size) for _ in range(2))
        self.pair_norms = nn.ModuleList(nn.LayerNorm(pair_size) for _ in range(2))

    def forward(self, nodes: Tensor, pairs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Nodes (B, N, h), pairs (B, N, N, p), mask (B, N) → the same shapes."""
        count, size, width = nodes.shape
        heads = self.project(nodes).view(count, size, 3, NUM_HEADS, -1)
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # each (B, heads, N, h / heads)
        logits = query @ key.transpose(-1, -2) / math.sqrt(width // NUM_HEADS)
        scale, shift = self.shape(pairs).permute(0, 3, 1, 2).chunk(2, dim=1)  # (B, heads, N, N)
        logits = logits * (1.0 + scale) + shift
        absent = (mask == 0).view(count, 1, 1, size)
        weights = logits.masked_fill(absent, -torch.inf).softmax(dim=-1)
        gathered = (weights @ value).transpose(1, 2).reshape(count, size, width)
        nodes = self.node_norms[0](nodes + self.merge(gathered))
        nodes = self.node_norms[1](nodes + self.node_mlp(nodes))
        pairs = self.pair_norms[0](pairs + self.tell_pairs(logits.permute(0, 2, 3, 1)))
        return nodes, self.pair_norms[1](pairs + self.pair_mlp(pairs))
