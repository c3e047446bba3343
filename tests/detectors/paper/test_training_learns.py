"""What every generative model must do, whatever its networks are."""

import numpy as np
import pytest
import torch

from egoscore import EgoScore, generate_network
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.model import _model_class
from egoscore.detectors.paper.settings import MODELS, PaperSettings
from egoscore.detectors.paper.train import TrainingState, train
from egoscore.graph import FeatureScaling

NUM_FEATURES, NUM_POSITIONS = 3, 2
SIZES = (5, 1, 4)

every_model = pytest.mark.parametrize("name", MODELS)
both_kinds = pytest.mark.parametrize("directed", [False, True])


def model_of(name, directed=False, seed=0):
    """Float64, with all parameters away from zero, so that none can go missing unnoticed."""
    model = _model_class(name)(NUM_FEATURES, 8, directed, seed, NUM_POSITIONS).double()
    randomness = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=randomness).double())
    return model


def batch(directed, width=6, seed=0):
    random = torch.Generator().manual_seed(seed)
    mask = torch.tensor([[1.0] * n + [0.0] * (width - n) for n in SIZES]).double()
    real = mask.unsqueeze(-1)
    x = torch.randn(3, width, NUM_FEATURES, generator=random).double() * real
    adj = torch.randn(3, width, width, generator=random).double()
    adj = adj if directed else adj + adj.mT
    adj = adj * real * mask.unsqueeze(-2) * (1 - torch.eye(width))
    positions = torch.randn(3, width, NUM_POSITIONS, generator=random).double() * real
    return x, adj, mask, torch.tensor([0.1, 0.5, 0.9]), positions


@every_model
@both_kinds
def test_padding_changes_nothing_and_comes_out_as_zero(name, directed):
    model = model_of(name, directed)
    x, adj, mask, t, positions = batch(directed)
    noise_x, noise_adj = model.predict_noise(x, adj, mask, t, positions)
    for row, n in enumerate(SIZES):
        one = slice(row, row + 1)
        alone = model.predict_noise(
            x[one, :n], adj[one, :n, :n], mask[one, :n], t[one], positions[one, :n]
        )
        torch.testing.assert_close(noise_x[row, :n], alone[0][0])
        torch.testing.assert_close(noise_adj[row, :n, :n], alone[1][0])
        assert not noise_x[row, n:].any()
        assert not noise_adj[row, n:].any()
        assert not noise_adj[row, :, n:].any()


@every_model
@both_kinds
def test_the_diagonal_is_zero_and_undirected_noise_symmetric(name, directed):
    _, noise = model_of(name, directed).predict_noise(*batch(directed))
    assert not noise.diagonal(dim1=1, dim2=2).any()
    assert torch.allclose(noise, noise.mT) != directed


@every_model
@both_kinds
def test_renumbering_the_nodes_renumbers_the_noise(name, directed):
    model = model_of(name, directed)
    x, adj, _, t, positions = (value[:1] for value in batch(directed))
    x, adj, positions, mask = x[:, :5], adj[:, :5, :5], positions[:, :5], torch.ones(1, 5).double()
    order = torch.tensor([3, 0, 4, 1, 2])
    noise_x, noise_adj = model.predict_noise(x, adj, mask, t, positions)
    moved_x, moved_adj = model.predict_noise(
        x[:, order], adj[:, order][:, :, order], mask, t, positions[:, order]
    )
    torch.testing.assert_close(moved_x, noise_x[:, order])
    torch.testing.assert_close(moved_adj, noise_adj[:, order][:, :, order])


@every_model
@both_kinds
def test_every_parameter_and_every_position_matters(name, directed):
    model = model_of(name, directed)
    x, adj, mask, t, positions = batch(directed)
    positions.requires_grad_()
    noises = model.predict_noise(x, adj, mask, t, positions)
    sum(part.square().sum() for part in noises).backward()
    assert all(p.grad is not None and p.grad.any() for p in model.parameters())
    assert positions.grad[mask == 1].all()


@every_model
@both_kinds
def test_the_predictor_says_the_same_of_what_is_real(name, directed):
    model = model_of(name, directed).float()
    x, adj, mask, t, positions = (value.float() for value in batch(directed))
    order = torch.tril_indices(6, 6, -1)
    pairs = adj[:, order[0], order[1]]
    if directed:
        pairs = torch.stack([pairs, adj[:, order[1], order[0]]], dim=-1).flatten(1)
    with torch.no_grad():
        expected_x, expected_adj = model.predict_noise(x, adj, mask, t, positions)
        found_x, found = model.predictor().predict_noise(x, pairs, mask, t, positions)
    found = found[:, ::2] if directed else found
    real = mask[:, order[0]] * mask[:, order[1]]
    torch.testing.assert_close(found_x * mask.unsqueeze(-1), expected_x, rtol=1e-4, atol=1e-5)
    wanted = expected_adj[:, order[0], order[1]]
    torch.testing.assert_close(found * real, wanted, rtol=1e-4, atol=1e-5)


def test_only_the_joint_network_is_told_the_time():
    for name in MODELS:
        x, adj, mask, t, positions = batch(False)
        model = model_of(name)
        early, late = (model.predict_noise(x, adj, mask, at, positions)[0] for at in (t, t + 0.1))
        assert torch.equal(early, late) == (name != "congress")


@every_model
def test_training_lowers_the_losses(name):
    graph = generate_network(80, 160, 4, seed=1)
    egos = EgoGraphs(FeatureScaling.fit(graph.features).apply(graph), seed=1)
    state = TrainingState(_model_class(name)(4, 8, False, 1), lr=0.02, weight_decay=0.01)
    assert len(state.optimisers) == len(state.model.parts())
    train(state, egos, PaperSettings(epochs=40, lr=0.02, batch_size=0), seed=1)
    history = np.array(state.history)
    assert (history[-8:].mean(axis=0) < 0.9 * history[:2].mean(axis=0)).all()


@every_model
@pytest.mark.parametrize("positions", ["none", "laplacian", "random_walk"])
def test_the_detector_fits_saves_and_scores_a_network_it_has_not_seen(name, positions, tmp_path):
    quick = {"epochs": 2, "num_levels": 2, "num_samples": 1, "steps": 4, "hidden_size": 4}
    detector = EgoScore("paper", model=name, positions=positions, **quick)
    detector.fit(generate_network(60, 120, 3, seed=2))
    detector.save(tmp_path / "model.safetensors")
    other = generate_network(50, 90, 3, seed=3)
    again = EgoScore.load(tmp_path / "model.safetensors")
    expected = detector.decision_function(other)
    assert torch.equal(again.decision_function(other), expected)
    assert expected.isfinite().all()
    assert len(expected.unique()) > 25


@every_model
def test_processes_give_the_same_scores(name):
    quick = {"epochs": 1, "num_levels": 1, "num_samples": 1, "steps": 3, "hidden_size": 4}
    graph = generate_network(3000, 6000, 3, seed=2)
    one, two = (
        EgoScore("paper", model=name, positions="random_walk", num_workers=n, **quick).fit(graph)
        for n in (1, 2)
    )
    torch.testing.assert_close(one.decision_score_, two.decision_score_, rtol=1e-4, atol=1e-9)
