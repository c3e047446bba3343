"""The state of training: optimisers, running averages, and being put away and taken up again."""

import numpy as np
import pytest
import safetensors.torch
import torch

from egoscore.device import one_thread
from egoscore.learn import ScoreModel, TrainingState


@pytest.fixture(autouse=True, scope="module")
def in_one_thread():
    """Small tensors gain nothing from threads, and lose much when the machine is busy."""
    with one_thread():
        yield


def new_state(lr=0.05, weight_decay=0.01, seed=0):
    return TrainingState(ScoreModel(3, 8, seed=seed), lr, weight_decay)


def give_gradients(state, seed):
    randomness = torch.Generator().manual_seed(seed)
    for parameter in state.model.parameters():
        parameter.grad.copy_(torch.randn(parameter.shape, generator=randomness))


def stepped(state, seeds, ema_decay=0.999):
    for seed in seeds:
        give_gradients(state, seed)
        state.step(ema_decay)
    return state


def copied(parameters):
    return {name: value.detach().clone() for name, value in parameters}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        assert torch.equal(first[name], second[name]), name


def test_a_step_is_that_of_adam_with_weight_decay():
    state = stepped(new_state(lr=0.03, weight_decay=0.1), range(4))
    expected = ScoreModel(3, 8)
    adam = torch.optim.Adam(expected.parameters(), lr=0.03, weight_decay=0.1)
    for seed in range(4):
        randomness = torch.Generator().manual_seed(seed)
        for parameter in expected.parameters():
            parameter.grad = torch.randn(parameter.shape, generator=randomness)
        adam.step()
    for found, wanted in zip(state.model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)


def test_the_running_average_follows_the_weights_faster_at_the_beginning():
    state = new_state()
    expected = copied(state.model.named_parameters())
    for update in range(1, 6):
        stepped(state, [update], ema_decay=0.3)
        decay = min(0.3, (1 + update) / (10 + update))
        for name, value in state.model.named_parameters():
            expected[name] = decay * expected[name] + (1 - decay) * value.detach()
    assert (1 + 1) / (10 + 1) < 0.3 < (1 + 5) / (10 + 5)  # both kinds of decay took part
    for name, value in state.average.items():
        torch.testing.assert_close(value, expected[name])


def test_the_running_average_starts_at_the_weights_and_does_not_share_them():
    state = new_state()
    start = copied(state.model.named_parameters())
    assert_same(state.average, start)
    stepped(state, [0])
    for name, value in state.model.named_parameters():
        assert not torch.equal(value, start[name])
        assert not torch.equal(state.average[name], start[name])
        assert not torch.equal(state.average[name], value)


def test_each_network_has_its_own_optimiser():
    state = new_state()
    found = [{id(p) for p in optimiser.parameters} for optimiser in state.optimisers]
    networks = (state.model.feature_network, state.model.adjacency_network)
    assert found == [{id(p) for p in network.parameters()} for network in networks]


def test_gradients_are_forgotten():
    state = new_state()
    give_gradients(state, 0)
    state.zero_gradients()
    assert all(p.grad is None or not p.grad.any() for p in state.model.parameters())


@pytest.mark.parametrize("through_bytes", [False, True])
def test_what_was_put_away_goes_on_as_if_nothing_had_happened(through_bytes):
    unbroken = stepped(new_state(), range(8))
    first_half = stepped(new_state(), range(4))
    tensors = first_half.tensors()
    if through_bytes:
        tensors = safetensors.torch.load(safetensors.torch.save(tensors))
    second_half = new_state(seed=99)
    second_half.restore(tensors, epoch=4, history=[(1.0, 2.0)])
    assert (second_half.epoch, second_half.num_updates) == (4, 4)
    assert second_half.history == [(1.0, 2.0)]
    stepped(second_half, range(4, 8))
    assert_same(second_half.tensors(), unbroken.tensors())


def test_what_is_put_away_survives_bytes_unchanged():
    tensors = stepped(new_state(), range(3)).tensors()
    assert_same(safetensors.torch.load(safetensors.torch.save(tensors)), tensors)


def test_everything_that_changes_is_put_away():
    state = stepped(new_state(), range(2))
    tensors = state.tensors()
    num_parameters = len(list(state.model.parameters()))
    count = {
        part: sum(name.startswith(part) for name in tensors) for part in ("model.", "average.")
    }
    assert count == {"model.": num_parameters, "average.": num_parameters}
    for optimiser, network in enumerate(
        (state.model.feature_network, state.model.adjacency_network)
    ):
        size = sum(p.numel() for p in network.parameters())
        for moment in ("first", "second"):
            assert tensors[f"optimiser{optimiser}.{moment}"].shape == (size,)
    assert int(tensors["num_updates"]) == 2


def test_a_state_before_its_first_step_can_be_put_away():
    restored = new_state(seed=5)
    restored.restore(new_state().tensors(), epoch=0, history=[])
    stepped(restored, range(3))
    assert_same(restored.tensors(), stepped(new_state(), range(3)).tensors())


def test_history_is_taken_over_by_value():
    state, history = new_state(), [(3.0, 4.0)]
    state.restore(new_state().tensors(), epoch=1, history=history)
    state.history.append((1.0, 1.0))
    assert history == [(3.0, 4.0)]
    assert np.shape(state.history) == (2, 2)
