"""The gradient of GDSS's losses written out: autograd's numbers in less than half the time.

Everything that makes training fast and hard to read is here, in `packed.py` and in `lanes.py`;
`networks.py` says what is computed. What is done here:

- Nodes and pairs of all graphs stand one after the other, without padding; values are channel
  first, (channels, rows), so that a layer is one matrix product and nothing is transposed.
- All this for T models side by side: values are (T, channels, rows), weights (T, out, in).
- What is concatenated stands in one array from the beginning; queries, keys and the convolution
  of a channel are one product.
- Gradients are added where the optimiser looks for them.
- Hidden values of the MLPs are elu + 1, see `elu.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from egoscore.diffuse import EgoNoise, Sde
from egoscore.ego import EgoBatch
from egoscore.keyed import Purpose
from egoscore.learn.attention import Attention
from egoscore.learn.elu import elu_plus_1_, times_slope_
from egoscore.learn.layers import (
    GradientFlowConvolution,
    GraphConvolution,
    Linear,
    Mlp,
    add_product_,
    per_model,
    product,
)
from egoscore.learn.networks import NUM_CHANNELS, AdjacencyNetwork, FeatureNetwork
from egoscore.learn.packed import Packing, look_around, pack_nodes, pack_pairs
from egoscore.learn.packed_attention import attend, attend_back

Convolution = GraphConvolution | GradientFlowConvolution
Losses = NDArray[np.float64]  # (2, T): of features and adjacency, for every model


@dataclass(frozen=True)
class Noised:
    """Noised ego-graphs, packed.

    Attributes: `rows` (T, R, C) and `columns` (T, C + h, R) are what is known of the nodes, the
    latter with room for h more channels; `pairs` (T, P); `drawn_x` (T, F, R) and `drawn_pairs`
    (T, P) the noise.
    """

    packing: Packing
    rows: Tensor
    columns: Tensor
    pairs: Tensor
    drawn_x: Tensor
    drawn_pairs: Tensor

    @classmethod
    def of(
        cls,
        batch: EgoBatch,
        noise: EgoNoise,
        epoch: int,
        t: Tensor,
        sde: Sde,
        num_models: int,
        room: int,
    ) -> Noised:
        """A batch with the noise of an epoch, at times t (B·T,); model after model in turns."""
        packing = Packing.of(noise.sizes[::num_models], noise.directed)
        known = torch.cat([batch.x, batch.positions], dim=2) if batch.positions.numel() else batch.x
        size, num_known = known.shape[1:]
        rows = torch.zeros(num_models, packing.num_rows, num_known)
        columns = torch.zeros(num_models, num_known + room, packing.num_rows)
        drawn_x = torch.zeros(num_models, noise.num_features, packing.num_rows)
        pairs, drawn_pairs = torch.empty(2, num_models, packing.num_pairs)
        levels = sde.decay(t).float().numpy(), sde.std(t).float().numpy()
        noise_x = noise.features(Purpose.TRAIN_FEATURES, epoch, size)
        noise_pairs = replace(noise, packed=True).adjacency(Purpose.TRAIN_ADJACENCY, epoch, size)
        pack_nodes(
            packing.sizes, packing.starts, known.numpy(), noise_x.numpy(), *levels,
            rows.numpy(), columns.numpy(), drawn_x.numpy(),
        )  # fmt: skip
        pack_pairs(
            packing.sizes, packing.pair_starts, batch.adj.numpy(), noise_pairs[:, 0].numpy(),
            *levels, packing.directed, pairs.numpy(), drawn_pairs.numpy(),
        )  # fmt: skip
        return cls(packing, rows, columns, pairs, drawn_x, drawn_pairs)


class WrittenOut:
    """Losses of the two networks and their gradients for every model of a stack, on the CPU."""

    def __init__(self, features: FeatureNetwork, adjacency: AdjacencyNetwork) -> None:
        attention = [layer for layer in adjacency.attention if isinstance(layer, Attention)]
        self.num_models, self.hidden_size = per_model(attention[0].query.bias, 1).shape
        self._num_heads = attention[0].num_heads
        # what a channel is multiplied with: queries and keys, and with the first the convolution
        layers = [[layer.query, layer.key] for layer in attention]
        layers[0].append(features.convolution)
        self._layers = [[_Affine(layer) for layer in those] for those in layers]
        self._features, self._mix, self._final = map(
            _Mlp, (features.mlp, adjacency.mix, adjacency.final)
        )

    @torch.no_grad()
    def add_gradients(self, noised: Noised, weight: float) -> Losses:
        """Add `weight` times the gradients of both losses' sums over graphs; the sums, (2, T)."""
        packing = noised.packing
        around = noised.rows.new_empty(NUM_CHANNELS, *noised.rows.shape)
        # two maps, A, A², four mixed
        seen = noised.rows.new_empty(self.num_models, 8, packing.num_pairs)
        seen[:, 2] = noised.pairs
        look_around(*packing.how, noised.rows.numpy(), around.numpy(), seen.numpy())
        channels = [
            _Channel(packing, number, values, layers, self._num_heads)
            for number, (values, layers) in enumerate(zip(around, self._layers, strict=True))
        ]
        for channel in channels:
            channel.attend(seen)
        loss_x = self._learn_features(noised, weight, channels[0])
        loss_adj, on_maps = self._learn_pairs(noised, seen, weight)
        for channel in channels:
            channel.attend_back(on_maps)
            channel.add_gradients()
        return torch.stack([loss_x, loss_adj]).double().numpy()

    def _learn_features(self, noised: Noised, weight: float, channel: _Channel) -> Tensor:
        """The loss of the features; the convolution, its tanh included, is the channel's third."""
        hidden = noised.columns[:, -self.hidden_size :]
        torch.tanh(channel.projected[:, 2], out=hidden)
        error = self._features.forward(noised.columns).sub_(noised.drawn_x)
        error[:, :, noised.packing.end :] = 0.0  # the room behind the last node
        loss = 0.5 * error.square().sum(dim=(1, 2))
        num_known = noised.columns.shape[1] - self.hidden_size
        grad = self._features.backward(error.mul_(weight), num_known)
        # (1 - tanh²)·grad
        torch.addcmul(grad, grad, hidden.square(), value=-1.0, out=channel.on_projected[:, 2])
        return loss

    def _learn_pairs(self, noised: Noised, seen: Tensor, weight: float) -> tuple[Tensor, Tensor]:
        """The loss of the adjacency and the gradient of the attention maps, (T, channels, P)."""
        # the two directions of a pair: both are in a loss, and GDSS adds them up when mixed
        directions = 1 if noised.packing.directed else 2
        torch.mul(self._mix.forward(seen[:, :4]), directions, out=seen[:, 4:])
        error = self._final.forward(seen[:, NUM_CHANNELS:]).sub_(noised.drawn_pairs.unsqueeze(1))
        loss = 0.5 * directions * error.square().sum(dim=(1, 2))
        on_mixed = self._final.backward(error.mul_(directions * weight), NUM_CHANNELS)
        return loss, self._mix.backward(on_mixed.mul_(directions), 0, NUM_CHANNELS)


