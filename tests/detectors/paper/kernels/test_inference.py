"""The rearranged networks against the plain ones."""

import pytest
import torch

from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.kernels.inference import Inference
from egoscore.detectors.paper.noise import pair_order

CPU = torch.device("cpu")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("num_features", [1, 7])
@pytest.mark.parametrize("hidden_size", [4, 16])
@pytest.mark.parametrize("num_positions", [0, 3])
def test_predictions_are_those_of_the_plain_networks_for_all_sizes(
    directed, num_features, hidden_size, num_positions
):
    model = ScoreModel(num_features, hidden_size, directed, 5, num_positions)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():  # biases away from zero, where mistakes would hide
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    fast = model.predictor()
    assert isinstance(fast, Inference)
    for size in range(1, 21):
        order = pair_order(size, directed, CPU)
        x = torch.randn(4, size, num_features, generator=generator)
        pairs = torch.randn(4, len(order.lower), generator=generator)
        given = (
            torch.ones(4, size),
            torch.ones(4),
            torch.randn(4, size, num_positions, generator=generator),
        )
        with torch.no_grad():
            plain_x, plain_adj = model.predict_noise(x, order.unpack(pairs), *given)
            fast_x, fast_pairs = fast.predict_noise(x, pairs, *given)
        torch.testing.assert_close(fast_x, plain_x, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(order.unpack(fast_pairs), plain_adj, rtol=1e-4, atol=1e-5)


def test_the_model_and_the_inputs_are_left_alone():
    model = ScoreModel(3, 8, seed=5)
    before = [p.detach().clone() for p in model.parameters()]
    x, pairs = torch.randn(2, 4, 3), torch.randn(2, 6)
    copies = x.clone(), pairs.clone()
    with torch.no_grad():
        model.predictor().predict_noise(
            x, pairs, torch.ones(2, 4), torch.ones(2), torch.empty(2, 4, 0)
        )
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert torch.equal(x, copies[0])
    assert torch.equal(pairs, copies[1])
