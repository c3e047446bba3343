"""The compiled ELU against torch's, on numbers of every kind."""

import numpy as np
import pytest
import torch
from torch.nn.functional import elu

from egoscore.detectors.elu import elu_plus_1_, times_slope_

EDGES = [0.0, -0.0, 1e-30, -1e-30, -86.9, -87.1, -104.0, -1e30, 1e30, np.inf, -np.inf]


def rows(dtype):
    spread = torch.linspace(-90, 90, 100_003, dtype=dtype)
    return torch.stack([spread, torch.tensor(EDGES, dtype=dtype).repeat(9093)[:100_003]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_values_are_those_of_torch(dtype):
    value, bias = rows(dtype), torch.tensor([0.5, 0.0], dtype=dtype)
    shifted = value.double() + bias.double().unsqueeze(1)
    expected = torch.where(shifted < 0, shifted.exp(), elu(shifted) + 1)
    found = elu_plus_1_(value.clone(), bias)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, rtol=2e-7, atol=1e-37)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_slope_is_that_of_torch(dtype):
    value = rows(dtype)[:1].requires_grad_()
    (elu(value) * 3).sum().backward()
    activated = elu_plus_1_(value.detach().clone(), torch.zeros(1, dtype=dtype))
    found = times_slope_(torch.full_like(activated, 3.0), activated)
    torch.testing.assert_close(found, value.grad, rtol=1e-6, atol=1e-37)


@pytest.mark.parametrize("count", [1, 5, 8, 33])
def test_what_is_not_a_number_stays_so_and_is_not_spread(count):
    """Training that diverges must show."""
    value = torch.zeros(3, count)
    value[1, count // 2] = torch.nan
    found = elu_plus_1_(value, torch.zeros(3))
    assert int(torch.isnan(found).sum()) == 1
    assert torch.isnan(found[1, count // 2])
    slope = times_slope_(torch.ones(3, count), found)
    assert int(torch.isnan(slope).sum()) == 1
