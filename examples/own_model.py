"""Networks of one's own in place of GDSS: an MLP for the nodes, an MLP for the pairs."""

import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn

from egoscore import EgoScore, load_dataset
from egoscore.detectors.neural_networks import Mlp
from egoscore.detectors.paper.generative import GenerativeModel
from egoscore.detectors.paper.settings import MODELS


class PlainModel(GenerativeModel):
    """Sees a node, the sum over its neighbours and the time; of a pair its edge and both ends."""

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
        known = num_features + num_positions
        self.nodes = Mlp(2 * known + 1, hidden_size, num_features)
        self.pairs = Mlp(4, hidden_size, 1)
        self.initialise(seed)

    def parts(self) -> tuple[nn.Module, ...]:
        return self.nodes, self.pairs

    def predict_noise(
        self, x: Tensor, adj: Tensor, mask: Tensor, t: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        count, size, num_features = x.shape
        known = torch.cat([x, positions], dim=-1)
        time = t.to(x).view(-1, 1, 1)
        noise_x = self.nodes(torch.cat([known, adj @ known, time.expand(count, size, 1)], dim=-1))
        alike = x @ x.transpose(1, 2) / num_features
        seen = [adj, adj @ adj, alike, time.expand_as(adj)]
        noise_adj = self.pairs(torch.stack(seen, dim=-1)).squeeze(-1)
        if not self.directed:
            noise_adj = (noise_adj + noise_adj.transpose(1, 2)) / 2.0
        real = mask.unsqueeze(-1)  # padding, and the diagonal, must be exactly zero
        off_diagonal = 1.0 - torch.eye(size, dtype=x.dtype, device=x.device)
        return noise_x * real, noise_adj * off_diagonal * real * mask.unsqueeze(-2)


MODELS["plain"] = PlainModel

if __name__ == "__main__":
    graph = load_dataset("builtin")
    detector = EgoScore("paper", model="plain", epochs=20, steps=20).fit(graph)
    first, last = detector.loss_history_[0], detector.loss_history_[-1]
    print("loss of features and edges, first epoch:", first.round(1).tolist())
    print("and last epoch:", last.round(1).tolist())
    with tempfile.TemporaryDirectory() as folder:
        detector.save(Path(folder) / "model.safetensors")
        # the file names its model, so "plain" must be in MODELS where it is loaded
        again = EgoScore.load(Path(folder) / "model.safetensors")
    assert torch.equal(again.decision_score_, detector.decision_score_)
