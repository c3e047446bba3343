"""The gradients of GDSS's losses by hand: the same as autograd's in less than half the time.

`networks.py` has the readable version. What makes this one fast:

- Nodes and pairs of all graphs are stored one after the other without padding; values are channel
  first, (channels, rows), so that a layer is one matrix product and nothing is transposed.
- Arrays that would be concatenated share memory from the start; queries, keys and the convolution
  of a channel are one product.
- Gradients are added to the memory that the optimiser reads.
- Hidden values of the MLPs are elu + 1, see `elu.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from egoscore.detectors.elu import elu_plus_1_, times_slope_
from egoscore.detectors.neural_networks import Linear, Mlp
from egoscore.detectors.paper.ego import EgoBatch
from egoscore.detectors.paper.kernels.attention import attend, attend_backward
from egoscore.detectors.paper.kernels.packed import Packing, pack_nodes, pack_pairs, propagate
from egoscore.detectors.paper.networks import (
    NUM_CHANNELS,
    AdjacencyNetwork,
    Attention,
    FeatureNetwork,
    GradientFlowConvolution,
    GraphConvolution,
)
from egoscore.detectors.paper.noise import EgoNoise
from egoscore.detectors.paper.sde import Sde
from egoscore.random import Purpose

Convolution = GraphConvolution | GradientFlowConvolution


@dataclass(frozen=True)
class Noised:
    """Noised ego-graphs, packed.

    Attributes: `rows` (R, C) and `columns` (C + h, R) have the noised features and the positions of
    the nodes, the latter with room for h more channels; `pairs` (P,); `drawn_x` (F, R) and
    `drawn_pairs` (P,) are the noise.
    """

    packing: Packing
    rows: Tensor
    columns: Tensor
    pairs: Tensor
    drawn_x: Tensor
    drawn_pairs: Tensor

    @classmethod
    def of(
        cls, batch: EgoBatch, noise: EgoNoise, epoch: int, t: Tensor, sde: Sde, room: int
    ) -> Noised:
        """A batch with the noise of an epoch, at times t (B,)."""
        packing = Packing.of(noise.sizes, noise.directed)
        known = torch.cat([batch.x, batch.positions], dim=2) if batch.positions.numel() else batch.x
        size, num_known = known.shape[1:]
        rows = torch.zeros(packing.num_rows, num_known)
        columns = torch.zeros(num_known + room, packing.num_rows)
        drawn_x = torch.zeros(noise.num_features, packing.num_rows)
        pairs, drawn_pairs = torch.empty(2, packing.num_pairs)
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


class FusedGradients:
    """The losses of the two networks and their gradients, on the CPU."""

    def __init__(self, features: FeatureNetwork, adjacency: AdjacencyNetwork) -> None:
        attention = [layer for layer in adjacency.attention if isinstance(layer, Attention)]
        self.hidden_size = attention[0].query.bias.shape[0]
        self._num_heads = attention[0].num_heads
        # the layers of each channel: queries and keys, and the convolution on the first channel
        self._layers = [[layer.query, layer.key] for layer in attention]
        self._layers[0].append(features.convolution)
        self._features, self._mix, self._final = map(
            _Mlp, (features.mlp, adjacency.mix, adjacency.final)
        )

    @torch.no_grad()
    def add_gradients(self, noised: Noised, weight: float) -> tuple[float, float]:
        """Add `weight` times the gradients of both losses' sums over graphs; the sums."""
        packing = noised.packing
        propagated = noised.rows.new_empty(NUM_CHANNELS, *noised.rows.shape)
        seen = noised.rows.new_empty(8, packing.num_pairs)  # two maps, A, A², four mixed
        seen[2] = noised.pairs
        given = noised.pairs.numpy(), noised.rows.numpy()
        propagate(*packing.layout, *given, propagated.numpy(), seen[3].numpy())
        channels = [
            _Channel(packing, values, layers, self._num_heads)
            for values, layers in zip(propagated, self._layers, strict=True)
        ]
        for channel, out in zip(channels, seen, strict=False):
            channel.attend(out)
        loss_x = self._feature_gradients(noised, weight, channels[0])
        loss_adj, on_maps = self._pair_gradients(noised, seen, weight)
        for channel, grad in zip(channels, on_maps, strict=True):
            channel.attend_backward(grad)
            channel.add_gradients()
        return loss_x, loss_adj

    def _feature_gradients(self, noised: Noised, weight: float, channel: _Channel) -> float:
        """The loss of the features; adds gradients, to the convolution by way of the channel."""
        hidden = noised.columns[-self.hidden_size :]
        torch.tanh(channel.projected[2], out=hidden)
        error = self._features.forward(noised.columns).sub_(noised.drawn_x)
        error[:, noised.packing.end :] = 0.0  # the spare rows after the last node
        loss = 0.5 * float(error.square().sum())
        grad = self._features.backward(error.mul_(weight), len(noised.columns) - len(hidden))
        # (1 - tanh²)·grad, for the convolution, the third layer of the channel
        torch.addcmul(grad, grad, hidden.square(), value=-1.0, out=channel.on_projected[2])
        return loss

    def _pair_gradients(self, noised: Noised, seen: Tensor, weight: float) -> tuple[float, Tensor]:
        """The loss of the adjacency; adds gradients, returns that of the attention maps (2, P)."""
        # an undirected pair counts twice in the loss, and GDSS adds up its directions when mixing
        directions = 1 if noised.packing.directed else 2
        torch.mul(self._mix.forward(seen[:4]), directions, out=seen[4:])
        error = self._final.forward(seen[NUM_CHANNELS:]).sub_(noised.drawn_pairs)
        loss = 0.5 * directions * float(error.square().sum())
        on_mixed = self._final.backward(error.mul_(directions * weight), NUM_CHANNELS)
        return loss, self._mix.backward(on_mixed.mul_(directions), 0, NUM_CHANNELS)


