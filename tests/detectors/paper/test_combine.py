"""Scores from a component table, against the paper's sums written out."""

import numpy as np
import pytest

from egoscore.detectors.paper.combine import combine
from egoscore.detectors.paper.components import LEVEL_COMPONENTS, ComponentTable
from egoscore.detectors.paper.sde import VP

TAUS = (0.2, 0.4, 0.6, 0.8)


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    values = rng.random((5, 4, len(LEVEL_COMPONENTS))).astype(np.float32)
    sizes = np.arange(2, 7)
    return ComponentTable(np.arange(5), sizes, rng.random(5).astype(np.float32), values, TAUS, 3)


def snr(tau):
    decay = np.exp(-0.9 * tau**2 / 4 - 0.1 * tau / 2)
    return decay**2 / (1 - decay**2)


GAMMAS = {"sqrt_snr": lambda tau: np.sqrt(snr(tau)), "snr": snr, "none": lambda tau: 1.0}


@pytest.mark.parametrize("weighting", GAMMAS)
@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.8, 1.0])
def test_rec_is_the_weighted_sum_over_levels_and_samples(table, weighting, alpha):
    feature, structure = (
        LEVEL_COMPONENTS.index("feature_error"),
        LEVEL_COMPONENTS.index("structure_error"),
    )
    expected = [
        sum(
            3 * GAMMAS[weighting](tau)
            * ((1 - alpha) * float(row[i, structure]) + alpha * float(row[i, feature]))
            for i, tau in enumerate(TAUS)
        )
        for row in table.values
    ]  # fmt: skip
    np.testing.assert_allclose(combine(table, "rec", alpha, weighting, VP()), expected, rtol=1e-6)


@pytest.mark.parametrize("weighting", GAMMAS)
def test_energy_is_the_weighted_sum_of_shifts_and_ignores_alpha(table, weighting):
    shift = table.component("energy_shift").astype(float)
    expected = shift @ np.array([3 * GAMMAS[weighting](tau) for tau in TAUS])
    for alpha in (0.0, 0.7):
        found = combine(table, "energy", alpha, weighting, VP())
        np.testing.assert_allclose(found, expected, rtol=1e-6)
