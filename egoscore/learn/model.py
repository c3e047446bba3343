"""The generative model: both score networks, made from a seed."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from egoscore.diffuse.sde import Sde, per_graph
from egoscore.keyed import Purpose, uniforms
from egoscore.learn.layers import GraphConvolution, Linear, around
from egoscore.learn.networks import AdjacencyNetwork, FeatureNetwork


class ScoreModel(nn.Module):
    """GDSS: one network for the features, one for the adjacency, both seeing both."""

    def __init__(
        self, num_features: int, hidden_size: int, directed: bool = False, seed: int = 0
    ) -> None:
        super().__init__()
        self.feature_network = FeatureNetwork(num_features, hidden_size)
        self.adjacency_network = AdjacencyNetwork(num_features, hidden_size, directed)
        self._initialise(seed)

    def _initialise(self, seed: int) -> None:
        """Weights from keyed random numbers: torch's global generator is never touched."""
        used = 0

        def draw(parameter: Tensor, bound: float) -> None:
            nonlocal used
            key = np.array([used], dtype=np.int64)
            used += 1
            unit = uniforms(seed, Purpose.INITIALISE, 0, key, parameter.numel())
            values = torch.from_numpy((2.0 * unit - 1.0) * bound)
            with torch.no_grad():
                parameter.copy_(values.view(parameter.shape))

        for module in self.modules():
            if isinstance(module, GraphConvolution | Linear):
                module.initialise(draw)

    def predict_noise(self, x: Tensor, adj: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The noise in x (B, N, F) and in adj (B, N, N)."""
        channels = [adj, adj @ adj]
        near = [around(x, channel) for channel in channels]
        return self.feature_network(x, near[0], mask), self.adjacency_network(channels, near, mask)

    def gradients(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, sde: Sde
    ) -> tuple[Tensor, Tensor]:
        """The gradients of log p at time t (B,), with respect to x and to adj."""
        noise_x, noise_adj = self.predict_noise(x, adj, mask)
        scale = per_graph(-1.0 / sde.std(t), x)
        return noise_x * scale, noise_adj * scale
