"""MLPs and Adam against torch's own, and what their use costs."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from egoscore.detectors.neural_networks import Adam, Linear, Mlp


def randomness(seed=0):
    return torch.Generator().manual_seed(seed)


def test_mlp_is_torchs_linear_layers_with_elu_between():
    ours = Mlp(3, 8, 6, 2)
    theirs = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 6), nn.ELU(), nn.Linear(6, 2))
    for layer, number in zip(ours.layers, (0, 2, 4), strict=True):
        layer.load_state_dict(theirs[number].state_dict())
    x = 3 * torch.randn(2, 5, 3, generator=randomness())
    torch.testing.assert_close(ours(x), theirs(x))


def test_linear_layers_ask_for_the_bounds_of_torch():
    asked = []
    Linear(16, 3).initialise(lambda parameter, bound: asked.append(bound))
    assert asked == pytest.approx([0.25, 0.25])


class TestMlp:
    """Forward and backward are our own, so both are checked against torch's."""

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize("widths", [(3, 5), (4, 8, 2), (6, 12, 12, 1)])
    @pytest.mark.parametrize("count", [0, 1, 7, 300])
    def test_values_and_gradients_are_those_of_torch(self, dtype, widths, count):
        ours = Mlp(*widths).to(dtype)
        theirs = []
        for number, layer in enumerate(ours.layers):
            nn.init.normal_(layer.weight, generator=randomness(number))
            nn.init.normal_(layer.bias, std=3.0, generator=randomness(50 + number))
            linear = nn.Linear(*layer.weight.shape[::-1]).to(dtype)
            linear.load_state_dict(layer.state_dict())
            theirs += [linear, nn.ELU()]
        theirs = nn.Sequential(*theirs[:-1])
        x = torch.randn(count, widths[0], dtype=dtype, generator=randomness(3)) * 5
        weight = torch.randn(count, widths[-1], dtype=dtype, generator=randomness(4))
        grads = []
        for network in (ours, theirs):
            given = x.clone().requires_grad_()
            out = network(given)
            (out * weight).sum().backward()
            grads.append([out.detach(), given.grad, *(p.grad for p in network.parameters())])
        tolerance = 1e-5 if dtype == torch.float32 else 1e-12
        for found, expected in zip(*grads, strict=True):
            scale = float(expected.abs().max()) if expected.numel() else 0.0
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * scale)

    def test_extreme_values_stay_finite(self):
        network = Mlp(1, 4, 1)
        for parameter in network.parameters():
            nn.init.ones_(parameter)
        out = network(torch.tensor([[-1e30], [-100.0], [100.0], [1e30]]))
        assert torch.isfinite(out).all()

    def test_the_input_need_not_have_a_gradient(self):
        network = Mlp(2, 4, 1)
        for parameter in network.parameters():
            nn.init.ones_(parameter)
        network(torch.ones(3, 2)).sum().backward()
        assert all(p.grad is not None for p in network.parameters())


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
