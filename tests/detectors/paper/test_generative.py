"""The score model: where its weights come from, and what its gradients are."""

import math
import random

import numpy as np
import pytest
import torch
from scipy import stats

from egoscore.detectors.paper.generative import ScoreModel


def weights(**arguments):
    return ScoreModel(num_features=5, hidden_size=16, **arguments).state_dict()


def bounds(model):
    """For every parameter, what PyG's graph convolution or torch's linear layer draws within."""
    found = {}
    for name, parameter in model.named_parameters():
        layer, kind = name.rsplit(".", 1)
        if "convolution" in name or "attention" in name:
            found[name] = 0.0 if kind == "bias" else math.sqrt(6 / sum(parameter.shape))
        else:
            found[name] = 1 / math.sqrt(model.get_parameter(f"{layer}.weight").shape[1])
    return found


def test_the_same_seed_makes_the_same_weights():
    first, second = weights(seed=3), weights(seed=3)
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("other", [1, 2**32, 2**63])
def test_another_seed_makes_other_weights(other):
    first, second = weights(seed=0), weights(seed=other)
    drawn = [name for name in first if first[name].any()]
    assert all(not np.intersect1d(first[name], second[name]).size for name in drawn)


def test_no_two_parameters_share_their_numbers():
    model = ScoreModel(num_features=5, hidden_size=16)
    units = [model.get_parameter(name).detach() / b for name, b in bounds(model).items() if b > 0]
    units = torch.cat([unit.flatten().double() for unit in units])
    assert len(units) > 2000
    assert len(torch.unique((units * 1e6).round())) > 0.998 * len(units)


def test_weights_are_uniform_between_the_usual_bounds():
    model = ScoreModel(num_features=40, hidden_size=32, seed=1)
    for name, bound in bounds(model).items():
        values = model.get_parameter(name).detach().numpy().ravel()
        assert np.abs(values).max() <= bound * (1 + 1e-6)
        if bound > 0:
            assert stats.kstest(values, stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-3, name


def test_construction_touches_no_global_generator():
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    weights(seed=7)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert random.getstate() == before[2]


def test_every_parameter_is_initialised(monkeypatch):
    # Parameters are made of uninitialised memory: let that hold NaN.
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *shape: empty(*shape).fill_(math.nan))
    assert all(value.isfinite().all() for value in weights().values())
