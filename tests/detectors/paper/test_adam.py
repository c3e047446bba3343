"""Adam against torch's own, and what its use costs."""

import subprocess
import sys

import pytest
import torch

from egoscore.detectors.paper.adam import Adam


@pytest.mark.parametrize("weight_decay", [0.0, 0.01, 0.5])
def test_steps_are_those_of_torch(weight_decay):
    generator = torch.Generator().manual_seed(1)
    start = [torch.randn(shape, generator=generator) for shape in ((3, 4), (5,), (1,))]
    ours = [torch.nn.Parameter(value.clone()) for value in start]
    theirs = [torch.nn.Parameter(value.clone()) for value in start]
    adam = Adam(ours, 0.05, weight_decay)
    oracle = torch.optim.Adam(theirs, lr=0.05, weight_decay=weight_decay)
    for _ in range(50):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad.copy_(torch.randn(mine.shape, generator=generator))
            other.grad = mine.grad.clone()
        adam.step()
        oracle.step()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


def test_parameters_and_gradients_are_views_of_one_vector_each():
    start = [torch.randn(2, 3), torch.randn(4)]
    parameters = [torch.nn.Parameter(value.clone()) for value in start]
    adam = Adam(parameters, 0.1, 0.0)
    assert all(torch.equal(p, value) for p, value in zip(parameters, start, strict=True))
    (parameters[0].sum() + 2 * parameters[1].sum()).backward()
    assert adam.gradient.tolist() == [1.0] * 6 + [2.0] * 4
    adam.value.zero_()
    assert not any(p.any() for p in parameters)


@pytest.mark.parametrize("largest", [0.1, 1.0, 100.0])
def test_clipping_is_that_of_torch(largest):
    ours, theirs = ([torch.nn.Parameter(torch.ones(n)) for n in (3, 4)] for _ in range(2))
    adam = Adam(ours, 0.1, 0.0)
    for mine, other in zip(ours, theirs, strict=True):
        (3 * mine.sum()).backward()
        (3 * other.sum()).backward()
    expected = float(torch.nn.utils.clip_grad_norm_(theirs, largest))
    assert adam.clip(largest) == pytest.approx(expected)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def test_put_away_and_taken_up_it_goes_on_as_before():
    def parameters():
        return [torch.nn.Parameter(torch.tensor([1.0, -2.0]))]

    def move(adam, times):
        for k in range(times):
            adam.gradient.copy_(adam.value * (k + 1))
            adam.step()

    whole = Adam(parameters(), 0.1, 0.01)
    move(whole, 3)
    kept = {name: value.clone() for name, value in whole.tensors().items()}
    other = Adam([torch.nn.Parameter(whole.parameters[0].detach().clone())], 0.1, 0.01)
    other.restore(kept)
    move(whole, 4)
    move(other, 4)
    assert torch.equal(whole.parameters[0], other.parameters[0])


def test_training_does_not_import_torchs_compiler():
    code = (
        "import sys\n"
        "from egoscore import EgoScore, generate_network\n"
        "quick = dict(epochs=1, num_levels=1, num_samples=1, steps=2, hidden_size=4)\n"
        "EgoScore('paper', **quick).fit(generate_network(20, 30, 2))\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
