"""The score networks rearranged for speed: the same results in about half the time.

`networks.py` has the readable version. What makes this one fast:

- An adjacency is the vector of its pairs of nodes, so that pair-wise layers do half the work on
  undirected graphs; it becomes a matrix only while a graph is processed (`packed.py`).
- P·X is computed once for all layers, queries and keys of a channel are one product, and first
  layers are split by input, so that nothing is concatenated.
- Layers run channel first, (channels, rows); consecutive affine maps are merged.
- tanh(z) = 1 - 2·sigmoid(-2z) and elu(z) + 1 = exp(min(z, 0)) + max(z, 0), whose constants and
  factors are merged into neighbouring weights and biases.

Padding is not masked: its values are meaningless.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from egoscore.detectors.elu import elu_plus_1_
from egoscore.detectors.neural_networks import Linear, Mlp
from egoscore.detectors.paper.kernels.attention import attend
from egoscore.detectors.paper.kernels.packed import propagate, same_sizes
from egoscore.detectors.paper.networks import (
    NUM_CHANNELS,
    AdjacencyNetwork,
    Attention,
    FeatureNetwork,
)

_NOT_KEPT = np.empty((0, 0, 0), dtype=np.float32)  # maps, which only a gradient needs


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
        """Queries and keys of a channel as one layer, on the first channel with the GCN."""
        attention = [a for a in adjacency.attention if isinstance(a, Attention)]
        self._num_heads = attention[0].num_heads
        self._hidden_size = attention[0].query.bias.shape[0]
        convolution = features.convolution
        self._projections: list[tuple[Tensor, Tensor]] = []
        for channel, layer in enumerate(attention):
            weights: list[Tensor] = [layer.query.weight, layer.key.weight]
            biases: list[Tensor] = [layer.query.bias, layer.key.bias]
            if channel == 0:
                weights.append(-2.0 * convolution.weight)
                biases.append(-2.0 * convolution.bias)
            joined = torch.cat(weights, dim=1).t().contiguous(), torch.cat(biases).unsqueeze(1)
            self._projections.append(joined)

    def _rearrange_pairs(self, network: AdjacencyNetwork) -> None:
        """Symmetrising adds equal values, so that it is a factor of 2."""
        mix, mixed = _linears(network.mix)
        first, second, third = _linears(network.final)
        directions = 1 if self.directed else 2
        self._mix_weight, self._mix_bias = mix.weight.detach(), mix.bias.detach()
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
        packing = same_sizes(count, size, self.directed)
        rows = self._rows(x, positions, packing.num_rows)  # (B·n + 8, C)
        propagated = x.new_empty(NUM_CHANNELS, *rows.shape)
        seen = x.new_empty(2 * NUM_CHANNELS, pairs.numel())  # two maps, A, A²
        seen[2] = pairs.flatten()
        propagate(
            *packing.layout, seen[2].numpy(), rows.numpy(), propagated.numpy(), seen[3].numpy()
        )
        for channel, (weight, bias), out in zip(propagated, self._projections, seen, strict=False):
            projected = torch.addmm(bias, weight, channel.t())
            query, key, *hidden = torch.split(projected, self._hidden_size)
            attend(
                *packing.layout, self._num_heads, query.numpy(), key.numpy(), _NOT_KEPT, out.numpy()
            )
            if hidden:
                noise_x = self._features(rows, hidden[0].sigmoid_())
        noise_x = noise_x[: count * size].view(count, size, num_features)
        return noise_x, self._mix(seen).view_as(pairs)

    def _rows(self, x: Tensor, positions: Tensor, num_rows: int) -> Tensor:
        """Features and positions of all nodes (R, C), followed by zeros."""
        num_features = x.shape[2]
        rows = x.new_empty(num_rows, num_features + positions.shape[2])
        rows[: x.shape[0] * x.shape[1], :num_features] = x.flatten(0, 1)
        rows[: x.shape[0] * x.shape[1], num_features:] = positions.flatten(0, 1)
        rows[x.shape[0] * x.shape[1] :] = 0.0
        return rows

    def _features(self, rows: Tensor, activation: Tensor) -> Tensor:
        """The feature MLP on rows (R, C) and (h, R)."""
        hidden = (self._x_weight @ rows.t()).addmm_(self._hidden_weight, activation)
        hidden = elu_plus_1_(hidden, self._first_bias)
        weight, bias = self._second
        hidden = elu_plus_1_(weight @ hidden, bias)
        weight, bias = self._third
        return torch.addmm(bias, hidden.t(), weight)

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