class _Channel:
    """The layers of a channel applied to P·X (R, C): queries, keys, on the first a convolution.

    `projected` is (2 or 3, h, R) and `on_projected` its gradient.
    """

    def __init__(
        self, packing: Packing, propagated: Tensor, layers: Sequence[Convolution], num_heads: int
    ) -> None:
        bias = torch.cat([layer.bias for layer in layers]).unsqueeze(1)
        weight = torch.cat([layer.weight.t() for layer in layers])
        self._propagated, self._layers = propagated, layers
        self.projected = torch.addmm(bias, weight, propagated.t()).view(
            len(layers), -1, len(propagated)
        )
        self.on_projected = torch.empty_like(self.projected)
        maps = propagated.new_empty(len(propagated), num_heads, packing.width)
        query, key = self.projected[:2]
        self._arguments = *packing.layout, num_heads, query.numpy(), key.numpy(), maps.numpy()

    def attend(self, out: Tensor) -> None:
        """The attention map at pairs (P,), to `out`."""
        attend(*self._arguments, out.numpy())

    def attend_backward(self, grad: Tensor) -> None:
        """The gradient of queries and keys from that of the map (P,)."""
        attend_backward(
            *self._arguments, grad.numpy(), *(part.numpy() for part in self.on_projected[:2])
        )

    def add_gradients(self) -> None:
        """Add the gradients of weights and biases."""
        for layer, part in zip(self._layers, self.on_projected, strict=True):
            _grad(layer.weight).addmm_(self._propagated.t(), part.t())
            _grad(layer.bias).add_(part.sum(dim=1))


class _Mlp:
    """An `Mlp` on (channels, T), forward and backward; hidden values are elu + 1."""

    def __init__(self, mlp: Mlp) -> None:
        self._layers = [layer for layer in mlp.layers if isinstance(layer, Linear)]
        self._values: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """(in, T) → (out, T)."""
        first, *others = self._layers
        self._values = [x]
        value, bias = first.weight @ x, first.bias.detach()
        for layer in others:
            self._values.append(elu_plus_1_(value, bias))
            value, bias = layer.weight @ self._values[-1], layer.bias - layer.weight.sum(dim=1)
        return value.add_(bias.unsqueeze(1))

    def backward(self, grad: Tensor, start: int, end: int | None = None) -> Tensor:
        """Add the parameters' gradients; that of the input channels `start` to `end`, (…, R)."""
        for layer, value in zip(reversed(self._layers[1:]), reversed(self._values), strict=False):
            on_bias = grad.sum(dim=1)
            _grad(layer.bias).add_(on_bias)
            _grad(layer.weight).addmm_(grad, value.t()).sub_(on_bias.unsqueeze(1))
            grad = times_slope_(layer.weight.t() @ grad, value)
        first = self._layers[0]
        _grad(first.bias).add_(grad.sum(dim=1))
        _grad(first.weight).addmm_(grad, self._values[0].t())
        return first.weight[:, start:end].t() @ grad


def _grad(parameter: Tensor) -> Tensor:
    """The gradient of a parameter, zero at first."""
    if parameter.grad is None:
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad
