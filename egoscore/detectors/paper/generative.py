"""Generative models of ego-graphs: their interface, and GDSS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import Tensor, nn

from egoscore.detectors.neural_networks import Linear, keyed_draw
from egoscore.detectors.paper.kernels.gradient import FusedGradients
from egoscore.detectors.paper.kernels.inference import Inference
from egoscore.detectors.paper.networks import (
    AdjacencyNetwork,
    Channel,
    FeatureNetwork,
    GradientFlowConvolution,
    GraphConvolution,
)
from egoscore.detectors.paper.noise import pair_order


class Predictor(Protocol):
    """Predicts noise for scoring, with adjacencies as vectors of node pairs."""

    def predict_noise(
        self, x: Tensor, pairs: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The noise in x (B, n, F) and in pairs (B, P); values of padding are ignored."""


class GenerativeModel(nn.Module, ABC):
    """Learns the distribution of ego-graphs by predicting the noise in noised ones."""

    directed: bool

    @abstractmethod
    def parts(self) -> tuple[nn.Module, ...]:
        """Networks that share no weights; each is trained by its own optimiser."""

    @abstractmethod
    def predict_noise(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The noise in x (B, N, F) and in adj (B, N, N) at times t (B,), zero where padded.

        `positions` (B, N, P) are positional encodings, which are not noised.
        """

    def predictor(self) -> Predictor:
        """A version of `predict_noise` for scoring, which may be faster."""
        return _Unpacking(self)

    def fused_gradients(self) -> FusedGradients | None:
        """Code that computes the gradients faster than autograd, if there is any."""
        return None

    def initialise(self, seed: int) -> None:
        """Draw all weights from keyed random numbers; torch's global generator is not used."""
        draw = keyed_draw(seed, 0)
        for module in self.modules():
            if isinstance(module, GraphConvolution | GradientFlowConvolution | Linear):
                module.initialise(draw)


class _Unpacking:
    """Applies a model's `predict_noise` to vectors of pairs."""

    def __init__(self, model: GenerativeModel) -> None:
        self._model = model

    def predict_noise(
        self, x: Tensor, pairs: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        order = pair_order(x.shape[1], self._model.directed, x.device)
        adj = order.unpack(pairs)
        noise_x, noise_adj = self._model.predict_noise(x, adj, mask, t, positions)
        return noise_x, order.pack(noise_adj)


class ScoreModel(GenerativeModel):
    """GDSS: one network for the features and one for the adjacency, each with both as input.

    The networks do not depend on the time.
    """

    convolution = "gcn"  # one of `CONVOLUTIONS`

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
        inputs, kind = num_features + num_positions, self.convolution
        self.feature_network = FeatureNetwork(inputs, num_features, hidden_size, kind)
        self.adjacency_network = AdjacencyNetwork(inputs, hidden_size, directed, kind)
        self.initialise(seed)

    def parts(self) -> tuple[nn.Module, ...]:
        return self.feature_network, self.adjacency_network

    @property
    def _has_kernels(self) -> bool:
        """Whether there are kernels for it: only for GCN layers in single precision on the CPU."""
        weight = self.feature_network.convolution.weight
        is_float = weight.dtype == torch.float32
        return self.convolution == "gcn" and is_float and weight.device.type == "cpu"

    def predict_noise(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        known = torch.cat([x, positions], dim=-1) if positions.shape[-1] else x
        matrices = [adj, adj @ adj]
        channels = [Channel.of(known, matrix) for matrix in matrices]
        noise_x = self.feature_network(channels[0], mask)
        return noise_x, self.adjacency_network(matrices, channels, mask)

    def predictor(self) -> Predictor:
        if not self._has_kernels:
            return super().predictor()
        return Inference(self.feature_network, self.adjacency_network)

    def fused_gradients(self) -> FusedGradients | None:
        if not self._has_kernels:
            return None
        return FusedGradients(self.feature_network, self.adjacency_network)


class GraffScoreModel(ScoreModel):
    """GDSS with GRAFF convolutions."""

    convolution = "graff"
