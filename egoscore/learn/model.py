"""What every generative model of ego-graphs offers, and GDSS."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from typing import Protocol, Self

import torch
from torch import Tensor, nn

from egoscore.learn.inference import Inference
from egoscore.learn.layers import (
    Channel,
    GradientFlowConvolution,
    GraphConvolution,
    Linear,
    keyed_draw,
)
from egoscore.learn.networks import AdjacencyNetwork, FeatureNetwork
from egoscore.learn.pairs import pair_order
from egoscore.learn.written_out import WrittenOut


class Predictor(Protocol):
    """Predicts noise for scoring, where an adjacency is the vector of its pairs."""

    def predict_noise(
        self, x: Tensor, pairs: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The noise in x (B, n, F) and in pairs (B, P); what it says of padding is ignored."""


class GenerativeModel(nn.Module, ABC):
    """Knows what ego-graphs look like: tells the noise in one from the ego-graph.

    T models may be one `stack`, (T,): their parameters are (T, …), and graph g of a batch is
    model g mod T's.
    """

    directed: bool
    stack: tuple[int, ...] = ()

    @property
    def num_models(self) -> int:
        """How many models this is: 1, unless it is a stack."""
        return math.prod(self.stack)

    @abstractmethod
    def parts(self) -> tuple[nn.Module, ...]:
        """Networks that share no weights: each has an optimiser of its own."""

    @abstractmethod
    def predict_noise(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The noise in x (B, N, F) and in adj (B, N, N) at times t (B,), zero where padded.

        `positions` (B, N, P) is known of the nodes and has no noise in it.
        """

    def predictor(self) -> Predictor:
        """The same for scoring, as it is fast."""
        return _Unpacking(self)

    def written_out(self) -> WrittenOut | None:
        """The gradient of its losses, where that is faster than autograd's."""
        return None

    def initialise(self, seed: int) -> None:
        """Weights from keyed random numbers: torch's global generator is never touched."""
        draw = keyed_draw(seed, 0)
        for module in self.modules():
            if isinstance(module, GraphConvolution | GradientFlowConvolution | Linear):
                module.initialise(draw)

    @property
    def can_be_stacked(self) -> bool:
        """Whether it can learn and predict side by side with others."""
        return False

    @classmethod
    def side_by_side(cls, models: Sequence[Self]) -> Self:
        """A stack of models of equal shape, with copies of their parameters."""
        assert all(model.can_be_stacked for model in models)
        stack = deepcopy(models[0])
        stack.stack = (len(models),)
        for name, parameter in stack.named_parameters():
            parameter.data = torch.stack([model.get_parameter(name).detach() for model in models])
        return stack

    def apart(self) -> list[Self]:
        """The models of a stack, each by itself, with copies of their parameters."""
        if not self.stack:
            return [self]
        models = [deepcopy(self) for _ in range(self.num_models)]
        for number, model in enumerate(models):
            model.stack = ()
            for parameter in model.parameters():
                parameter.data = parameter.data[number].clone()
        return models


class _Unpacking:
    """A model's own networks on vectors of pairs."""

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
    """GDSS: one network for the features, one for the adjacency, both seeing both.

    Neither is told the time. `convolution` is one of `CONVOLUTIONS`.
    """

    def __init__(
        self,
        num_features: int,
        hidden_size: int,
        directed: bool = False,
        seed: int = 0,
        num_positions: int = 0,
        convolution: str = "gcn",
    ) -> None:
        super().__init__()
        self.directed = directed
        self._is_plain = convolution == "gcn"
        inputs = num_features + num_positions
        self.feature_network = FeatureNetwork(inputs, num_features, hidden_size, convolution)
        self.adjacency_network = AdjacencyNetwork(inputs, hidden_size, directed, convolution)
        self.initialise(seed)

    def parts(self) -> tuple[nn.Module, ...]:
        return self.feature_network, self.adjacency_network

    @property
    def can_be_stacked(self) -> bool:
        """Only the kernels know stacks."""
        return self._can_be_compiled

    @property
    def _can_be_compiled(self) -> bool:
        """Whether there are kernels for it: they are for the CPU, and for GCN layers."""
        weight = self.feature_network.convolution.weight
        return self._is_plain and weight.device.type == "cpu" and weight.dtype == torch.float32

    def predict_noise(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        known = torch.cat([x, positions], dim=-1) if positions.shape[-1] else x
        matrices = [adj, adj @ adj]
        channels = [Channel.of(known, matrix) for matrix in matrices]
        noise_x = self.feature_network(channels[0], mask)
        return noise_x, self.adjacency_network(matrices, channels, mask)

    def predictor(self) -> Predictor:
        if not self._can_be_compiled:
            return super().predictor()
        return Inference(self.feature_network, self.adjacency_network)

    def written_out(self) -> WrittenOut | None:
        if not self._can_be_compiled:
            return None
        return WrittenOut(self.feature_network, self.adjacency_network)
