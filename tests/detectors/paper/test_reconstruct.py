"""The way there and back; that it is right is shown in tests/test_plain.py."""

import numpy as np
import pytest
import torch

from egoscore import generate_network
from egoscore.detectors.paper.ego import EgoGraphs
from egoscore.detectors.paper.generative import ScoreModel
from egoscore.detectors.paper.reconstruct import Reconstruction
from egoscore.detectors.paper.settings import PaperSettings
from egoscore.random import Purpose

SEED = 11
CONFIG = PaperSettings(num_levels=3, num_samples=2, steps=20, solver="em")


@pytest.fixture
def reconstruction():
    egos = EgoGraphs(generate_network(30, 60, 6), max_nodes=7, seed=SEED)
    return Reconstruction(egos, ScoreModel(6, 8, seed=SEED), CONFIG, SEED)


def equal_sized(reconstruction, size=4):
    egos = reconstruction.egos
    return egos.batch(np.flatnonzero(egos.sizes == size)[:2])


def test_levels_and_samples_have_noise_of_their_own(reconstruction):
    """In a known implementation the first sample's noise was the same at all levels."""
    batch = equal_sized(reconstruction)
    noise = reconstruction._noise(batch, range(2))
    drawn = noise.features(Purpose.FORWARD_FEATURES, 0, 4).flatten(1)
    assert len({tuple(row.tolist()) for row in drawn}) == len(drawn) == 3 * 2 * 2


def test_shapes_and_order_of_what_comes_back(reconstruction):
    batch = equal_sized(reconstruction)
    with torch.inference_mode():
        x, adj = reconstruction.restore(batch, range(2))
    assert x.shape == (3, 2, 2, 4, 6)
    assert adj.shape == (3, 2, 2, 4, 4)
    distance = (x - batch.x).square().mean(dim=(1, 2, 3, 4))
    assert (distance.diff() > 0).all()  # the lowest level comes first and back the closest


def test_a_sample_is_the_same_whichever_others_are_asked_for(reconstruction):
    batch = equal_sized(reconstruction)
    with torch.inference_mode():
        both = reconstruction.restore(batch, range(2))
        second = reconstruction.restore(batch, [1])
    for whole, part in zip(both, second, strict=True):
        torch.testing.assert_close(whole[:, 1:], part, rtol=1e-4, atol=1e-5)
