"""The score networks rearranged for speed: same numbers, about half the time.

Everything that makes inference fast and hard to read is here and in the kernels of `packed.py`;
`networks.py` says what is computed. What is done here:

- An adjacency is the vector of its pairs of nodes, so that pair-wise layers do half the work on
  undirected graphs; it is spread to a matrix only while a graph is at work (`packed.py`).
- P·X is computed once for all that use it, queries and keys of a channel in one product, and first
  layers are split by input, so that nothing is concatenated.
- Layers run channel first, (T, channels, rows) for T models with weights (T, out, in); affine
  maps that follow each other are one.
- tanh(z) = 1 - 2·sigmoid(-2z) and elu(z) + 1 = exp(min(z, 0)) + max(z, 0), whose constants and
  factors are part of the weights and biases around them.

Padding is not masked out: what comes back for it means nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from egoscore.learn.attention import Attention
from egoscore.learn.elu import elu_plus_1_
from egoscore.learn.layers import (
    GradientFlowConvolution,
    GraphConvolution,
    Linear,
    Mlp,
    per_model,
    product,
)
from egoscore.learn.networks import NUM_CHANNELS, AdjacencyNetwork, FeatureNetwork
from egoscore.learn.packed import Packing, look_around, same_sizes
from egoscore.learn.packed_attention import attend

_NOT_KEPT = np.empty((0, 0, 0, 0), dtype=np.float32)  # maps, which only a gradient needs


@dataclass(frozen=True)
class _Affine:
    """Weights and biases of a layer, (T, …) each."""

    weight: Tensor
    bias: Tensor

    @classmethod
    def of(cls, layer: Linear | GraphConvolution | GradientFlowConvolution) -> _Affine:
        return cls(per_model(layer.weight.detach(), 2), per_model(layer.bias.detach(), 1))

    def after_elu(self) -> tuple[Tensor, Tensor]:
        """The same for inputs that are elu + 1 instead of elu."""
        return self.weight, self.bias - self.weight.sum(dim=2)


class Inference:
    """Predicts noise as the two networks do, given adjacencies as vectors of pairs.

    If the networks are those of T models, graph g of a batch is given to model g mod T.
    """

    def __init__(self, features: FeatureNetwork, adjacency: AdjacencyNetwork) -> None:
        self.directed = adjacency.directed
        with torch.no_grad():
            self._rearrange_features(features)
            self._rearrange_attention(features, adjacency)
            self._rearrange_pairs(adjacency)

    def _rearrange_features(self, network: FeatureNetwork) -> None:
        """H = 1 - 2·S with S = sigmoid(-2·GCN): [X, H]·W + b = X·Wx + S·(-2·Wh) + (b + sum Wh)."""
        first, second, third = _linears(network.mlp)
        num_inputs = network.convolution.weight.shape[-2]
        on_x, on_hidden = first.weight[:, :, :num_inputs], first.weight[:, :, num_inputs:]
        self._x_weight = on_x.contiguous()
        self._hidden_weight = -2.0 * on_hidden
        self._first_bias = first.bias + on_hidden.sum(dim=2)
        self._second = second.after_elu()
        weight, bias = third.after_elu()
        self._third = weight.mT.contiguous(), bias.unsqueeze(1)

    def _rearrange_attention(self, features: FeatureNetwork, adjacency: AdjacencyNetwork) -> None:
        """Queries and keys of a channel side by side; the first channel brings the GCN along."""
        attention = [a for a in adjacency.attention if isinstance(a, Attention)]
        self._num_heads = attention[0].num_heads
        self._num_models, self._hidden_size = per_model(attention[0].query.bias, 1).shape
        convolution = _Affine.of(features.convolution)
        self._projections: list[tuple[Tensor, Tensor]] = []
        for channel, layer in enumerate(attention):
            parts = [_Affine.of(layer.query), _Affine.of(layer.key)]
            if channel == 0:
                parts.append(_Affine(-2.0 * convolution.weight, -2.0 * convolution.bias))
            weight = torch.cat([part.weight for part in parts], dim=2).mT.contiguous()
            bias = torch.cat([part.bias for part in parts], dim=1).unsqueeze(2)
            self._projections.append((weight, bias))

    def _rearrange_pairs(self, network: AdjacencyNetwork) -> None:
        """Symmetrising adds equals."""
        mix, mixed = _linears(network.mix)
        first, second, third = _linears(network.final)
        directions = 1 if self.directed else 2
        self._mix_weight, self._mix_bias = mix.weight, mix.bias
        # the second layer of `mix` and the first of `final` are one affine map
        self._channel_weight = first.weight[:, :, :NUM_CHANNELS].contiguous()
        on_mixed = first.weight[:, :, NUM_CHANNELS:] * directions
        self._join_weight = on_mixed @ mixed.weight
        moved = (on_mixed @ mixed.bias.unsqueeze(2)).squeeze(2)
        self._join_bias = first.bias + moved - self._join_weight.sum(dim=2)
        self._pair_second = second.after_elu()
        weight, bias = third.after_elu()
        self._pair_third = weight, bias.unsqueeze(2)

    def predict_noise(
        self, x: Tensor, pairs: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The noise in x (B·T, n, F) and in pairs (B·T, P)."""
        count, size = len(x) // self._num_models, x.shape[1]
        packing = same_sizes(count, size, self.directed)
        rows = self._rows(x, positions, packing)  # (T, R, C)
        around = x.new_empty(NUM_CHANNELS, *rows.shape)
        # two maps, A, A²
        seen = x.new_empty(self._num_models, 2 * NUM_CHANNELS, packing.num_pairs)
        seen[:, 2] = self._by_model(pairs).flatten(1)
        look_around(*packing.how, rows.numpy(), around.numpy(), seen.numpy())
        for channel, (weight, bias) in enumerate(self._projections):
            projected = torch.baddbmm(bias, weight, around[channel].mT)
            parts = projected.view(self._num_models, -1, self._hidden_size, packing.num_rows)
            how = *packing.how, self._num_heads
            attend(*how, parts.numpy(), _NOT_KEPT, channel, seen.numpy())
            if channel == 0:
                noise_x = self._features(rows, parts[:, 2].sigmoid_())
        noise_x = noise_x[:, : packing.end].view(self._num_models, count, size, -1)
        noise_pairs = self._mix(seen).view(self._num_models, count, pairs.shape[1])
        return _in_turns(noise_x), _in_turns(noise_pairs)

    def _by_model(self, chains: Tensor) -> Tensor:
        """(B·T, …), model after model in turns, to (T, B, …)."""
        count = len(chains) // self._num_models
        return chains.reshape(count, self._num_models, *chains.shape[1:]).transpose(0, 1)

    def _rows(self, x: Tensor, positions: Tensor, packing: Packing) -> Tensor:
        """What is known of the nodes, one after the other, and zeros behind them: (T, R, C)."""
        num_features, num_known = x.shape[2], x.shape[2] + positions.shape[2]
        rows = x.new_empty(self._num_models, packing.num_rows, num_known)
        rows[:, packing.end :] = 0.0
        shape = self._num_models, -1, x.shape[1], num_known
        nodes = rows[:, : packing.end].view(shape)  # (T, B, n, C)
        nodes[..., :num_features] = self._by_model(x)
        nodes[..., num_features:] = self._by_model(positions)
        return rows

    def _features(self, rows: Tensor, activation: Tensor) -> Tensor:
        """The feature MLP on rows (T, R, C) and (T, h, R)."""
        hidden = torch.bmm(self._x_weight, rows.mT).baddbmm_(self._hidden_weight, activation)
        hidden = elu_plus_1_(hidden, self._first_bias)
        weight, bias = self._second
        hidden = elu_plus_1_(product(weight, hidden), bias)
        weight, bias = self._third
        return torch.baddbmm(bias, hidden.mT, weight)

    def _mix(self, inputs: Tensor) -> Tensor:
        """The pair-wise MLPs on (T, 4, pairs): maps of both channels, A, A²."""
        hidden = elu_plus_1_(product(self._mix_weight, inputs), self._mix_bias)
        hidden = product(self._join_weight, hidden)
        hidden = hidden.baddbmm_(self._channel_weight, inputs[:, NUM_CHANNELS:])
        hidden = elu_plus_1_(hidden, self._join_bias)
        weight, bias = self._pair_second
        hidden = elu_plus_1_(product(weight, hidden), bias)
        weight, bias = self._pair_third
        return product(weight, hidden).add_(bias)


def _in_turns(values: Tensor) -> Tensor:
    """(T, B, …) to (B·T, …), model after model in turns."""
    return values.transpose(0, 1).flatten(0, 1)


def _linears(mlp: Mlp) -> list[_Affine]:
    return [_Affine.of(layer) for layer in mlp.layers if isinstance(layer, Linear)]
