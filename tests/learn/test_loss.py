"""Denoising score matching, term by term."""

import numpy as np
import pytest
import torch

from egoscore import AttributedGraph
from egoscore.diffuse import SDES, VP, EgoNoise
from egoscore.ego import EgoGraphs
from egoscore.keyed import Keys, Purpose
from egoscore.learn import ScoreModel
from egoscore.learn.loss import denoising_losses

TIMES = torch.tensor([0.05, 0.3, 0.5, 0.8, 0.95, 1.0], dtype=torch.float64)


def ego_batch(directed, centres):
    random = np.random.default_rng(0)
    edges = random.integers(0, 18, (2, 50))
    graph = AttributedGraph.from_edges(edges, random.normal(size=(20, 3)), directed=directed)
    batch = EgoGraphs(graph, max_nodes=8).batch(np.asarray(centres))
    keys = Keys.for_nodes(4, batch.node)
    return batch, EgoNoise(keys, batch.sizes, 3, directed, torch.device("cpu"))


@torch.no_grad()
def by_hand(model, batch, noise, epoch, t, sde):
    """0.5·‖sigma·s + z‖² of features and adjacency, graph by graph, in float64."""
    width = batch.x.shape[1]
    z_x = noise.features(Purpose.TRAIN_FEATURES, epoch, width).double()
    z_adj = noise.adjacency(Purpose.TRAIN_ADJACENCY, epoch, width).double()
    losses = []
    for row in range(len(t)):
        decay, sigma = float(sde.decay(t[row])), float(sde.std(t[row]))
        x = decay * batch.x[row : row + 1].double() + sigma * z_x[row]
        adj = decay * batch.adj[row : row + 1].double() + sigma * z_adj[row]
        mask = batch.mask[row : row + 1].double()
        noises = model.predict_noise(
            x, adj, mask, t[row : row + 1], batch.positions[row : row + 1].double()
        )
        s_x, s_adj = (-noise / sigma for noise in noises)
        losses.append(
            [
                0.5 * float((sigma * s_x[0] + z_x[row]).norm()) ** 2,
                0.5 * float((sigma * s_adj[0] + z_adj[row]).norm()) ** 2,
            ]
        )
    return np.array(losses)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", SDES)
def test_losses_are_half_the_squared_norms_summed_per_graph(name, directed):
    batch, noise = ego_batch(directed, [0, 5, 9, 12, 17, 19])
    model = ScoreModel(3, 8, directed, seed=2).double()
    expected = by_hand(model, batch, noise, 7, TIMES, SDES[name])
    model.float()
    loss_x, loss_adj = denoising_losses(model, batch, noise, 7, TIMES, SDES[name])
    assert loss_x.shape == loss_adj.shape == (6,)
    np.testing.assert_allclose(loss_x.detach(), expected[:, 0], rtol=1e-4)
    np.testing.assert_allclose(loss_adj.detach(), expected[:, 1], rtol=1e-4)


def test_a_loss_does_not_depend_on_the_batch():
    model = ScoreModel(3, 8, seed=2)
    batch, noise = ego_batch(False, [0, 5, 9, 12, 17, 19])
    together = denoising_losses(model, batch, noise, 1, TIMES, VP())
    for row in range(6):
        one, its_noise = ego_batch(False, batch.node[row : row + 1])
        alone = denoising_losses(model, one, its_noise, 1, TIMES[row : row + 1], VP())
        for found, expected in zip(alone, together, strict=True):
            torch.testing.assert_close(found[0], expected[row], rtol=1e-4, atol=1e-5)


def test_every_epoch_has_its_own_noise():
    model = ScoreModel(3, 8)
    batch, noise = ego_batch(False, [0, 5, 9, 12, 17, 19])
    first, second = (
        torch.stack(denoising_losses(model, batch, noise, epoch, TIMES, VP())) for epoch in (0, 1)
    )
    assert (first != second).sum() >= 11  # an isolated node has no structure to lose


def test_an_isolated_node_has_no_loss_of_structure():
    batch, noise = ego_batch(False, [19])
    _, loss_adj = denoising_losses(ScoreModel(3, 8), batch, noise, 0, TIMES[:1], VP())
    assert batch.sizes.tolist() == [1]
    assert loss_adj.tolist() == [0.0]