class _Affine:
    """Weights and biases (T, …) of a layer, and where their gradients are collected."""

    def __init__(self, layer: Linear | Convolution) -> None:
        self.weight = per_model(layer.weight.detach(), 2)
        self.bias = per_model(layer.bias.detach(), 1)
        self.on_weight = per_model(_grad(layer.weight), 2)
        self.on_bias = per_model(_grad(layer.bias), 1)


class _Channel:
    """What the convolutions make of P·X (T, R, C) of a channel: queries, keys, perhaps a third.

    `projected` is (T, 2 or 3, h, R), and `on_projected` the gradient of it.
    """

    def __init__(
        self,
        packing: Packing,
        number: int,
        around: Tensor,
        layers: Sequence[_Affine],
        num_heads: int,
    ) -> None:
        num_models, num_rows, _ = around.shape
        bias = torch.cat([layer.bias for layer in layers], dim=1).unsqueeze(2)
        weight = torch.cat([layer.weight.mT for layer in layers], dim=1)
        self._around, self._layers = around, layers
        projected = torch.baddbmm(bias, weight, around.mT)
        self.projected = projected.view(num_models, len(layers), -1, num_rows)
        self.on_projected = torch.empty_like(self.projected)
        maps = around.new_empty(num_models, num_rows, num_heads, packing.width)
        self._given = *packing.how, num_heads, self.projected.numpy(), maps.numpy(), number

    def attend(self, seen: Tensor) -> None:
        """The attention map at pairs, to the channel of (T, channels, P)."""
        attend(*self._given, seen.numpy())

    def attend_back(self, grads: Tensor) -> None:
        """From the gradients of the maps (T, channels, P) to that of queries and keys."""
        attend_back(*self._given, grads.numpy(), self.on_projected.numpy())

    def add_gradients(self) -> None:
        """Add the gradients of weights and biases."""
        for layer, part in zip(self._layers, self.on_projected.unbind(1), strict=True):
            add_product_(layer.on_weight, self._around.mT, part.mT)
            layer.on_bias.add_(part.sum(dim=2))


class _Mlp:
    """An `Mlp` on (T, channels, R), forward and backward; hidden values are elu + 1."""

    def __init__(self, mlp: Mlp) -> None:
        self._layers = [_Affine(layer) for layer in mlp.layers if isinstance(layer, Linear)]
        self._values: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """(T, in, R) → (T, out, R)."""
        first, *others = self._layers
        self._values = [x]
        value, bias = product(first.weight, x), first.bias
        for layer in others:
            self._values.append(elu_plus_1_(value, bias))
            value = product(layer.weight, self._values[-1])
            bias = layer.bias - layer.weight.sum(dim=2)
        return value.add_(bias.unsqueeze(2))

    def backward(self, grad: Tensor, start: int, end: int | None = None) -> Tensor:
        """Add the parameters' gradients; that of the input's channels from `start` to `end`."""
        for layer, value in zip(reversed(self._layers[1:]), reversed(self._values), strict=False):
            on_bias = grad.sum(dim=2)
            layer.on_bias.add_(on_bias)
            add_product_(layer.on_weight, grad, value.mT)
            layer.on_weight.sub_(on_bias.unsqueeze(2))
            grad = times_slope_(product(layer.weight.mT, grad), value)
        first = self._layers[0]
        first.on_bias.add_(grad.sum(dim=2))
        add_product_(first.on_weight, grad, self._values[0].mT)
        return product(first.weight[:, :, start:end].mT, grad)


def _grad(parameter: Tensor) -> Tensor:
    """Where the gradient of a parameter is collected."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad
