"""The score networks rearranged for speed: same numbers, about half the time.

Everything that makes inference fast and hard to read is in this file; `networks.py` says what is
computed. What is done here:

- An adjacency is the vector of its pairs of nodes, so that pair-wise layers do half the work on
  undirected graphs; it is spread to a matrix only to be multiplied.
- A·X is computed once for all that use it, queries and keys of a channel in one product, and first
  layers are split by input, so that nothing is concatenated.
- Pair-wise layers run channel first, (channels, pairs); affine maps that follow each other are one.
- tanh(z) = 1 - 2·sigmoid(-2z) and elu(z) + 1 = exp(min(z, 0)) + max(z, 0), whose constants and
  factors are part of the weights and biases around them.

Padding is not masked out: what comes back for it means nothing.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import linear

from egoscore.learn.attention import Attention
from egoscore.learn.elu import elu_plus_1_
from egoscore.learn.layers import Linear, Mlp
from egoscore.learn.networks import NUM_CHANNELS, AdjacencyNetwork, FeatureNetwork
from egoscore.learn.pairs import PairOrder, pair_order


class Inference:
    """Predicts noise as the two networks do, given adjacencies as vectors of pairs."""

    def __init__(self, features: FeatureNetwork, adjacency: AdjacencyNetwork) -> None:
        self.directed = adjacency.directed
        with torch.no_grad():
            self._rearrange_features(features)
            self._rearrange_attention(features, adjacency)
            self._rearrange_pairs(adjacency)

    def _rearrange_features(self, network: FeatureNetwork) -> None:
        """H = 1 - 2·S with S = sigmoid(-2·GCN): [X, H]·W + b = X·Wx + S·(-2·Wh) + (b + sum Wh)."""
        first, second, third = _linears(network.mlp)
        num_inputs = network.convolution.weight.shape[0]
        on_x, on_hidden = first.weight[:, :num_inputs], first.weight[:, num_inputs:]
        self._x_weight = on_x.contiguous()
        self._hidden_weight = -2.0 * on_hidden
        self._first_bias = first.bias + on_hidden.sum(dim=1)
        self._second = second.weight.detach(), _bias_after_elu(second)
        self._third = third.weight.t().contiguous(), _bias_after_elu(third)

    def _rearrange_attention(self, features: FeatureNetwork, adjacency: AdjacencyNetwork) -> None:
        """Queries and keys of a channel side by side; the first channel brings the GCN along."""
        attention = [a for a in adjacency.attention if isinstance(a, Attention)]
        self._num_heads = attention[0].num_heads
        self._hidden_size = attention[0].query.bias.shape[0]
        scale = -2.0 / math.sqrt(self._hidden_size)
        convolution = features.convolution
        self._projections: list[tuple[Tensor, Tensor]] = []
        for channel, layer in enumerate(attention):
            weights = [layer.query.weight * scale, layer.key.weight]
            biases = [layer.query.bias * scale, layer.key.bias]
            if channel == 0:
                weights.append(-2.0 * convolution.weight)
                biases.append(-2.0 * convolution.bias)
            self._projections.append((torch.cat(weights, dim=1).t(), torch.cat(biases)))

    def _rearrange_pairs(self, network: AdjacencyNetwork) -> None:
        """A map is 1 - 2·(mean over heads and directions of sigmoids); symmetrising adds equals."""
        mix, mixed = _linears(network.mix)
        first, second, third = _linears(network.final)
        directions = 1 if self.directed else 2
        self._mix_weight = mix.weight.clone()
        self._mix_weight[:, :NUM_CHANNELS] *= -2.0 / (self._num_heads * directions)
        self._mix_bias = mix.bias + mix.weight[:, :NUM_CHANNELS].sum(dim=1)
        # the second layer of `mix` and the first of `final` are one affine map
        self._channel_weight = first.weight[:, :NUM_CHANNELS].contiguous()
        on_mixed = first.weight[:, NUM_CHANNELS:] * directions
        self._join_weight = on_mixed @ mixed.weight
        self._join_bias = first.bias + on_mixed @ mixed.bias - self._join_weight.sum(dim=1)
        self._pair_second = second.weight.detach(), _bias_after_elu(second)
        self._pair_third = third.weight.detach(), _bias_after_elu(third)

    def predict_noise(
        self, x: Tensor, pairs: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The noise in x (B, n, F) and in pairs (B, P)."""
        count, size, num_features = x.shape
        order = pair_order(size, self.directed, x.device)
        adj = order.unpack(pairs)
        squared = torch.bmm(adj, adj)
        known = torch.cat([x, positions], dim=-1) if positions.shape[-1] else x  # (B, n, C)
        around = self._propagate(adj, squared, known)  # (channels, B·n, C)
        first, second = (
            linear(side, *projection)
            for side, projection in zip(around, self._projections, strict=True)
        )
        activation = torch.sigmoid(first[:, 2 * self._hidden_size :])
        rows = known.reshape(count * size, -1)
        noise_x = self._features(rows, activation).view(count, size, num_features)
        inputs = x.new_empty(2 * NUM_CHANNELS, count, pairs.shape[-1])
        self._attend(first, count, size, order, inputs[0])
        self._attend(second, count, size, order, inputs[1])
        inputs[2] = pairs
        torch.index_select(squared.view(count, -1), 1, order.lower, out=inputs[3])
        return noise_x, self._mix(inputs.view(2 * NUM_CHANNELS, -1)).view_as(pairs)

    def _propagate(self, adj: Tensor, squared: Tensor, x: Tensor) -> list[Tensor]:
        """P·X for both channels, each (B·n, C)."""
        count, size, width = x.shape
        both = torch.stack([adj, squared], dim=1)  # (B, 2, n, n)
        both.diagonal(dim1=-2, dim2=-1).fill_(1.0)
        scale = both.sum(dim=-1).clamp_(min=1.0).rsqrt_()
        both.mul_(scale.unsqueeze(-1)).mul_(scale.unsqueeze(-2))
        spread = torch.bmm(both.view(count, -1, size), x).view(count, 2, -1)
        return [spread[:, channel].reshape(-1, width) for channel in range(NUM_CHANNELS)]

    def _features(self, x: Tensor, activation: Tensor) -> Tensor:
        """The feature MLP on rows (B·n, C) and (B·n, h)."""
        hidden = (self._x_weight @ x.t()).addmm_(self._hidden_weight, activation.t())
        hidden = elu_plus_1_(hidden, self._first_bias)
        weight, bias = self._second
        hidden = elu_plus_1_(weight @ hidden, bias)
        weight, bias = self._third
        return torch.addmm(bias, hidden.t(), weight)

    def _attend(
        self, projected: Tensor, count: int, size: int, order: PairOrder, out: Tensor
    ) -> None:
        """Sum over heads (and directions) of the sigmoids, for every pair, into `out` (B, P)."""
        both = projected[:, : 2 * self._hidden_size].view(count, size, 2, self._num_heads, -1)
        query, key = both.permute(2, 0, 3, 1, 4)  # each (B, heads, n, h / heads)
        maps = (query @ key.transpose(-1, -2)).sigmoid_().sum(dim=1).view(count, -1)
        if self.directed:
            torch.index_select(maps, 1, order.lower, out=out)
        else:
            torch.add(maps.index_select(1, order.lower), maps.index_select(1, order.upper), out=out)

    def _mix(self, inputs: Tensor) -> Tensor:
        """The pair-wise MLPs on (4, pairs): maps of both channels, A, A²."""
        hidden = elu_plus_1_(self._mix_weight @ inputs, self._mix_bias)
        hidden = (self._join_weight @ hidden).addmm_(self._channel_weight, inputs[NUM_CHANNELS:])
        hidden = elu_plus_1_(hidden, self._join_bias)
        weight, bias = self._pair_second
        hidden = elu_plus_1_(weight @ hidden, bias)
        weight, bias = self._pair_third
        return (weight @ hidden).add_(bias)


def _bias_after_elu(layer: Linear) -> Tensor:
    """The bias of a layer whose input is elu + 1 instead of elu."""
    return layer.bias - layer.weight.sum(dim=1)


def _linears(mlp: Mlp) -> list[Linear]:
    return [layer for layer in mlp.layers if isinstance(layer, Linear)]
